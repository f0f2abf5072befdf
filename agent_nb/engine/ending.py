"""How a run is ended early or sent back from inside a turn, and what its open tool calls say then."""

from agent_nb.events import Reason, WhyCompacted

NOT_RUN = "Not run: the run ended first."
"""Summary for a tool call still open when the run ended."""


class EndRun(Exception):  # noqa: N818 - ends the run, but is not an error
    """Ends the run from anywhere inside it."""

    def __init__(self, reason: Reason, error: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.error = reason, error


class MustCompact(Exception):  # noqa: N818 - asks for something, but is not an error
    """Has the conversation compacted before the turn is sent. A replay raises it where the recording was."""

    def __init__(self, why: WhyCompacted, limit: int | None) -> None:
        super().__init__(why)
        self.why, self.limit = why, limit
