"""OpenAI-compatible Chat Completions: OpenRouter, DeepSeek, Ollama, LM Studio, vLLM, llama.cpp and others."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from agent_nb._base.wire import Json
from agent_nb.core.events import Stop
from agent_nb.core.messages import Image, Message, ToolCall, ToolResult, ToolSpec, Usage
from agent_nb.providers import failure
from agent_nb.providers.base import OptionalParameter, Piece, Request
from agent_nb.providers.fenced_code import FencedCode
from agent_nb.providers.http import shared_client
from agent_nb.providers.parts import Blocks, data_url, fit_calls, text_block, valid_arguments
from agent_nb.providers.responses import make_client, without_account
from agent_nb.providers.settings import Settings
from agent_nb.providers.streaming import StreamDecoder, StreamingProvider
from agent_nb.providers.text_calls import WrittenCalls
from agent_nb.providers.tool_schemas import CHAT, ToolTranslation
from agent_nb.providers.vendors import EFFORT

if TYPE_CHECKING:
    import httpx2

_FACTS_TIMEOUT = 3.0
"""Timeout for querying a server's facts, so that it cannot delay a run."""
SendRequest = Callable[..., Awaitable[Any]]
IMAGE_LIMITS = (2048, 5_000_000)
TEMPERATURE = 0.2
"""For local servers: small models call tools more reliably than at the server's default."""
_BETWEEN_TEXT = "I have the results."
"""Assistant text inserted between tool results and a user message, where they must not be adjacent."""
_STOPS: dict[str, Stop] = {"length": "max_tokens", "model_length": "max_tokens", "content_filter": "refusal"}
_FAILURES = {
    "error": "the answer ended with an error",  # OpenRouter, when the vendor behind it fails
    "insufficient_system_resource": "it had too few resources to end the answer",  # DeepSeek
    "abort": "the server aborted the answer",  # vLLM
}
"""Finish reasons of answers that broke off."""
_REASONING = ("reasoning_content", "reasoning")
_JOINED = ("text", "summary", "data")
_RARE = frozenset((*_REASONING, "reasoning_details", "refusal"))


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Facts that a local server reports about its model; empty if unknown."""

    model: str = ""
    window: int | None = None


async def ask_server(settings: Settings, http: "httpx2.AsyncClient") -> ServerFacts:
    base = (settings.base_url or settings.vendor.base_url).rstrip("/")
    headers = {
        **({"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}),
        **settings.headers,
    }

    async def ask(path: str, body: Json | None = None) -> Any:
        url = f"{base.removesuffix('/v1')}{path}" if path.startswith("/api") else f"{base}{path}"
        answer = await http.request("POST" if body else "GET", url, headers=headers, json=body)
        return answer.raise_for_status().json()

    reader = _READERS.get(settings.vendor.name, _from_model_list)
    try:
        async with asyncio.timeout(_FACTS_TIMEOUT):
            return await reader(settings.model, ask)
    except Exception:  # the server does not report facts, or in another format
        return ServerFacts()


async def _from_model_list(model: str, ask: SendRequest) -> ServerFacts:
    """Facts from the list of models: llama.cpp has `meta.n_ctx`, vLLM `max_model_len`."""
    rows = (await ask("/models"))["data"]
    row = next((row for row in rows if model in (row["id"], *row.get("aliases", ()))), rows[0])
    name = (
        row["id"].replace("\\", "/").rpartition("/")[2]
    )  # llama.cpp reports the full path, which is private
    return ServerFacts(name, (row.get("meta") or {}).get("n_ctx") or row.get("max_model_len"))


async def _ollama(model: str, ask: SendRequest) -> ServerFacts:
    """Facts from Ollama. The window of a loaded model may be smaller than the model's maximum."""
    details = await ask("/api/show", {"model": model})
    loaded = [row for row in (await ask("/api/ps"))["models"] if model in (row["name"], row["model"])]
    lengths = [value for key, value in details["model_info"].items() if key.endswith(".context_length")]
    window = loaded[0].get("context_length") if loaded else None
    return ServerFacts(model, window or (lengths[0] if lengths else None))


