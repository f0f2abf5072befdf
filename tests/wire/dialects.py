"""The five protocols, spoken from the same steps. Each dialect yields bytes, one event at a time."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.wire.steps import (
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
"""What a dialect yields: bytes to send, or a step the server itself acts on (hold, pause, cut)."""


def sse(data: Any, event: str = "") -> bytes:
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return (f"event: {event}\n" if event else "").encode() + f"data: {text}\n\n".encode()


class Dialect:
    """What the protocols share: the walk over the steps. `closed` tells that the stream must not end well."""

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


class Anthropic(Dialect):
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
        words = self.end.words if self.end else ""
        refused = {"type": "refusal", "category": "cyber", "explanation": words}
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
        return self.event("error", error={"type": kind, "message": step.words})


class Responses(Dialect):
    sequence = 0

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
        item = {"id": f"rs_{number}", "type": "reasoning", "summary": []}
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
            "id": f"msg_{number}",
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
            "id": f"fc_{number}",
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
        code = {529: "server_is_overloaded", 429: "rate_limit_exceeded"}.get(step.status, "server_error")
        return self.event("error", code=code, message=step.words, param=None)


class Chat(Dialect):
    """Chat Completions; `options["reasoning"]` names the field that carries the thinking."""

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
        return sse({"error": {"message": step.words, "code": step.status}})


class Interactions(Dialect):
    def event(self, kind: str, **data: Any) -> bytes:
        return sse({"event_type": kind, **data}, kind)

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
        code = {529: "UNAVAILABLE", 503: "UNAVAILABLE", 429: "RESOURCE_EXHAUSTED"}.get(
            step.status, "INTERNAL"
        )
        return self.event("error", error={"code": code, "message": step.words})


class GenerateContent(Dialect):
    """Gemini's older protocol: `data:` lines only, and whole arguments."""

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
                signature = {"thoughtSignature": step.signature} if step.signature else {}
                yield self.chunk({"functionCall": call, **signature})

    def finish(self) -> Iterator[bytes]:
        reasons = {"end_turn": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}
        yield self.chunk({"text": ""}, finishReason=reasons.get(self.stop, self.stop))

    def unknown(self) -> bytes:
        return sse({"weatherReport": {"sky": "clear"}})

    def error(self, step: ErrorEvent) -> bytes:
        status = {529: 503}.get(step.status, step.status)
        return sse({"error": {"code": status, "message": step.words, "status": "UNAVAILABLE"}})


DIALECTS: dict[str, Callable[[Reply, str], Dialect]] = {
    "openai": Responses,
    "chat": Chat,
    "anthropic": Anthropic,
    "gemini": Interactions,
    "gemini_generate": GenerateContent,
}


def protocol_of(path: str) -> str:
    """Which protocol a request's path speaks."""
    path = path.partition("?")[0]
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/responses"):
        return "openai"
    if path.endswith("/messages"):
        return "anthropic"
    if path.endswith("/interactions"):
        return "gemini"
    return "gemini_generate" if ":streamGenerateContent" in path else ""


def model_of(path: str, body: dict[str, Any]) -> str:
    return str(body.get("model") or path.rpartition("/models/")[2].partition(":")[0])
