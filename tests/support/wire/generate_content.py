"""Gemini's `generate_content`, spoken from steps."""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.wire.dialect import Dialect
from tests.support.wire.framing import sse
from tests.support.wire.steps import Call, ErrorEvent, Refuse, Say, Step, Think


class GenerateContent(Dialect):
    """Gemini's older protocol: `data:` lines only, and whole arguments. The first call of an answer is signed."""

    path = ":streamGenerateContent"
    root = ""
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
