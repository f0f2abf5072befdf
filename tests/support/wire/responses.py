"""OpenAI's Responses, spoken from steps."""

import itertools
from collections.abc import Iterator
from typing import Any

from tests.support.wire.dialect import Dialect
from tests.support.wire.framing import sse
from tests.support.wire.steps import Call, ErrorEvent, Refuse, Say, Step, Think

_numbers = itertools.count(1)


class Responses(Dialect):
    """The Responses API. The id of an item that follows reasoning ends with the reasoning's id, for the rules."""

    path = "/responses"
    sequence = 0
    reasoning_id = ""

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(_numbers)}{self.reasoning_id and '_'}{self.reasoning_id}"

    def event(self, kind: str, **data: Any) -> bytes:
        self.sequence += 1
        return sse({"type": kind, "sequence_number": self.sequence, **data}, kind)

    def begin(self) -> Iterator[bytes]:
        response = {
            "id": "resp_1",
            "object": "response",
            "model": self.model,
            "status": "in_progress",
            "output": [],
        }
        yield self.event("response.created", response=response)
        yield self.event("response.in_progress", response=response)

    def step(self, step: Step, number: int) -> Iterator[bytes]:
        match step:
            case Think():
                yield from self.reasoning(step, number)
            case Say() | Refuse():
                yield from self.message(step, number)
            case Call():
                yield from self.call(step, number)
            case _:
                self.index -= 1

    def reasoning(self, step: Think, number: int) -> Iterator[bytes]:
        self.reasoning_id = ""
        item = {"id": self.new_id("rs"), "type": "reasoning", "summary": []}
        self.reasoning_id = str(item["id"])
        at = {"output_index": self.index, "item_id": item["id"], "summary_index": 0}
        yield self.event(
            "response.output_item.added", output_index=self.index, item={**item, "encrypted_content": "part"}
        )
        yield self.event(
            "response.reasoning_summary_part.added", **at, part={"type": "summary_text", "text": ""}
        )
        for piece in self.pieces(step.text):
            yield self.event("response.reasoning_summary_text.delta", **at, delta=piece)
        yield self.event("response.reasoning_summary_text.done", **at, text=step.text)
        summary = [{"type": "summary_text", "text": step.text}]
        yield self.done({**item, "summary": summary, "encrypted_content": step.signature})

    def message(self, step: Say | Refuse, number: int) -> Iterator[bytes]:
        item: dict[str, Any] = {
            "id": self.new_id("msg"),
            "type": "message",
            "role": "assistant",
            "phase": "commentary",
        }
        kind, field = ("refusal", "refusal") if isinstance(step, Refuse) else ("output_text", "text")
        at = {"output_index": self.index, "item_id": item["id"], "content_index": 0}
        yield self.event("response.output_item.added", output_index=self.index, item={**item, "content": []})
        yield self.event(
            "response.content_part.added", **at, part={"type": kind, field: "", "annotations": []}
        )
        for piece in self.pieces(step.text):
            yield self.event(f"response.{kind}.delta", **at, delta=piece)
        yield self.event(f"response.{kind}.done", **at, **{field: step.text})
        part = {"type": kind, field: step.text, "annotations": []}
        yield self.done({**item, "status": "completed", "content": [part]})

    def call(self, step: Call, number: int) -> Iterator[bytes]:
        item = {
            "id": self.new_id("fc"),
            "type": "function_call",
            "call_id": self.call_id(step, number),
            "name": step.name,
        }
        at = {"output_index": self.index, "item_id": item["id"]}
        yield self.event(
            "response.output_item.added", output_index=self.index, item={**item, "arguments": ""}
        )
        for piece in self.pieces(step.json):
            yield self.event("response.function_call_arguments.delta", **at, delta=piece)
        yield self.event("response.function_call_arguments.done", **at, arguments=step.json)
        yield self.done({**item, "arguments": step.json, "status": "completed"})

    def done(self, item: dict[str, Any]) -> bytes:
        self.items.append(item)
        return self.event("response.output_item.done", output_index=self.index, item=item)

    def finish(self) -> Iterator[bytes]:
        tokens = self.tokens
        usage = {
            "input_tokens": tokens.input,
            "input_tokens_details": {
                "cached_tokens": tokens.cached_read,
                "cache_write_tokens": tokens.cached_write,
            },
            "output_tokens": tokens.output,
            "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
            "total_tokens": tokens.input + tokens.output,
        }
        why = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}.get(self.stop)
        status = "incomplete" if why else "completed"
        response = {
            "id": "resp_1",
            "model": self.model,
            "status": status,
            "output": self.items,
            "usage": usage,
        }
        details = {"incomplete_details": {"reason": why} if why else None}
        yield self.event(f"response.{status}", response={**response, **details})

    def error(self, step: ErrorEvent) -> bytes:
        code = {529: "server_is_overloaded", 429: "rate_limit_exceeded", 400: "invalid_prompt"}.get(
            step.status, "server_error"
        )
        return self.event("error", code=code, message=step.message, param=None)
