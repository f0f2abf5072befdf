"""The lines of a cassette: which kinds there are, and the types of their fields."""

from typing import Any, NotRequired, TypedDict

from agent_nb._base.wire import Json
from agent_nb.cassette.format import Gap, MomentKind, Stage
from agent_nb.errors import ToolErrorCode
from agent_nb.events import Decider, MimeBundle, Reason, Stop, WhyCompacted
from agent_nb.messages import Image
from agent_nb.run.record import Settings


class RecordedImage(TypedDict):
    name: str
    sha256: str
    pixels: NotRequired[str]


class RecordedTool(TypedDict):
    origin: str
    title: str
    description: str
    schema: Json


class Yours(TypedDict, total=False):
    """The user's half of the fingerprint."""

    prompt: str
    model: str | None
    variants: tuple[str | None, ...]
    system: str
    images: tuple[RecordedImage, ...]
    files: dict[str, str]
    tools: dict[str, str]
    history: str
    stack: str
    compact: bool
    servers: dict[str, RecordedTool]


class _Line(TypedDict, total=False):
    after: Gap
    cost: float | None


class _Format(TypedDict):
    format: str
    version: NotRequired[int]


class _Yours(TypedDict):
    yours: Yours


class _Ours(TypedDict):
    ours: Json


class _Variant(TypedDict):
    variant: int
    model: str
    settings: Settings


class _Text(TypedDict):
    text: str


class _Thinking(TypedDict):
    thinking: str


class _Args(TypedDict):
    args: str
    of: NotRequired[str]


class _More(TypedDict):
    more: str


class _Pace(TypedDict):
    pace: str


class _Call(_Line):
    call: str
    name: str


class _Counted(_Line):
    counted: dict[str, int]


class _Turn(_Line):
    turn: int
    stop: Stop
    model: str
    usage: dict[str, int]
    detail: NotRequired[str]
    parts: NotRequired[tuple[Any, ...]]
    vendor: NotRequired[Json]


class _Retry(_Line):
    retry: str
    wait: float


class _Compacted(_Line):
    compacted: WhyCompacted
    limit: NotRequired[int | None]


class _Tool(_Line):
    tool: MomentKind
    id: str
    args: NotRequired[Json]
    name: NotRequired[str]
    title: NotRequired[str]
    approved: NotRequired[bool]
    note: NotRequired[str]
    by: NotRequired[Decider]
    executed: NotRequired[Json | None]
    text: NotRequired[str]
    output: NotRequired[MimeBundle | None]
    path: NotRequired[str]
    data: NotRequired[bytes]
    seconds: NotRequired[float]
    summary: NotRequired[str]
    code: NotRequired[ToolErrorCode | None]
    told_code: NotRequired[ToolErrorCode | None]
    hint: NotRequired[str]
    outputs: NotRequired[tuple[MimeBundle, ...]]
    images: NotRequired[tuple[Image, ...]]


class _End(_Line):
    end: Reason
    turns: int
    seconds: float
    during: NotRequired[Stage]
    error: NotRequired[str | None]


LINES: dict[str, Any] = {
    "format": _Format,
    "yours": _Yours,
    "ours": _Ours,
    "variant": _Variant,
    "text": _Text,
    "thinking": _Thinking,
    "args": _Args,
    "more": _More,
    "pace": _Pace,
    "call": _Call,
    "counted": _Counted,
    "turn": _Turn,
    "retry": _Retry,
    "compacted": _Compacted,
    "tool": _Tool,
    "end": _End,
}
"""The type of each kind of line. The first key of a line is its kind."""
