"""A command of `%agent`. A module of its own, because Tab reads the table of commands and has to be quick."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Command:
    """`%agent COMMAND`. Help, completion and the reference follow from this."""

    usage: str
    """The command and its arguments, such as `load NAME`. Without arguments it takes none."""
    help: str
    run: Callable[[Any, str], Any]
    """Called with the notebook and the arguments, which it refuses with `ConfigError`. Its result is displayed."""
    completes: Callable[[Any, Sequence[str]], Iterable[tuple[str, str]]] | None = None
    """The words that can follow, given the notebook and the words before, each with a few words of help."""

    @property
    def name(self) -> str:
        return self.usage.partition(" ")[0]

    @property
    def takes_arguments(self) -> bool:
        return self.usage != self.name
