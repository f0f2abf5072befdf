"""Chat Completions, spoken from steps."""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.wire.dialect import Dialect
from tests.support.wire.framing import sse
from tests.support.wire.steps import Call, ErrorEvent, Refuse, Say, Step, Think


class Chat(Dialect):
    """Chat Completions; `options["reasoning"]` names the field that carries the thinking."""

    path = "/chat/completions"
    fragment = b'"function":{"arguments"'

    def begin(self) -> Iterator[bytes]:
        self.calls = -1
        yield self.chunk({"role": "assistant", "content": ""})

    def chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return sse({"id": "c1", "object": "chat.completion.chunk", "model": self.model, "choices": [choice]})

    def step(self, step: Step, number: int) -> Iterator[bytes]:
        match step:
            case Think(text, signature):
                field = self.reply.options.get("reasoning", "reasoning_content")
                for piece in self.pieces(text):
                    yield self.chunk({field: piece})
                if field == "reasoning":
                    details = [{"type": "reasoning.encrypted", "data": signature, "index": 0}]
                    yield self.chunk({"reasoning": "", "reasoning_details": details})
            case Say(text):
                for piece in self.pieces(text):
                    yield self.chunk({"content": piece})
            case Refuse(text):
                for piece in self.pieces(text):
                    yield self.chunk({"refusal": piece})
            case Call():
                yield from self.call(step, number)

    def call(self, step: Call, number: int) -> Iterator[bytes]:
        self.calls += 1
        index = {} if self.reply.options.get("no_index") else {"index": self.calls}
        head = {**index, "id": self.call_id(step, number), "type": "function"}
        if self.reply.options.get("whole_arguments"):
            function = {"name": step.name, "arguments": json.loads(step.json)}
            yield self.chunk({"tool_calls": [{**head, "function": function}]})
            return
        yield self.chunk({"tool_calls": [{**head, "function": {"name": step.name, "arguments": ""}}]})
        for piece in self.pieces(step.json):
            yield self.chunk({"tool_calls": [{**index, "function": {"arguments": piece}}]})

    def finish(self) -> Iterator[bytes]:
        stops = {
            "end_turn": "stop",
            "tool_use": "tool_calls",
            "max_tokens": "length",
            "refusal": "content_filter",
        }
        tokens = self.tokens
        usage = {
            "prompt_tokens": tokens.input,
            "prompt_tokens_details": {"cached_tokens": tokens.cached_read},
            "completion_tokens": tokens.output,
            "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
        }
        yield self.chunk({}, self.reply.options.get("finish_reason", stops.get(self.stop, self.stop)))
        yield sse({"id": "c1", "model": self.model, "choices": [], "usage": usage})
        yield sse("[DONE]")

    def unknown(self) -> bytes:
        return sse({"object": "weather.report", "sky": "clear"})

    def error(self, step: ErrorEvent) -> bytes:
        return sse({"error": {"message": step.message, "code": step.status}})
