"""OpenAI-compatible Chat Completions: OpenRouter, DeepSeek, Ollama, LM Studio, vLLM, llama.cpp and any other.

Servers differ, so the decoder accepts what they send: a missing index, whole arguments as an object,
thinking in either of two fields, a tool turn that ends with `stop`.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agent_nb._base.wire import Json
from agent_nb.errors import ProviderError
from agent_nb.events import Stop
from agent_nb.messages import Image, Message, Part, Source, Text, ToolResult, ToolSpec, Usage
from agent_nb.providers import failure
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import Piece, Request
from agent_nb.providers.openai import sdk_error
from agent_nb.providers.parts import data_url, source_text
from agent_nb.providers.settings import Settings
from agent_nb.providers.streaming import Decoder, StreamingProvider
from agent_nb.providers.vendors import EFFORT

if TYPE_CHECKING:
    import httpx2

IMAGE_LIMITS = (2048, 5_000_000)
NO_KEY = "none"
"""The SDK requires a key; local servers ignore it."""

_STOPS: dict[str, Stop] = {"length": "max_tokens", "content_filter": "refusal"}
_REASONING = ("reasoning_content", "reasoning")


class ChatProvider(StreamingProvider):
    def connect(self, http: "httpx2.AsyncClient") -> Any:
        import openai

        # The SDK reads OpenAI's organization and project from the environment; other servers must not get them.
        headers: Json = {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}
        client = openai.AsyncOpenAI(
            api_key=self.settings.api_key or NO_KEY,
            base_url=self.settings.base_url,
            http_client=http,
            max_retries=0,
            default_headers={**headers, **self.settings.headers},
        )
        return client.chat.completions.with_streaming_response

    def body(self, request: Request) -> Json:
        return _body(self.settings, request)

    def open(self, client: Any, body: Json) -> Any:
        return client.create(**body)

    def decoder(self) -> Decoder:
        return _Decoder(self.settings)

    def error(self, exc: Exception) -> ProviderError:
        return sdk_error(self.settings, exc)


def _body(settings: Settings, request: Request) -> Json:
    body: Json = {
        "model": settings.model,
        "messages": _messages(settings, request),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = _tools(request.tools)
    if settings.max_tokens:
        body["max_tokens"] = settings.max_tokens
    if extra := {**_effort(settings), **settings.options}:
        body["extra_body"] = extra
    return body


def _effort(settings: Settings) -> Json:
    """The vendor's own fields for the effort; empty when none is set."""
    vendor, effort = settings.vendor, settings.effort
    if effort is None:
        return {}
    if effort == "none" and vendor.no_effort_fields is not None:
        return vendor.no_effort_fields
    return _filled(vendor.effort_fields, settings.family.effort(effort))


def _filled(fields: Json, effort: str) -> Json:
    return {
        key: _filled(value, effort) if isinstance(value, dict) else (effort if value == EFFORT else value)
        for key, value in fields.items()
    }


def _messages(settings: Settings, request: Request) -> list[Json]:
    sent: list[Json] = [{"role": "system", "content": request.system}] if request.system else []
    result_images: list[Json] = []
    takes_images = _takes_result_images(settings, request)
    for message in request.messages:
        if result_images and message.role != "tool":
            sent.append({"role": "user", "content": result_images})
            result_images = []
        if message.role == "assistant":
            sent.append(_assistant(settings, message))
            continue
        for part in message.parts:
            if isinstance(part, ToolResult):
                sent.append({"role": "tool", "tool_call_id": part.call_id, "content": part.text})
                result_images += _result_images(part) if takes_images else []
        content = [block for part in message.parts for block in _user_blocks(part)]
        if content:
            plain = all(block["type"] == "text" for block in content)
            text = "\n".join(block["text"] for block in content) if plain else content
            sent.append({"role": "user", "content": text})
    return [*sent, {"role": "user", "content": result_images}] if result_images else sent


def _assistant(settings: Settings, message: Message) -> Json:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.tool_calls
    ]
    sent: Json = {"role": "assistant", "content": message.text or (None if calls else "")}
    if calls:
        sent |= {"tool_calls": calls, **settings.vendor.call_fields}
    return {**sent, **message.vendor.get(settings.vendor.name, {})}


def _user_blocks(part: Part) -> list[Json]:
    match part:
        case Text(text):
            return [{"type": "text", "text": text}]
        case Image():
            return [_image(part)]
        case Source():
            return [{"type": "text", "text": source_text(part)}]
        case _:
            return []


def _takes_result_images(settings: Settings, request: Request) -> bool:
    """Whether to send images from tool results.

    Many local models refuse images, so a local one gets them only if the person gave it one.
    """
    given = any(isinstance(part, Image) for message in request.messages for part in message.parts)
    return settings.vendor.images and (given or not settings.vendor.local)


def _result_images(result: ToolResult) -> list[Json]:
    """Tool messages can only hold text here, so their images follow in a user message."""
    if not result.images:
        return []
    label = {"type": "text", "text": f"The images of {result.name} ({result.call_id}):"}
    return [label, *(_image(image) for image in result.images)]


def _image(image: Image) -> Json:
    return {"type": "image_url", "image_url": {"url": data_url(image, *IMAGE_LIMITS), "detail": "auto"}}