async def _lm_studio(model: str, ask: SendRequest) -> ServerFacts:
    row = await ask(f"/api/v0/models/{model}")
    return ServerFacts(row["id"], row.get("loaded_context_length") or row.get("max_context_length"))


_READERS: dict[str, Callable[[str, SendRequest], Awaitable[ServerFacts]]] = {
    "ollama": _ollama,
    "lmstudio": _lm_studio,
}


class ChatDecoder(StreamDecoder):
    """Decodes the chunks of one answer.

    Servers differ, so it tolerates a missing index, arguments as an object, thinking in one of several fields and a
    tool turn that ends with `stop`.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._usage = Usage()
        self._stop = ""
        self._ids: dict[Any, str] = {}
        self._newest: dict[int, Any] = {}
        """Key of the latest call by index, for servers that reuse an index."""
        self._reasoning_field = ""
        self._reasoning_details: list[Json] = []
        self._refusal: list[str] = []

    def feed(self, event: str, data: Json) -> Sequence[Piece]:
        if problem := data.get("error") or (data if data.get("object") == "error" else None):  # older vLLM
            raise self.error(problem, failure.retry_header(problem))
        if data.get("usage"):
            self._usage = _usage(data["usage"])
        if not (choices := data.get("choices")):
            return ()
        choice = choices[0]
        delta = choice.get("delta")
        pieces: list[Piece] = []
        if delta:
            if not _RARE.isdisjoint(delta):
                pieces += self._rare(delta)
            if calls := delta.get("tool_calls"):
                for call in calls:
                    pieces += self._call(call)
            if content := delta.get("content"):
                if type(content) is str:
                    pieces.append(self._turn.text(content))
                else:
                    pieces += self._blocks(content)
        if choice.get("finish_reason"):
            self._stop = choice["finish_reason"]
            self._model = data.get("model") or self._model
        return pieces

    def finish(self) -> Sequence[Piece]:
        """Return the turn when the stream has ended; nothing if there was no finish reason."""
        if not self._stop:
            return ()
        if problem := _FAILURES.get(self._stop):
            raise failure.from_status(self._settings, 500, problem)
        refusal = "".join(self._refusal)
        stop = _STOPS.get(self._stop)
        if refusal and stop is None and not self._turn.has_calls:
            stop = "refusal"
        detail = refusal or (self._stop if stop == "refusal" else "")
        vendor = {self._settings.vendor.name: echo} if (echo := self._echo()) else {}
        usage = self._usage
        return (self._turn.turn(stop=stop, usage=usage, model=self._model, vendor=vendor, detail=detail),)

    def _rare(self, delta: Json) -> Sequence[Piece]:
        for detail in delta.get("reasoning_details") or ():
            _merge(self._reasoning_details, detail)
        for field in _REASONING:
            if isinstance(text := delta.get(field), str):
                self._reasoning_field = field if text else self._reasoning_field or field
                if text:
                    return (self._turn.thinking(text, "thinking"),)
        if refusal := delta.get("refusal"):
            self._refusal.append(refusal)
            return (self._turn.text(refusal),)
        return ()

    def _blocks(self, content: Sequence[Json]) -> Sequence[Piece]:
        """Decode content that is a list, as sent by Mistral's reasoning models."""
        pieces: list[Piece] = []
        for block in content:
            if text := block.get("text"):
                pieces.append(self._turn.text(text))
            for thought in block.get("thinking") or ():
                if text := thought.get("text"):
                    pieces.append(self._turn.thinking(text))
        return pieces

    def _call(self, call: Json) -> Sequence[Piece]:
        function = call.get("function") or {}
        key = self._key(call, bool(function.get("name")))
        pieces: list[Piece] = []
        if key not in self._ids:
            if not call.get("id") and not function.get("name"):
                raise self._disordered()
            call_id = self._ids[key] = str(call.get("id") or f"call_{len(self._ids)}")
            pieces.append(self._turn.start_call(key, call_id, function.get("name") or ""))
        if arguments := function.get("arguments"):
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            pieces.append(self._turn.arguments(key, text))
        return pieces

    def _key(self, call: Json, has_name: bool) -> Any:
        """The key of the call that a fragment belongs to: its index or id; without either, a name starts a new call.

        Some servers send index 0 for every call. There, a name with a new id starts a new call, and fragments
        without a name belong to the latest call with that index.
        """
        index, call_id = call.get("index"), call.get("id")
        if index is not None:
            newest = self._newest.get(index, index)
            if has_name and call_id and self._ids.get(newest, call_id) != call_id:
                newest = next((key for key, other_id in self._ids.items() if other_id == call_id), call_id)
                self._newest[index] = newest
            return newest
        if call_id or not self._ids:
            return call_id or "first"
        return f"unnumbered {len(self._ids)}" if has_name else next(reversed(self._ids))

    def _echo(self) -> Json:
        """The thinking in its original field: some servers refuse a tool turn without it."""
        echo: Json = {}
        if self._reasoning_field:
            echo[self._reasoning_field] = self._turn.part_text("thinking", "thinking")
        if self._reasoning_details:
            echo["reasoning_details"] = self._reasoning_details
        return echo


