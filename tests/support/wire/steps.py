"""What a scripted answer is made of: vendor-neutral steps, and the faults a network has."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class Step:
    """A part of an answer."""


@dataclass(frozen=True)
class Think(Step):
    text: str
    signature: str = "c2lnbmVk"
    """Valid base64, because one of the SDKs decodes it on the way."""


@dataclass(frozen=True)
class Redacted(Step):
    """Thinking that the vendor encrypts (Anthropic only; the others skip it)."""

    data: str


@dataclass(frozen=True)
class Say(Step):
    text: str


@dataclass(frozen=True)
class Refuse(Step):
    """The model's own text of a refusal."""

    text: str


@dataclass(frozen=True)
class Call(Step):
    name: str
    arguments: str | Mapping[str, Any]
    id: str = ""
    signature: str = ""
    """Gemini's `generate_content` puts the thought signature on the call's part."""

    @property
    def json(self) -> str:
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True)
class Tokens(Step):
    """What the vendor counts; `input` and `output` are totals."""

    input: int = 100
    cached_read: int = 0
    cached_write: int = 0
    output: int = 20
    reasoning: int = 0


@dataclass(frozen=True)
class End(Step):
    """Why the answer ends; by default `tool_use` if there are calls, else `end_turn`."""

    stop: str
    explanation: str = ""


@dataclass(frozen=True)
class Hold(Step):
    """Sends nothing more until the client disconnects or the test sets `let_go`."""


@dataclass(frozen=True)
class Pause(Step):
    seconds: float


@dataclass(frozen=True)
class Raw(Step):
    """Bytes exactly as they are."""

    data: bytes


@dataclass(frozen=True)
class Event(Step):
    """An event with exactly this data."""

    data: Any


@dataclass(frozen=True)
class Comment(Step):
    """A comment, as routers send to keep a connection open."""

    text: str = "PROCESSING"


@dataclass(frozen=True)
class Unknown(Step):
    """An event of an unknown type."""


@dataclass(frozen=True)
class BadJson(Step):
    """An event whose data is not JSON."""


@dataclass(frozen=True)
class ErrorEvent(Step):
    """An error in the middle of the stream, in the vendor's own shape."""

    status: int = 529
    message: str = "Overloaded"


@dataclass(frozen=True)
class Cut(Step):
    """The stream ends here: `eof` with a proper body but no terminal event, `fin` or `rst` inside a chunk."""

    how: str = "eof"


@dataclass(frozen=True)
class Fault:
    """A fault at one event of an answer, counted from 0. `faults.py` lists the kinds."""

    kind: str
    index: int


@dataclass(frozen=True)
class Reply:
    """One answer: a stream of steps, or a plain response when `body` is given."""

    steps: tuple[Step, ...] = ()
    fragment: int = 20
    """Characters per delta."""
    gap: float = 0
    """Seconds after each event, for an answer as slow as a real one."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    silent: bool = False
    """Not even headers are sent until the client disconnects or the test sets `let_go`."""
    split: int = 0
    """Bytes per write; 0 for one write per event."""
    fault: "Fault | None" = None
    """What happens to one of its events on the way."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Switches of a dialect, such as `reasoning`: the field for thinking in Chat Completions; `model`: who answers."""


def reply(*steps: Step, **settings: Any) -> Reply:
    return Reply(steps=steps, **settings)


def json_reply(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    headers = {"content-type": "application/json", **(headers or {})}
    return Reply(status=status, headers=headers, body=json.dumps(body).encode())


def problem(status: int, message: str = "", headers: Mapping[str, str] | None = None, **error: Any) -> Reply:
    """An error status with a JSON body in the shape most vendors share."""
    body = {"type": "error", "error": {"message": message, "type": "error", **error}}
    return json_reply(body, status, headers)


def page(status: int = 200, content_type: str = "text/html") -> Reply:
    """A web page where an answer should be."""
    html = b"<!DOCTYPE html>\n\n<html><body><h1>Welcome</h1></body></html>\n"
    return Reply(status=status, headers={"content-type": content_type}, body=html)


def fragments(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
