"""What a run emits. One frozen class per event; `Event` is their union.

Events are facts, in order (`seq`, gapless from 1). They carry what a view needs to draw them, never how.
Four layers: exchange (a run begins and ends), state (where it stands), stream (pieces as they arrive) and
message (things that are complete). A run is busy from `RunStarted` to `RunFinished`, and only then.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_nb._base.fast_init import quick
from agent_nb._base.wire import Json, from_wire
from agent_nb.errors import ToolErrorCode
from agent_nb.messages import Message, Tagged, Usage

Reason = Literal[
    "end_turn",
    "max_tokens",
    "max_steps",
    "max_seconds",
    "budget",
    "refusal",
    "stopped",
    "interrupted",
    "failed",
]
Stop = Literal["end_turn", "tool_use", "max_tokens", "refusal", "go_on"]
FileAction = Literal["created", "edited", "deleted"]
MimeBundle = Mapping[str, Any]
LinePatch = tuple[int, int, str]
"""Replace `count` lines from line `start` (0-based) by the lines of `text` (joined by newlines)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseEvent(Tagged):
    run_id: str
    seq: int
    at: float
    """Seconds since the run started, on the run's own clock."""
    variant: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Thumbnail:
    """A picture of the question, small enough to show: a JPEG of at most 160 pixels."""

    name: str
    width: int
    """Of the picture itself, as the model gets it."""
    height: int
    data: bytes
    """Empty for a picture beyond those that are drawn."""


# exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(BaseEvent):
    prompt: str
    model: str
    base: str | None = None
    """The run this one goes on from."""
    settings: Json = field(default_factory=dict)
    """`steps`, `seconds`, `usd` (the limits), `tools` (names), `effort`, `approve`, `stack` where one was named."""
    images: tuple[Thumbnail, ...] = ()
    """The pictures given with the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(BaseEvent):
    reason: Reason
    usage: Usage
    cost: float | None
    """US dollars; None when the model's price is not known."""
    seconds: float
    error: str | None = None
    """One sentence: what went wrong and what to do, or the vendor's words for a refusal."""


# state


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(BaseEvent):
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRetrying(BaseEvent):
    """The turn's pieces so far are withdrawn: forget the text, thinking and calls since `TurnStarted`."""

    attempt: int
    wait: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFinished(BaseEvent):
    stop: Stop
    usage: Usage
    model: str
    """As the vendor names it in its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRunning(BaseEvent):
    call_id: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress(BaseEvent):
    call_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished(BaseEvent):
    call_id: str
    ok: bool
    summary: str
    """One line, already shortened: views show it as it is."""
    outputs: tuple[MimeBundle, ...] = ()
    seconds: float = 0.0
    code: ToolErrorCode | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested(BaseEvent):
    call_id: str
    name: str
    title: str
    args: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalResolved(BaseEvent):
    call_id: str
    approved: bool
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageUpdated(BaseEvent):
    usage: Usage
    cost: float | None
    estimated: bool = False
    """True while it is reckoned from characters, before the vendor has counted."""


# stream


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta(BaseEvent):
    text: str


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta(BaseEvent):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(BaseEvent):
    """The model has named a tool; its arguments are still being written."""

    call_id: str
    name: str
    title: str


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolArgsDelta(BaseEvent):
    call_id: str
    text: str


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class FileDelta(BaseEvent):
    """A piece of a file being written. The file so far is `old[:offset] + text`; offset 0 starts over."""

    call_id: str
    path: str
    offset: int
    """In characters (code points)."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReady(BaseEvent):
    """The arguments are complete and valid."""

    call_id: str
    title: str
    args: Json


# message


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAdded(BaseEvent):
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanged(BaseEvent):
    path: str
    version: int
    """1 for the first; the newest after this event."""
    action: FileAction
    size: int
    """In bytes."""
    media_type: str
    call_id: str | None = None
    """The tool call that did it; None for files the run began with or a page found in the answer."""
    first_line: int = 0
    """The first changed line, from 1; 0 when there is none."""
    added: int = 0
    removed: int = 0
    patch: tuple[LinePatch, ...] | None = None
    """From the version before (an empty file for the first), applied last to first; None for binary files."""


Event = (
    RunStarted
    | RunFinished
    | TurnStarted
    | TurnRetrying
    | TurnFinished
    | ToolRunning
    | ToolProgress
    | ToolFinished
    | ApprovalRequested
    | ApprovalResolved
    | UsageUpdated
    | TextDelta
    | ThinkingDelta
    | ToolStarted
    | ToolArgsDelta
    | FileDelta
    | ToolReady
    | MessageAdded
    | FileChanged
)

Delta = TextDelta | ThinkingDelta | ToolArgsDelta | FileDelta
"""A piece of something the model is writing: its `text` continues that of the piece before."""

CallEvent = (
    ToolStarted
    | ToolReady
    | ToolRunning
    | ToolProgress
    | ToolFinished
    | ApprovalRequested
    | ApprovalResolved
    | FileChanged
)
"""What happens to one tool call, apart from the deltas. A file may also change without a call."""

LAYERS: dict[str, tuple[type[BaseEvent], ...]] = {
    "exchange": (RunStarted, RunFinished),
    "state": (
        TurnStarted,
        TurnRetrying,
        TurnFinished,
        ToolRunning,
        ToolProgress,
        ToolFinished,
        ApprovalRequested,
        ApprovalResolved,
        UsageUpdated,
    ),
    "stream": (TextDelta, ThinkingDelta, ToolStarted, ToolArgsDelta, FileDelta, ToolReady),
    "message": (MessageAdded, FileChanged),
}


def event_from_wire(data: Json) -> Event:
    """The event that `to_wire` described."""
    event: Event = from_wire(Event, data)
    if not isinstance(event, BaseEvent):
        raise ValueError(f"{data.get('type')!r} is not an event")
    return event
