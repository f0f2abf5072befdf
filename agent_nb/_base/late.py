"""Deferred registrations, which would be too slow to import at `%load_ext`."""

from collections.abc import Callable

REGISTRATIONS: list[Callable[[], None]] = []
"""Filled by `%load_ext agent_nb`; each function imports and registers something."""


def register_all() -> None:
    for register in REGISTRATIONS:
        register()
