"""Functions of modules that would be too slow to import at `%load_ext`."""

import importlib
from collections.abc import Callable
from typing import Any


def late(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports its module when it is called."""

    def call(*args: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*args)

    return call
