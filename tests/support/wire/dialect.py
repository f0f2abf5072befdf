"""What the five dialects share: they turn the steps of a reply into events, one at a time."""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.wire.steps import (
    BadJson,
    Call,
    Comment,
    End,
    ErrorEvent,
    Raw,
    Redacted,
    Refuse,
    Reply,
    Say,
    Step,
    Think,
    Tokens,
    Unknown,
    fragments,
)

Chunk = bytes | Step
"""What a dialect yields: bytes to send, or a step for the server itself (hold, pause, cut)."""


def sse(data: Any, event: str = "") -> bytes:
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return (f"event: {event}\n" if event else "").encode() + f"data: {text}\n\n".encode()


class Dialect:
    """Turns a reply into the bytes of a stream; each protocol has a subclass."""

    def __init__(self, reply: Reply, model: str) -> None:
        self.reply = reply
        self.model = model
        self.tokens = next((step for step in reply.steps if isinstance(step, Tokens)), Tokens())
        self.end = next((step for step in reply.steps if isinstance(step, End)), None)
        self.has_calls = any(isinstance(step, Call) for step in reply.steps)
        self.index = -1
        self.items: list[dict[str, Any]] = []

    @property
    def stop(self) -> str:
        if self.end:
            return self.end.stop
        return "tool_use" if self.has_calls else "end_turn"

    def stream(self) -> Iterator[Chunk]:
        yield from self.begin()
        for number, step in enumerate(self.reply.steps):
            match step:
                case Tokens() | End():
                    continue
                case Raw(data):
                    yield data
                case Comment(text):
                    yield f": {text}\n\n".encode()
                case Unknown():
                    yield self.unknown()
                case BadJson():
                    yield self.bad_json()
                case ErrorEvent():
                    yield self.error(step)
                case Think() | Redacted() | Say() | Refuse() | Call():
                    self.index += 1
                    yield from self.step(step, number)
                case _:
                    yield step
        yield from self.finish()

    def pieces(self, text: str) -> list[str]:
        return fragments(text, self.reply.fragment)

    def call_id(self, call: Call, number: int) -> str:
        return call.id or f"call_{number}"

    def begin(self) -> Iterator[bytes]:
        yield from ()

    def step(self, step: Step, number: int) -> Iterator[bytes]:
        raise NotImplementedError

    def finish(self) -> Iterator[bytes]:
        raise NotImplementedError

    def unknown(self) -> bytes:
        return sse({"type": "weather.report", "sky": "clear"}, "weather.report")

    def bad_json(self) -> bytes:
        return sse('{"type": "oops", ')

    def error(self, step: ErrorEvent) -> bytes:
        raise NotImplementedError
