"""The definition of an `%agent` command. A separate module, because tab completion imports it and must be fast."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from agent_nb._base.late import late


class Printed(NamedTuple):
    """What a command of the terminal prints."""

    text: str
    status: int = 0
    """The exit status."""


@dataclass(frozen=True, slots=True)
class Command:
    """One `%agent COMMAND`. Help, completion and the reference are generated from it."""

    usage: str
    """The command and its arguments, such as `load NAME`."""
    help: str
    run: Callable[[Any, str], Any] | str
    """Called with the notebook and the arguments; raises `ConfigError` if they are invalid. The result is displayed.
    A feature names its functions as `module:function`, and they get the `Host`; "" if it is for the terminal alone."""
    completes: Callable[[Any, Sequence[str]], Iterable[tuple[str, str]]] | str | None = None
    """Returns the possible next words with short help, given the notebook and the previous words."""
    terminal: str = ""
    """For `agent-nb COMMAND` of a feature: called with the `Host` and the words that follow. The result is printed."""
    after: str = ""
    """The command of `%agent` that it follows in the help; empty for the last place."""
    explains: tuple[str, ...] = ()
    """Names of exceptions of this package about which it says more; their messages in cells name the command."""
    waits: bool = False
    """Whether the cell awaits it: its function is a coroutine, or returns the cell to run."""

    @property
    def name(self) -> str:
        return self.usage.partition(" ")[0]

    @property
    def takes_arguments(self) -> bool:
        return self.usage != self.name

    def call(self, host: Any, arguments: Any) -> Any:
        return _function(self.run)(host, arguments)

    def candidates(self, host: Any, before: Sequence[str]) -> Iterable[tuple[str, str]]:
        return _function(self.completes)(host, before) if self.completes else ()

    def call_in_terminal(self, host: Any, words: Sequence[str]) -> Any:
        return _function(self.terminal)(host, words)


def _function(place: Callable[..., Any] | str) -> Callable[..., Any]:
    return late(*place.split(":")) if isinstance(place, str) else place
