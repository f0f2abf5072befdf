"""The contents of a cassette as values: variants have turns, turns have attempts, attempts have pieces.

A gap is the milliseconds since the previous moment, so that lines can be read and moved by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_nb._base.wire import Json
from agent_nb.events import Reason, WhyCompacted
from agent_nb.messages import ToolCall
from agent_nb.providers.base import Piece, Turn

FORMAT = "agent_nb.cassette"
VERSION = 1
Gap = float
LONGEST_GAP = 1e9
"""Milliseconds, eleven days: a longer gap was not recorded."""
Stage = Literal["turn", "wait", "tools"]
"""What a run is doing: streaming a turn, waiting before a retry, running tools."""
MomentKind = Literal["ready", "running", "asking", "answered", "progress", "changed", "finished"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Why an attempt failed, and how long the run waited."""

    why: str
    wait: float
    after: Gap = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """The conversation was compacted before the turn was sent, or sent again."""

    why: WhyCompacted
    limit: int | None
    after: Gap = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One stream of the model: its pieces, ending in a `Turn` unless it failed or was cut."""

    pieces: tuple[tuple[Gap, Piece], ...] = ()
    retry: Retry | None = None
    compaction: Compaction | None = None
    """Set instead of pieces: the turn was not sent yet."""
    cost: float | None = None
    """Dollars at the time of the recording."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMoment:
    """A moment in the life of a tool call."""

    what: MomentKind
    call: str
    """The id the call has in events."""
    after: Gap = 0
    data: Mapping[str, Any] = field(default_factory=dict)
    """What running the tool again would not give."""
    tool: str = field(default="", compare=False)
    """The name of the tool, if it was read from a file."""
    line: int = field(default=0, compare=False)
    """Its line in the file."""

    @property
    def is_repeated(self) -> bool:
        """Whether the tool is run again at this moment, because its result is not in the file."""
        missing = {"finished": "text", "changed": "path"}.get(self.what)
        return missing is not None and missing not in self.data


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    attempts: tuple[Attempt, ...]
    moments: tuple[ToolMoment, ...] = ()

    @property
    def end(self) -> Turn | None:
        """The finished turn of the last attempt; None if the run was cut before."""
        pieces = self.attempts[-1].pieces if self.attempts else ()
        last = pieces[-1][1] if pieces else None
        return last if isinstance(last, Turn) else None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return self.end.message.tool_calls if self.end else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Where a run was ended from outside: by a limit, the user or a failure."""

    during: Stage
    after: Gap = 0
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVariant:
    """One variant of a run."""

    variant: int
    model: str
    settings: Json
    turns: tuple[RecordedTurn, ...]
    reason: Reason
    seconds: float
    ended: str = ""
    """The date of its end; empty in older cassettes."""
    cut: Cut | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    request: Json
    """The fingerprint of what the user asked for: it must match. `yours` in the file."""
    release: Json
    """The fingerprint of this package: only noted when it differs. `ours` in the file."""
    variants: tuple[RecordedVariant, ...]
