"""What an extension registers with packages below it once it is needed: importing it at `%load_ext` takes long."""

from collections.abc import Callable

REGISTRATIONS: list[Callable[[], None]] = []
"""Set by `%load_ext agent_nb`; each imports and registers something."""


def register_all() -> None:
    for register in REGISTRATIONS:
        register()
