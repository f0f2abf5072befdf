"""The lines of a cassette: which kinds there are, and the types of their fields."""

from typing import Any, NotRequired, TypedDict

from agent_nb._base.wire import Json
from agent_nb.cassette.format import Gap, MomentKind, Stage
from agent_nb.errors import ToolErrorCode
from agent_nb.events import Decider, MimeBundle, Reason, Stop, WhyCompacted
from agent_nb.messages import Image, Part
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


class RecordedRequest(TypedDict, total=False):
    """The fingerprint of what the user asked for."""

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


_MOMENT = {
    "args": Json,
    "name": str,
    "title": str,
    "approved": bool,
    "note": str,
    "by": Decider,
    "executed": Json | None,
    "text": str,
    "output": MimeBundle | None,
    "path": str,
    "data": bytes,
    "seconds": float,
    "summary": str,
    "code": ToolErrorCode | None,
    "told_code": ToolErrorCode | None,
    "hint": str,
    "outputs": tuple[MimeBundle, ...],
    "images": tuple[Image, ...],
}
_AFTER = {"after": Gap}
_COSTS = {"after": Gap, "cost": float | None}

_FIELDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "format": ({"format": str}, {"version": int}),
    "yours": ({"yours": RecordedRequest}, {}),
    "ours": ({"ours": Json}, {}),
    "variant": ({"variant": int, "model": str, "settings": Settings}, {}),
    "text": ({"text": str}, {}),
    "thinking": ({"thinking": str}, {}),
    "args": ({"args": str}, {"of": str}),
    "more": ({"more": str}, {}),
    "pace": ({"pace": str}, {}),
    "call": ({"call": str, "name": str}, _AFTER),
    "counted": ({"counted": dict[str, int]}, _AFTER),
    "turn": (
        {"turn": int, "stop": Stop, "model": str, "usage": dict[str, int]},
        {**_COSTS, "detail": str, "parts": tuple[Part, ...], "vendor": Json},
    ),
    "retry": ({"retry": str, "wait": float}, _COSTS),
    "compacted": ({"compacted": WhyCompacted}, {**_AFTER, "limit": int | None}),
    "tool": ({"tool": MomentKind, "id": str}, {**_COSTS, **_MOMENT}),
    "end": (
        {"end": Reason, "turns": int, "seconds": float},
        {**_COSTS, "during": Stage, "error": str | None, "ended": str},
    ),
}
"""The fields that each kind of line must have, and those that it may have. The first key of a line is its kind."""


LINES: dict[str, Any] = {
    kind: TypedDict(kind, required | {name: NotRequired[type_] for name, type_ in optional.items()})  # type: ignore[operator]
    for kind, (required, optional) in _FIELDS.items()
}
