"""What a cassette holds, as values: takes of turns, turns of attempts, attempts of pieces, all with their gaps.

A gap is in milliseconds since the moment before it, so that lines can be read and moved by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_nb.events import Reason
from agent_nb.providers.base import Piece
from agent_nb.wire import Json

FORMAT = "agent_nb.cassette"
VERSION = 1
RECORDED: tuple[Reason, ...] = ("end_turn", "max_tokens", "max_steps", "refusal")
"""How a run must end to be worth playing again; one that was cut short is not recorded."""

Gap = float
Moment = Literal["ready", "running", "asking", "answered", "progress", "changed", "finished"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Why an attempt was given up, and how long the run waited."""

    why: str
    wait: float
    after: Gap = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One stream of the model: its pieces, the last a `Turn` unless it was given up."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """One variant of a run."""

    variant: int
    model: str
    settings: Json
    turns: tuple[TapedTurn, ...]
    reason: Reason
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    yours: Json
    """The person's half of the fingerprint: it must match."""
    ours: Json
    """This package's half: only noted when it differs."""
    takes: tuple[Take, ...]
