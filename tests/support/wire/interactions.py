"""Gemini's Interactions, spoken from steps."""

from collections.abc import Iterator
from typing import Any

from tests.support.wire.dialect import Dialect
from tests.support.wire.framing import sse
from tests.support.wire.steps import Call, ErrorEvent, Refuse, Say, Step, Think


class Interactions(Dialect):
    path = "/interactions"
    root = ""
    fragment = b'"arguments_delta"'
    numbered = True
    events = 0

    def event(self, kind: str, **data: Any) -> bytes:
        self.events += 1
        return sse({"event_type": kind, "event_id": f"e{self.events}", **data}, kind)

    def begin(self) -> Iterator[bytes]:
        yield self.event(
            "interaction.created", interaction={"id": "i1", "status": "in_progress", "model": self.model}
        )
        yield self.event("interaction.status_update", interaction_id="i1", status="in_progress")

    def step(self, step: Step, number: int) -> Iterator[bytes]:
        match step:
            case Think(text, signature):
                yield self.open({"type": "thought"})
                for piece in self.pieces(text):
                    yield self.delta({"type": "thought_summary", "content": {"type": "text", "text": piece}})
                yield self.delta({"type": "thought_signature", "signature": signature})
            case Say(text) | Refuse(text):
                yield self.open({"type": "model_output"})
                for piece in self.pieces(text):
                    yield self.delta({"type": "text", "text": piece})
            case Call():
                call_id = self.call_id(step, number)
                yield self.open({"type": "function_call", "id": call_id, "name": step.name, "arguments": {}})
                for piece in self.pieces(step.json):
                    yield self.delta({"type": "arguments_delta", "arguments": piece})
            case _:
                self.index -= 1
                return
        yield self.event("step.stop", index=self.index)

    def open(self, step: dict[str, Any]) -> bytes:
        return self.event("step.start", index=self.index, step=step)

    def delta(self, delta: dict[str, Any]) -> bytes:
        return self.event("step.delta", index=self.index, delta=delta)

    def finish(self) -> Iterator[bytes]:
        tokens = self.tokens
        usage = {
            "total_input_tokens": tokens.input,
            "total_cached_tokens": tokens.cached_read,
            "total_output_tokens": tokens.output - tokens.reasoning,
            "total_thought_tokens": tokens.reasoning,
            "total_tokens": tokens.input + tokens.output,
        }
        statuses = {"end_turn": "completed", "tool_use": "requires_action", "max_tokens": "incomplete"}
        status = statuses.get(self.stop, self.stop)
        interaction = {"id": "i1", "model": self.model, "status": status, "usage": usage}
        yield self.event("interaction.completed", interaction=interaction)
        yield sse("[DONE]", "done")

    def error(self, step: ErrorEvent) -> bytes:
        codes = {529: "UNAVAILABLE", 429: "RESOURCE_EXHAUSTED", 400: "INVALID_ARGUMENT"}
        return self.event(
            "error", error={"code": codes.get(step.status, "INTERNAL"), "message": step.message}
        )