def _tools(tools: Sequence[ToolSpec]) -> list[Json]:
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in tools
    ]


class _Decoder:
    """Decodes the chunks of one answer."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._turn = Assembler()
        self._usage = Usage()
        self._model = settings.model
        self._stop = ""
        self._ids: dict[Any, str] = {}
        self._newest: dict[int, Any] = {}
        """The key of the latest call with an index, for servers that reuse one."""
        self._reasoning_field = ""
        self._reasoning_details: list[Json] = []
        self._refusal: list[str] = []

    def feed(self, event: str, data: Json) -> Sequence[Piece]:
        choices = data.get("choices")
        if not choices:
            return self._without_choices(data)
        choice = choices[0]
        delta = choice.get("delta")
        pieces: list[Piece] = []
        if delta:
            if calls := delta.get("tool_calls"):
                for call in calls:
                    pieces += self._call(call)
            if content := delta.get("content"):
                pieces.append(self._turn.text(content))
            elif len(delta) > 1 or "tool_calls" not in delta:
                pieces += self._rare(delta)
        if choice.get("finish_reason"):
            self._stop = choice["finish_reason"]
            self._model = data.get("model") or self._model
        if data.get("usage"):
            self._usage = _usage(data["usage"])
        return pieces

    def finish(self) -> Sequence[Piece]:
        """`[DONE]` or the end of the body: complete if a finish reason came, else cut."""
        if not self._stop:
            return ()
        refusal = "".join(self._refusal)
        stop = _STOPS.get(self._stop) or ("tool_use" if self._turn.has_calls else "end_turn")
        if refusal and stop == "end_turn":
            stop = "refusal"
        detail = refusal or (self._stop if stop == "refusal" else "")
        vendor = {self._settings.vendor.name: echo} if (echo := self._echo()) else {}
        usage = self._usage
        return (self._turn.turn(stop=stop, usage=usage, model=self._model, vendor=vendor, detail=detail),)

    def _without_choices(self, data: Json) -> Sequence[Piece]:
        if problem := data.get("error"):
            raise _event_error(self._settings, problem)
        if data.get("usage"):
            self._usage = _usage(data["usage"])
        return ()

    def _rare(self, delta: Json) -> Sequence[Piece]:
        """Thinking in either field, and refusals."""
        for field in _REASONING:
            if isinstance(text := delta.get(field), str):
                self._reasoning_field = self._reasoning_field or field
                self._reasoning_details += delta.get("reasoning_details") or []
                return (self._turn.thinking(text, "thinking"),) if text else ()
        self._reasoning_details += delta.get("reasoning_details") or []
        if refusal := delta.get("refusal"):
            self._refusal.append(refusal)
            return (self._turn.text(refusal),)
        return ()

    def _call(self, call: Json) -> Sequence[Piece]:
        function = call.get("function") or {}
        key = self._key(call, bool(function.get("name")))
        pieces: list[Piece] = []
        if key not in self._ids:
            call_id = self._ids[key] = str(call.get("id") or f"call_{len(self._ids)}")
            pieces.append(self._turn.start_call(key, call_id, function.get("name") or ""))
        if arguments := function.get("arguments"):
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            pieces.append(self._turn.arguments(key, text))
        return pieces

    def _key(self, call: Json, named: bool) -> Any:
        """Which call a fragment belongs to: by its index, or its id; without either, a name starts a new call.

        Some servers give every call the index 0. There, a name with a new id starts a new call, and fragments
        without a name belong to the latest call with that index.
        """
        index, call_id = call.get("index"), call.get("id")
        if index is not None:
            newest = self._newest.get(index, index)
            if named and call_id and self._ids.get(newest, call_id) != call_id:
                newest = next((key for key, known in self._ids.items() if known == call_id), call_id)
                self._newest[index] = newest
            return newest
        if call_id or not self._ids:
            return call_id or "first"
        return f"unnumbered {len(self._ids)}" if named else next(reversed(self._ids))

    def _echo(self) -> Json:
        """The thinking, in the field it came in: some servers refuse a tool turn without it."""
        echo: Json = {}
        if self._reasoning_field:
            echo[self._reasoning_field] = self._turn.joined("thinking", "thinking")
        if self._reasoning_details:
            echo["reasoning_details"] = self._reasoning_details
        return echo


def _usage(counts: Json) -> Usage:
    prompt = counts.get("prompt_tokens_details") or {}
    return Usage(
        input=counts.get("prompt_tokens") or 0,
        cached_read=prompt.get("cached_tokens") or counts.get("prompt_cache_hit_tokens") or 0,
        cached_write=prompt.get("cache_write_tokens") or 0,
        output=counts.get("completion_tokens") or 0,
        reasoning=(counts.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0,
    )


def _event_error(settings: Settings, problem: Any) -> ProviderError:
    """An error inside the stream. Its code is a status or a word, or missing."""
    if not isinstance(problem, dict):
        return failure.from_status(settings, 500, str(problem))
    code = str(problem.get("code") or problem.get("type") or "")
    status = int(code) if code.isdigit() and len(code) == 3 else 500
    return failure.from_status(settings, status, str(problem.get("message") or code), body=problem)
