"""The definition of an `%agent` command. A separate module, because tab completion imports it and must be fast."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Command:
    """One `%agent COMMAND`. Help, completion and the reference are generated from it."""

    usage: str
    """The command and its arguments, such as `load NAME`."""
    help: str
    run: Callable[[Any, str], Any]
    """Called with the notebook and the arguments; raises `ConfigError` if they are invalid. The result is displayed."""
    completes: Callable[[Any, Sequence[str]], Iterable[tuple[str, str]]] | None = None
    """Returns the possible next words with short help, given the notebook and the previous words."""

    @property
    def name(self) -> str:
        return self.usage.partition(" ")[0]

    @property
    def takes_arguments(self) -> bool:
        return self.usage != self.name
