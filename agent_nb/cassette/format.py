"""What a cassette holds, as values: takes of turns, turns of attempts, attempts of pieces, all with their gaps.

A gap is in milliseconds since the moment before it, so that lines can be read and moved by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_nb._base.wire import Json
from agent_nb.events import Reason
from agent_nb.messages import ToolCall
from agent_nb.providers.base import Piece, Turn

FORMAT = "agent_nb.cassette"
VERSION = 1
OWN_ENDS: tuple[Reason, ...] = ("end_turn", "max_tokens", "max_steps", "refusal")
"""A run ends so by what the model said. Any other end comes from outside, and the tape says where."""

Gap = float
LONGEST_GAP = 1e9
"""Milliseconds, eleven days: what is longer was not recorded."""
Stage = Literal["turn", "wait", "tools"]
"""What a run is busy with: the model speaks, a failed attempt is waited out, tools run."""
Moment = Literal["ready", "running", "asking", "answered", "progress", "changed", "finished"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Why an attempt was given up, and how long the run waited."""

    why: str
    wait: float
    after: Gap = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One stream of the model: its pieces, the last a `Turn` unless it was given up or cut."""

    pieces: tuple[tuple[Gap, Piece], ...]
    retry: Retry | None = None
    cost: float | None = None
    """Dollars as they were when it was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A moment in the life of a tool call."""

    what: Moment
    call: str
    """The id the call has in events."""
    after: Gap = 0
    data: Mapping[str, Any] = field(default_factory=dict)
    """What cannot be had by running the tool again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TapedTurn:
    attempts: tuple[Attempt, ...]
    marks: tuple[Mark, ...] = ()

    @property
    def end(self) -> Turn | None:
        """What the model had said in the end; None if the run was cut before."""
        pieces = self.attempts[-1].pieces if self.attempts else ()
        last = pieces[-1][1] if pieces else None
        return last if isinstance(last, Turn) else None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return self.end.message.tool_calls if self.end else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Where a run was ended from outside: by a limit, a person, a failure."""

    during: Stage
    after: Gap = 0
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """One variant of a run."""

    variant: int
    model: str
    settings: Json
    turns: tuple[TapedTurn, ...]
    reason: Reason
    seconds: float
    cut: Cut | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    yours: Json
    """The person's half of the fingerprint: it must match."""
    ours: Json
    """This package's half: only noted when it differs."""
    takes: tuple[Take, ...]
