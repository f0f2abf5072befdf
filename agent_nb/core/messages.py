"""The values of a conversation: messages and their parts, tool specs, token counts.

All are frozen. Data that a vendor needs back (signatures, encrypted reasoning, item ids) is stored on the message
under the vendor's name and never sent to another vendor.
"""

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal

from agent_nb._base.wire import Json, to_wire
from agent_nb.core.errors import ToolErrorCode

Role = Literal["system", "user", "assistant", "tool"]
Origin = Literal["images", "elements", "summary", "branch", "unfinished"]
"""Why a run adds a text to a user message: instructions for its images, elements of the page, earlier requests,
variables that its branch lacks, and files that the base run was still writing when it ended."""


def snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Tagged:
    """Gives a class its wire tag, `type`: its name in snake_case."""

    __slots__ = ()
    type: ClassVar[str]

    def __init_subclass__(cls) -> None:
        cls.type = snake_case(cls.__name__)


@dataclass(frozen=True, slots=True)
class Text(Tagged):
    text: str
    origin: Origin | None = field(default=None, repr=False)
    """None for a text by the user or the model."""


@dataclass(frozen=True, slots=True)
class Thinking(Tagged):
    text: str


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Image(Tagged):
    """An image as bytes, for example in a prompt."""

    data: bytes
    media_type: str = "image/png"
    name: str = ""

    @property
    def base64(self) -> str:
        return base64.b64encode(self.data).decode()


@dataclass(frozen=True, slots=True)
class Document(Tagged):
    """A PDF file in a prompt. `read_images` and the `images` of a run check its bytes."""

    data: bytes
    name: str = "document.pdf"
    media_type: ClassVar[str] = "application/pdf"

    @property
    def base64(self) -> str:
        return base64.b64encode(self.data).decode()


Attachment = Image | Document


@dataclass(frozen=True, slots=True)
class Source(Tagged):
    title: str
    url: str
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall(Tagged):
    id: str
    name: str
    arguments: str
    """JSON exactly as the model wrote it, which may be invalid."""
    written: bool = False
    """Whether the model wrote it into its text instead of making a native call."""
    shortened: bool = field(default=False, repr=False)
    """Whether notes replace contents of files in the arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult(Tagged):
    call_id: str
    name: str
    text: str
    images: tuple[Image, ...] = ()
    code: ToolErrorCode | None = None
    versions: Mapping[str, int] = field(default_factory=dict)
    """Versions of the files that the call wrote or read, by path."""

    @property
    def ok(self) -> bool:
        return self.code is None


Part = Text | Thinking | Image | Document | Source | ToolCall | ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(Tagged):
    """One message of a conversation: a role and its parts."""

    role: Role
    parts: tuple[Part, ...]
    vendor: Mapping[str, Any] = field(default_factory=dict)
    """Opaque data to send back, by vendor name."""
    requests: int = 1
    """How many of the user's requests a user message stands for: 0 if the run added it, several for a summary."""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


def user(*parts: str | Part, requests: int = 1) -> Message:
    return Message(role="user", parts=_parts(parts), requests=requests)


def assistant(*parts: str | Part) -> Message:
    return Message(role="assistant", parts=_parts(parts))


def _parts(parts: Iterable[str | Part]) -> tuple[Part, ...]:
    return tuple(Text(part) if isinstance(part, str) else part for part in parts)


def sent_fields(part: Part) -> Json:
    """The wire form of a part, without what only this package reads."""
    return {name: value for name, value in to_wire(part).items() if name not in ("origin", "shortened")}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    name: str
    description: str
    schema: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    call: ToolCall
    result: ToolResult | None
    ok: bool
    seconds: float
    title: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts, with the same meaning for every vendor."""

    input: int = 0
    """All input tokens, including cached ones."""
    cached_read: int = 0
    cached_write: int = 0
    output: int = 0
    """All output tokens, including thinking."""
    reasoning: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        names = (item.name for item in fields(self))
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in names})
