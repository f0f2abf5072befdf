"""What features get of a live run without a model: `Host.open_view` opens one, and clients call its tools."""

from collections.abc import Callable
from typing import Any, Protocol

from agent_nb._base.wire import Json
from agent_nb.core.events import Event
from agent_nb.core.messages import ToolResult, ToolSpec
from agent_nb.files import Files


class ToolClient(Protocol):
    """What one client does, shown as a variant. It may also be stopped by the user, at any time."""

    variant: int

    @property
    def files(self) -> Files:
        """The run's files."""

    @property
    def done(self) -> bool: ...

    async def call(self, name: str, args: Json) -> ToolResult:
        """Run a tool: the user is asked where the run's rules say so. Cancelling this cancels the call.

        What went wrong is in the result. Once the run has ended, every result says so.
        """

    async def note(self, title: str, detail: str = "") -> None:
        """Add a line to the transcript."""

    def renew(self) -> None:
        """End the branch in which its code works, if any. The next call works in a new copy of the session."""

    def leave(self) -> None:
        """End the run of a client that is gone."""


class ToolClients(Protocol):
    """The runs of all clients: a background run, whose variable is set when it has ended."""

    id: str
    name: str

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that clients may call."""

    @property
    def done(self) -> bool: ...

    def join(self, title: str) -> ToolClient:
        """A run for a new client. Its title comes from the client, so a short line is made of it."""

    def subscribe(self, subscriber: Callable[[Event], None]) -> None:
        """Call `subscriber` with every event of all clients, past ones first."""

    def end(self) -> None:
        """End the runs of all clients, as an ordinary end."""

    def __await__(self) -> Any:
        """Wait for the end; returns the `Run`."""
