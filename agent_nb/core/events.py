"""The events of a run: one frozen class per event, and `Event`, their union.

Events are numbered without gaps (`seq`, from 1) and contain the data for a view, not its presentation. There are
four layers: exchange (a run starts and finishes), state (what it is doing), stream (content as it arrives) and
message (content that is complete). A run is busy from `RunStarted` to `RunFinished`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from agent_nb._base.wire import Json
from agent_nb.core.errors import ToolErrorCode
from agent_nb.core.messages import Message, Tagged, Usage

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
Tone = Literal["ok", "warn", "err", "off"]
Stop = Literal["end_turn", "tool_use", "max_tokens", "refusal", "go_on"]
FileAction = Literal["created", "edited", "deleted"]
WhyCompacted = Literal["asked", "full", "refused"]
"""The user asked for it, the request would exceed the context window, or the vendor rejected it as too long."""
PlanStatus = Literal["pending", "in_progress", "completed"]
Decider = Literal["person", "always", "run", "function", "policy", "nobody", "stopped"]
"""Who decided about a tool call: the user, their earlier "always" or "for this run", the caller's function, a fixed
policy, or nobody: there was no one to ask, or the run was stopped first."""
MimeBundle = Mapping[str, Any]
LinePatch = tuple[int, int, str]
"""`(start, count, text)`: replace `count` lines, starting at line `start` (from 0), with the lines of `text`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    words: str
    tone: Tone = "off"
    is_cut: bool = False
    """Whether the run may have ended in the middle of a turn."""
    is_by_user: bool = False

    @property
    def has_failed(self) -> bool:
        """Whether there is no answer."""
        return self.tone in ("warn", "err")


ENDINGS: dict[Reason, Ending] = {
    "end_turn": Ending(words="done", tone="ok"),
    "max_tokens": Ending(words="cut off at the token limit"),
    "max_steps": Ending(words="stopped at the step limit"),
    "max_seconds": Ending(words="stopped at the time limit", is_cut=True),
    "budget": Ending(words="stopped at the budget"),
    "refusal": Ending(words="refused", tone="warn"),
    "stopped": Ending(words="stopped", is_cut=True, is_by_user=True),
    "interrupted": Ending(words="stopped", is_cut=True, is_by_user=True),
    "failed": Ending(words="failed", tone="err", is_cut=True),
}
"""All reasons, the single source for everything that depends on them; `make events` writes it for the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseEvent(Tagged):
    run_id: str
    seq: int
    at: float
    """Seconds since the run started, on the run's clock."""
    variant: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Thumbnail:
    """A small copy of an image from the prompt: a JPEG of at most 160 pixels a side. A PDF has only name and size."""

    name: str
    width: int
    """The size of the image that the model receives, not of this copy."""
    height: int
    data: bytes
    """Empty if the prompt has more images than are shown, and for a PDF."""
    size: int = 0
    """Bytes of a PDF, which has no width and height."""


# exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(BaseEvent):
    prompt: str
    model: str
    base: str | None = None
    """The id of the run that this one continues."""
    settings: Json = field(default_factory=dict)
    """The limits (`steps`, `seconds`, `usd`), the names of the `tools`, `effort`, `approve`; if set, `sampling`
    (`max_tokens` and other request fields, such as `temperature`), `stack` and `lean`; if known, `server`, the details
    that the user's own server reports about its model, and `window`, the maximum tokens of a request and its answer."""
    images: tuple[Thumbnail, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(BaseEvent):
    reason: Reason
    usage: Usage
    cost: float | None
    """In US dollars; None if the model's price is unknown."""
    seconds: float
    error: str | None = None
    """One sentence with the problem and the remedy, or the vendor's explanation of a refusal."""
    other_models: tuple[str, ...] = ()
    """Alternatives if the vendor does not have this model."""
    answer: Any = None
    """The answer of a run whose answer has a type (`settings["answer"]`), as JSON; None if there is none."""
    values: Json = field(default_factory=dict)
    """The values of features, by their names."""


# state


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(BaseEvent):
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRetrying(BaseEvent):
    """An attempt failed and will be repeated: discard the text, thinking and calls since `TurnStarted`."""

    attempt: int
    wait: float
    why: str
    most: int = 0
    """Maximum retries of the turn; 0 if only time limits them."""

    @property
    def title(self) -> str:
        return f"Retry {self.attempt} of {self.most}" if self.most else "Retry"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFinished(BaseEvent):
    stop: Stop
    usage: Usage
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(BaseEvent):
    """A line of the transcript. Every form of a run shows it without code of its own for it."""

    title: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationCompacted(Note):
    """The conversation was shortened before this turn; the short form is sent from now on."""

    title: str = "Compacted"
    why: WhyCompacted
    before: int
    """Estimated tokens."""
    after: int
    limit: int | None
    """Maximum tokens; None if unknown."""
    rewritten: int
    """Messages from which file contents or thinking were removed."""
    summarized: int
    """Messages replaced by one summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEntry:
    text: str
    status: PlanStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanUpdated(Note):
    """The whole plan of an outside agent. It replaces the earlier one, in the same row."""

    title: str = "Plan"
    entries: tuple[PlanEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRunning(BaseEvent):
    call_id: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress(BaseEvent):
    call_id: str
    text: str = ""
    """A line that replaces the previous one."""
    output: MimeBundle | None = None
    """An output of the running tool, which is appended. Plain text continues plain text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished(BaseEvent):
    call_id: str
    ok: bool
    summary: str
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
    description: str = ""
    """The tool's description by its author."""
    schema: Json = field(default_factory=dict)
    """The JSON schema of the arguments; empty if they cannot be edited."""
    identical_only: bool = False
    """Whether "always" covers only calls with the same arguments."""
    allows_whole_run: bool = False
    """Whether the user may allow all calls of this tool in the run."""
    written: bool = False
    """Whether the model wrote the call into its text. "Always" does not cover it."""
    can_try: bool = False
    """Whether the user may try the call in a copy of the kernel before answering."""
    is_question: bool = False
    """Whether the model asks the user a question: `args` are the `question` and the `choices`, and the note of the
    decision is the answer."""
    secrets: tuple[str, ...] = ()
    """What `•••` stands for in the texts of a question that is open on a page; empty elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalResolved(BaseEvent):
    call_id: str
    approved: bool
    note: str = ""
    by: Decider = "person"
    proposed: Json | None = None
    """The arguments that the model wrote."""
    executed: Json | None = None
    """The arguments that the tool runs with; None if the call was denied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageUpdated(BaseEvent):
    usage: Usage
    cost: float | None
    estimated: bool = False
    """True for a count based on characters, before the vendor has reported usage."""


# stream


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta(BaseEvent):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta(BaseEvent):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(BaseEvent):
    """The model is calling a tool; the arguments are still being streamed."""

    call_id: str
    name: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolArgsDelta(BaseEvent):
    call_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDelta(BaseEvent):
    """Part of a file that is being written. The file is now `old[:offset] + text`; offset 0 restarts it."""

    call_id: str
    path: str
    """Empty until the model has written it. Then the text restarts under this path."""
    offset: int
    """In code points."""
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


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change to one file."""

    path: str
    version: int
    """Number of the newest version, from 1."""
    action: FileAction
    size: int
    """In bytes."""
    media_type: str
    call_id: str | None = None
    """The tool call that changed it; None for initial files and files taken from the model's answer."""
    first_line: int = 0
    """The first changed line, from 1; 0 if there is none."""
    added: int = 0
    removed: int = 0
    patch: tuple[LinePatch, ...] | None = None
    """Turns the previous version (or an empty file) into this one, applied last to first; None for binary files."""
    unfinished: bool = False
    """Whether a run ended while the model was writing this version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanged(Change, BaseEvent):
    """A file has changed."""


_Exchange = RunStarted | RunFinished
_State = (
    TurnStarted
    | TurnRetrying
    | TurnFinished
    | Note
    | ConversationCompacted
    | PlanUpdated
    | ToolRunning
    | ToolProgress
    | ToolFinished
    | ApprovalRequested
    | ApprovalResolved
    | UsageUpdated
)
_Stream = TextDelta | ThinkingDelta | ToolStarted | ToolArgsDelta | FileDelta | ToolReady
_Message = MessageAdded | FileChanged
Event = _Exchange | _State | _Stream | _Message
LAYERS: dict[str, tuple[type[BaseEvent], ...]] = {
    "exchange": get_args(_Exchange),
    "state": get_args(_State),
    "stream": get_args(_Stream),
    "message": get_args(_Message),
}

Delta = TextDelta | ThinkingDelta | ToolArgsDelta | FileDelta
"""A piece of streamed content: its `text` continues the previous piece."""

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
"""Events of one tool call, without deltas. A file may also change without a call."""
