"""Functions of modules that would be too slow to import at `%load_ext`."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

SECRET_SOURCES: list[Callable[[], Mapping[str, str]]] = []
"""Functions that return the secret values of the user's variables, and where they are. `%load_ext agent_nb` adds the
notebook's."""
PAGE_LOADERS: list[Callable[[], Any]] = []
"""One function that imports and returns the module of bound pages, set by `%load_ext agent_nb`; empty before that."""


def late(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports its module when it is called."""

    def call(*args: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*args)

    return call
