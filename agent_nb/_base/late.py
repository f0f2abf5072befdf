"""Functions of modules that would be too slow to import at `%load_ext`."""

import importlib
from collections.abc import Callable
from typing import Any

REGISTRATIONS: list[Callable[[], None]] = []
"""Filled by `%load_ext agent_nb`; each function imports and registers something."""


def register_all() -> None:
    for register in REGISTRATIONS:
        register()


def late(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports its module when it is called."""

    def call(*args: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*args)

    return call
