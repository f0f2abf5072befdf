"""Anthropic's Messages, spoken from steps."""

from collections.abc import Iterator
from typing import Any

from tests.support.wire.dialect import Dialect
from tests.support.wire.framing import sse
from tests.support.wire.steps import Call, ErrorEvent, Redacted, Refuse, Say, Step, Think


class AnthropicMessages(Dialect):
    path = "/messages"
    root = ""
    fragment = b'"input_json_delta"'

    def event(self, kind: str, **data: Any) -> bytes:
        return sse({"type": kind, **data}, kind)

    def begin(self) -> Iterator[bytes]:
        tokens = self.tokens
        usage = {
            "input_tokens": tokens.input - tokens.cached_read - tokens.cached_write,
            "cache_creation_input_tokens": tokens.cached_write,
            "cache_read_input_tokens": tokens.cached_read,
            "output_tokens": 1,
        }
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": self.model, "content": []}
        yield self.event("message_start", message={**message, "stop_reason": None, "usage": usage})
        yield self.event("ping")

    def step(self, step: Step, number: int) -> Iterator[bytes]:
        match step:
            case Think(text, signature):
                yield self.open({"type": "thinking", "thinking": "", "signature": ""})
                for piece in self.pieces(text):
                    yield self.delta({"type": "thinking_delta", "thinking": piece})
                yield self.delta({"type": "signature_delta", "signature": signature})
            case Redacted(data):
                yield self.open({"type": "redacted_thinking", "data": data})
            case Say(text) | Refuse(text):
                yield self.open({"type": "text", "text": ""})
                for piece in self.pieces(text):
                    yield self.delta({"type": "text_delta", "text": piece})
            case Call():
                call_id = self.call_id(step, number)
                yield self.open({"type": "tool_use", "id": call_id, "name": step.name, "input": {}})
                for piece in ["", *self.pieces(step.json)]:
                    yield self.delta({"type": "input_json_delta", "partial_json": piece})
        yield self.event("content_block_stop", index=self.index)

    def open(self, block: dict[str, Any]) -> bytes:
        return self.event("content_block_start", index=self.index, content_block=block)

    def delta(self, delta: dict[str, Any]) -> bytes:
        return self.event("content_block_delta", index=self.index, delta=delta)

    def finish(self) -> Iterator[bytes]:
        explanation = self.end.explanation if self.end else ""
        refused = {"type": "refusal", "category": "cyber", "explanation": explanation}
        details = refused if self.stop == "refusal" else None
        delta = {"stop_reason": self.stop, "stop_sequence": None, "stop_details": details}
        thinking = {"thinking_tokens": self.tokens.reasoning}
        usage = {"output_tokens": self.tokens.output, "output_tokens_details": thinking}
        yield self.event("message_delta", delta=delta, usage=usage)
        yield self.event("message_stop")

    def error(self, step: ErrorEvent) -> bytes:
        kind = {529: "overloaded_error", 429: "rate_limit_error", 400: "invalid_request_error"}.get(
            step.status, "api_error"
        )
        return self.event("error", error={"type": kind, "message": step.message})