def _merge(details: list[Json], fragment: Json) -> None:
    """Merge a fragment into the `reasoning_details` entry it continues: Claude refuses split signed thinking."""
    for entry in details:
        ids = {entry.get("id"), fragment.get("id")} - {None}
        if len(ids) < 2 and all(entry.get(field) == fragment.get(field) for field in ("type", "index")):
            joins = {
                field: entry[field] + fragment[field]
                for field in _JOINED
                if entry.get(field) and fragment.get(field)
            }
            entry.update({field: value for field, value in fragment.items() if value is not None} | joins)
            return
    details.append(dict(fragment))


def _usage(counts: Json) -> Usage:
    prompt = counts.get("prompt_tokens_details") or {}
    return Usage(
        input=counts.get("prompt_tokens") or 0,
        cached_read=prompt.get("cached_tokens") or counts.get("prompt_cache_hit_tokens") or 0,
        cached_write=prompt.get("cache_write_tokens") or 0,
        output=counts.get("completion_tokens") or 0,
        reasoning=(counts.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0,
    )


class ChatProvider(StreamingProvider):
    path = "/chat/completions"
    dialect = CHAT
    decoder = ChatDecoder
    optional = (
        OptionalParameter(name="reasoning_effort", refused=r"reasoning_effort|not support thinking"),
        OptionalParameter(name="reasoning", refused=r"\breasoning\b"),
        OptionalParameter(name="thinking", refused=r"\bthinking\b(?! mode)"),
        OptionalParameter(name="temperature"),
        OptionalParameter(name="chat_template_kwargs"),
        OptionalParameter(name="stream_options"),
        OptionalParameter(name="max_tokens", refused=r"max_completion_tokens"),
    )

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.reads_code = self.lean
        self._facts_task: asyncio.Task[ServerFacts] | None = None

    def sampled(self, temperature: float) -> "ChatProvider":
        if not self.lean or "temperature" in self.settings.options:
            return self
        options = {**self.settings.options, "temperature": temperature}
        other = type(self)(replace(self.settings, options=options))
        other._facts_task = self._facts_task
        return other

    async def introduce(self) -> Json | None:
        if not self.settings.is_near:
            return None
        if self._facts_task is None:
            self._facts_task = asyncio.create_task(self._ask())
        facts = await asyncio.shield(self._facts_task)
        self.window = facts.window or self.window
        return asdict(facts)

    async def _ask(self) -> ServerFacts:
        return await ask_server(self.settings, await shared_client(self))

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        return make_client(self.settings, http, without_account())

    def incoming(
        self, request: Request, translation: ToolTranslation
    ) -> Callable[[Sequence[Piece]], Sequence[Piece]]:
        restore = translation.incoming()
        if not request.tools and not request.code:
            return restore
        names = {tool.name for tool in request.tools}
        prefix = f"{len(request.messages)}_"  # ids must differ between turns
        reader = WrittenCalls(
            names,
            lambda call: request.takes(translation.original_call(call)),
            prefix,
            allows_more=self.lean,
            answer=request.answer,
        )
        if request.code is None:
            return lambda pieces: restore(reader.read(pieces))
        blocks = FencedCode(request.code, prefix)
        return lambda pieces: restore(reader.read(blocks.read(pieces)))

    def body(self, request: Request) -> Json:
        settings = self.settings
        body: Json = {
            "model": settings.model,
            "messages": _messages(settings, request),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if settings.max_tokens:
            # OpenAI's models refuse the name that older servers know.
            is_refused = "max_tokens" in request.without
            body["max_completion_tokens" if is_refused else "max_tokens"] = settings.max_tokens
        if self.lean:
            body["temperature"] = TEMPERATURE
        return {**body, **_effort(settings), **settings.options}


def _effort(settings: Settings) -> Json:
    vendor, effort = settings.vendor, settings.effort
    if effort is None:
        return {}
    if effort == "none" and vendor.no_effort_fields is not None:
        return vendor.no_effort_fields
    return _with_effort(vendor.effort_fields, settings.family.effort(effort))


def _with_effort(fields: Json, effort: str) -> Json:
    return {
        key: _with_effort(value, effort)
        if isinstance(value, dict)
        else (effort if value == EFFORT else value)
        for key, value in fields.items()
    }


def _messages(settings: Settings, request: Request) -> list[Json]:
    result: list[Json] = [{"role": "system", "content": request.system}] if request.system else []
    result_images: list[Json] = []
    takes_images = _sends_result_images(settings, request)
    for message in fit_calls(request.messages, settings.family.call_ids):
        if message.role == "assistant":
            _add_user(result, result_images)
            result_images = []
            if message.text or message.tool_calls:
                result.append(_assistant(settings, message))
            continue
        for part in message.parts:
            if isinstance(part, ToolResult):
                result.append({"role": "tool", "tool_call_id": part.call_id, "content": part.text})
                result_images += _result_images(part) if takes_images else []
        if content := _BLOCKS.of_user(message):
            _add_user(result, [*result_images, *content])
            result_images = []
    _add_user(result, result_images)
    return result if settings.family.user_after_results else _with_answers_between(result)


def _add_user(messages: list[Json], content: list[Json]) -> None:
    """Append user content, merged into a preceding user message: some servers refuse two in a row."""
    if content and messages and messages[-1]["role"] == "user":
        before = messages.pop()["content"]
        content = [*([text_block(before)] if isinstance(before, str) else before), *content]
    if content:
        plain = all(block["type"] == "text" for block in content)
        text = "\n".join(block["text"] for block in content) if plain else content
        messages.append({"role": "user", "content": text})


def _with_answers_between(messages: list[Json]) -> list[Json]:
    result: list[Json] = []
    for message in messages:
        if message["role"] == "user" and result and result[-1]["role"] == "tool":
            result.append({"role": "assistant", "content": _BETWEEN_TEXT})
        result.append(message)
    return result


def _assistant(settings: Settings, message: Message) -> Json:
    result: Json = {"role": "assistant", "content": message.text or None}
    if message.tool_calls:
        result |= {"tool_calls": [_call(call) for call in message.tool_calls], **settings.vendor.call_fields}
    return {**result, **message.vendor.get(settings.vendor.name, {})}


def _call(call: ToolCall) -> Json:
    """Encode a call, with valid JSON even if the model's was not: vLLM and llama.cpp refuse invalid JSON."""
    function = {"name": call.name, "arguments": valid_arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _sends_result_images(settings: Settings, request: Request) -> bool:
    """Whether to send images of tool results: to a local model, which may refuse images, only if the user sent one."""
    has_user_image = any(isinstance(part, Image) for message in request.messages for part in message.parts)
    return settings.vendor.images and (has_user_image or not settings.vendor.local)


def _result_images(result: ToolResult) -> list[Json]:
    """Images of a result for a following user message, because tool messages contain only text here."""
    if not result.images:
        return []
    return [text_block(f"The images of {result.name} ({result.call_id}):"), *map(_image, result.images)]


def _image(image: Image) -> Json:
    return {"type": "image_url", "image_url": {"url": data_url(image, *IMAGE_LIMITS), "detail": "auto"}}


_BLOCKS = Blocks(text=text_block, image=_image, call=_call)


def _tool(tool: ToolSpec) -> Json:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}
