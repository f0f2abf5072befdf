"""Gemini's Interactions and `generate_content`, spoken from steps."""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.wire.dialect import Dialect, sse
from tests.support.wire.steps import Call, ErrorEvent, Refuse, Say, Step, Think


class Interactions(Dialect):
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


class GenerateContent(Dialect):
    """Gemini's older protocol: `data:` lines only, and whole arguments. The first call of an answer is signed."""

    signed = False

    def chunk(self, *parts: dict[str, Any], **candidate: Any) -> bytes:
        content = {"role": "model", "parts": list(parts)}
        tokens = self.tokens
        usage = {
            "promptTokenCount": tokens.input,
            "cachedContentTokenCount": tokens.cached_read,
            "candidatesTokenCount": tokens.output - tokens.reasoning,
            "thoughtsTokenCount": tokens.reasoning,
        }
        candidates = [{"index": 0, "content": content, **candidate}]
        return sse({"candidates": candidates, "modelVersion": self.model, "usageMetadata": usage})

    def step(self, step: Step, number: int) -> Iterator[bytes]:
        match step:
            case Think(text):
                for piece in self.pieces(text):
                    yield self.chunk({"text": piece, "thought": True})
            case Say(text) | Refuse(text):
                for piece in self.pieces(text):
                    yield self.chunk({"text": piece})
            case Call():
                call = {"id": self.call_id(step, number), "name": step.name, "args": json.loads(step.json)}
                signature = step.signature or ("" if self.signed else "c2lnbmVk")
                self.signed = True
                yield self.chunk(
                    {"functionCall": call, **({"thoughtSignature": signature} if signature else {})}
                )

    def finish(self) -> Iterator[bytes]:
        reasons = {"end_turn": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}
        yield self.chunk({"text": ""}, finishReason=reasons.get(self.stop, self.stop))

    def unknown(self) -> bytes:
        return sse({"weatherReport": {"sky": "clear"}})

    def error(self, step: ErrorEvent) -> bytes:
        status = {529: 503}.get(step.status, step.status)
        return sse({"error": {"code": status, "message": step.message, "status": "UNAVAILABLE"}})
