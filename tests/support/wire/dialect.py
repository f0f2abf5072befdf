"""What the dialects share: they turn the steps of a reply into events, one at a time."""

from collections.abc import Iterator
from typing import Any

from tests.support.wire.framing import SSE, Framing
from tests.support.wire.steps import (
    BadJson,
    Call,
    Comment,
    End,
    ErrorEvent,
    Event,
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


class Dialect:
    """Turns a reply into the bytes of a stream; each protocol has a subclass."""

    path: str
    """The part of a path by which a request of this protocol is recognised."""
    root = "/v1"
    """What a `base_url` of this protocol ends with."""
    framing: Framing = SSE
    fragment: bytes = b""
    """What marks an event with a fragment of arguments; empty if the end of the answer repeats the whole arguments."""
    numbered = False
    """Whether events have ids, which tell a repetition."""

    def __init__(self, reply: Reply, model: str) -> None:
        self.reply = reply
        self.model = str(reply.options.get("model", model))
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
                    yield self.framing.comment(text)
                case Event(data):
                    yield self.framing.frame(data)
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
        return self.framing.frame({"type": "weather.report", "sky": "clear"}, "weather.report")

    def bad_json(self) -> bytes:
        return self.framing.frame('{"type": "oops", ')

    def error(self, step: ErrorEvent) -> bytes:
        raise NotImplementedError
