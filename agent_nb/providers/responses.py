"""OpenAI's Responses API, stateless: nothing is stored there, and encrypted reasoning is sent back each turn."""

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agent_nb._base.wire import Json
from agent_nb.errors import ProviderError
from agent_nb.events import Stop
from agent_nb.messages import Image, Message, Part, Source, Text, ToolCall, ToolResult, ToolSpec, Usage
from agent_nb.providers import failure
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import Piece, Request
from agent_nb.providers.dialects import OPENAI
from agent_nb.providers.optional import OptionalParameter
from agent_nb.providers.pairing import fit_calls
from agent_nb.providers.parts import data_url, source_text, valid_arguments
from agent_nb.providers.settings import Settings
from agent_nb.providers.streaming import Decoder, StreamingProvider
from agent_nb.providers.strict import strict_schema

if TYPE_CHECKING:
    import httpx2

VENDOR = "openai"
IMAGE_LIMITS = (2048, 8_000_000)
CALL_ID = r".{1,64}"
"""The ids of calls that are accepted; two calls may have the same."""

_INCOMPLETE: dict[str, Stop] = {
    "max_output_tokens": "max_tokens",
    "max_messages": "max_tokens",
    "content_filter": "refusal",
    "steered": "go_on",
}
_RETRYABLE_CODES = {
    "server_is_overloaded": 503,
    "slow_down": 503,
    "server_error": 500,
}
_POLICY = re.compile(r"policy|content_filter|safety", re.IGNORECASE)


class ResponsesProvider(StreamingProvider):
    dialect = OPENAI
    optional = (
        # Refused for organisations that are not verified, whatever the model.
        OptionalParameter(
            name="reasoning.summary", refused=r"reasoning\.(generate_)?summary|reasoning summaries"
        ),
        OptionalParameter(name="reasoning.effort", refused=r"reasoning\.effort"),
        OptionalParameter(name="reasoning", refused=r"parameter:? '?reasoning'?(?![.\w])"),
        OptionalParameter(name="include", refused=r"\binclude\b|encrypted content is not supported"),
        OptionalParameter(name="parallel_tool_calls", refused=r"parallel_tool_calls"),
        OptionalParameter(name="stream_options", refused=r"stream_options|include_obfuscation"),
    )

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        return make_client(self.settings, http).responses.with_streaming_response

    def body(self, request: Request) -> Json:
        return _body(self.settings, request)

    def open(self, client: Any, body: Json) -> Any:
        return client.create(**body)

    def decoder(self, body: Json) -> Decoder:
        return _Decoder(self.settings)

    def error(self, exc: Exception) -> ProviderError:
        return sdk_error(self.settings, exc)


def make_client(settings: Settings, http: "httpx2.AsyncClient") -> Any:
    """The SDK's client on the shared HTTP client, without retries."""
    import openai

    return openai.AsyncOpenAI(
        api_key=settings.api_key,
        base_url=settings.base_url,
        http_client=http,
        max_retries=0,
        default_headers=dict(settings.headers),
    )


def _body(settings: Settings, request: Request) -> Json:
    family = settings.family
    body: Json = {
        "model": settings.model,
        "stream": True,
        "store": False,
        **({"include": ["reasoning.encrypted_content"]} if family.encrypted_reasoning else {}),
        "input": _messages(request.messages, family.echoes_reasoning),
        "stream_options": {"include_obfuscation": False},
    }
    if request.system:
        body["instructions"] = request.system
    if request.tools:
        body["tools"] = _tools(request.tools)
        body["parallel_tool_calls"] = True
    if reasoning := _reasoning(settings):
        body["reasoning"] = reasoning
    if settings.max_tokens:
        body["max_output_tokens"] = settings.max_tokens
    if settings.options:
        body["extra_body"] = dict(settings.options)
    return body


def _reasoning(settings: Settings) -> Json:
    family = settings.family
    if not family.efforts:
        return {}
    effort = {"effort": family.effort(settings.effort)} if settings.effort else {}
    return {**({"summary": "auto"} if family.summaries else {}), **effort}


def _messages(messages: Sequence[Message], echoes_reasoning: bool) -> list[Json]:
    items: list[Json] = []
    for message in fit_calls(messages, CALL_ID, unique=False):
        if message.role == "assistant":
            items += _echoed(message, echoes_reasoning) if VENDOR in message.vendor else _rebuilt(message)
            continue
        items += [_result(part) for part in message.parts if isinstance(part, ToolResult)]
        content = [block for part in message.parts for block in _user_blocks(part)]
        if content:
            items.append({"role": "user", "content": content})
    return items


def _rebuilt(message: Message) -> list[Json]:
    items: list[Json] = []
    for part in message.parts:
        if isinstance(part, Text):
            content = [{"type": "output_text", "text": part.text}]
            items.append({"type": "message", "role": "assistant", "content": content})
        elif isinstance(part, ToolCall):
            items.append(_call(part))
    return items


def _call(call: ToolCall) -> Json:
    arguments = valid_arguments(call.arguments)
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}


def _echoed(message: Message, echoes_reasoning: bool) -> list[Json]:
    """The items of an earlier answer, without what cannot stand alone.

    Reasoning is refused without the item it led to, and an item with an id without the reasoning it came after.
    An answer that was cut may lack the item of a call.
    """
    calls = {call.id: call for call in message.tool_calls}
    items: list[Json] = []
    waiting: list[Json] = []
    lost = False
    for item in message.vendor[VENDOR]:
        if item.get("type") == "reasoning":
            waiting.append(item)
            continue
        sent = dict(item)
        if item.get("type") == "function_call":
            if item["call_id"] not in calls:
                continue
            sent |= _call(calls.pop(item["call_id"]))
        kept = [each for each in waiting if echoes_reasoning and each.get("encrypted_content")]
        lost = lost or len(kept) < len(waiting)
        if lost:
            sent.pop("id", None)
        items += [*kept, sent]
        waiting.clear()
    return [*items, *map(_call, calls.values())]


def _user_blocks(part: Part) -> list[Json]:
    match part:
        case Text(text):
            return [{"type": "input_text", "text": text}]
        case Image():
            return [_image(part)]
        case Source():
            return [{"type": "input_text", "text": source_text(part)}]
        case _:
            return []


def _result(result: ToolResult) -> Json:
    output: str | list[Json] = result.text
    if result.images:
        text = [{"type": "input_text", "text": result.text}] if result.text else []
        output = [*text, *(_image(image) for image in result.images)]
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}


def _image(image: Image) -> Json:
    return {"type": "input_image", "detail": "auto", "image_url": data_url(image, *IMAGE_LIMITS)}


def _tools(tools: Sequence[ToolSpec]) -> list[Json]:
    sent: list[Json] = []
    for tool in tools:
        strict = strict_schema(tool.schema)
        schema = {"parameters": strict or tool.schema, "strict": strict is not None}
        sent.append({"type": "function", "name": tool.name, "description": tool.description, **schema})
    return sent


class _Decoder:
    """Decodes the events of one answer, keyed by `output_index`: only items carry the names of calls."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._turn = Assembler()
        self._added: set[int] = set()
        self._items: dict[int, Json] = {}
        self._refusal: list[str] = []

    def feed(self, event: str, data: Json) -> Sequence[Piece]:
        kind = data.get("type") or event
        if kind == "response.function_call_arguments.delta":
            return (self._turn.arguments(data["output_index"], data["delta"]),)
        if kind == "response.output_text.delta":
            return (self._turn.text(data["delta"], data["output_index"]),)
        if kind in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            return (self._turn.thinking(data["delta"], data["output_index"]),)
        return self._rare(kind, data)

    def finish(self) -> Sequence[Piece]:
        return ()

    def _rare(self, kind: str, data: Json) -> Sequence[Piece]:
        match kind:
            case "response.output_item.added":
                self._added.add(data["output_index"])
                return self._started(data["output_index"], data["item"])
            case "response.output_item.done":
                index, item = data["output_index"], data["item"]
                pieces = self._started(index, item)
                self._check_arguments(index, item)
                # `_echoed` takes the arguments from the call: a page need not be in memory twice.
                self._items[index] = {**item, "arguments": ""} if "arguments" in item else item
                return pieces
            case "response.reasoning_summary_part.added" if data.get("summary_index"):
                return (self._turn.thinking("\n\n", data["output_index"]),)
            case "response.refusal.delta":
                self._refusal.append(data["delta"])
                return (self._turn.text(data["delta"], data["output_index"]),)
            case "response.output_text.annotation.added":
                self._cite(data.get("annotation") or {})
            case "response.completed" | "response.incomplete":
                return self._finished(data["response"])
            case "response.failed":
                return self._failed(data["response"])
            case "error":
                raise _event_error(self._settings, data.get("error") or data)
        if kind == "" and "error" in data:
            raise _event_error(self._settings, data["error"])
        return ()

    def _started(self, index: int, item: Json) -> Sequence[Piece]:
        """A call starts with its item, which also has the arguments if the server sends no deltas."""
        if item.get("type") != "function_call":
            return ()
        pieces: list[Piece] = []
        if not self._turn.has_call(index):
            pieces.append(self._turn.start_call(index, item["call_id"], item["name"]))
        if item.get("arguments") and not self._turn.has_arguments(index):
            pieces.append(self._turn.arguments(index, item["arguments"]))
        return pieces

    def _check_arguments(self, index: int, item: Json) -> None:
        """A finished call repeats its arguments: deltas that say something else came twice or in another order."""
        if item.get("type") == "function_call" and item.get("arguments"):
            deltas = self._turn.joined("call", index)
            if deltas != item["arguments"] and not _same_json(deltas, item["arguments"]):
                raise failure.disordered(self._settings)

    def _cite(self, annotation: Json) -> None:
        if url := annotation.get("url"):
            self._turn.source(Source(annotation.get("title") or url, url))

    def _finished(self, response: Json, stop: Stop | None = None, detail: str = "") -> Sequence[Piece]:
        refusal = "".join(self._refusal)
        incomplete = (response.get("incomplete_details") or {}).get("reason")
        if stop is None and not incomplete and self._items and self._added - self._items.keys():
            raise failure.disordered(self._settings)
        if stop is None and incomplete:
            stop = _INCOMPLETE.get(incomplete, "max_tokens")
            detail = incomplete if stop == "refusal" else ""
        if stop is None:
            stop = "tool_use" if self._turn.has_calls else ("refusal" if refusal else "end_turn")
        items = [self._items[index] for index in sorted(self._items)] or response.get("output") or []
        return (
            self._turn.turn(
                stop=stop,
                usage=_usage(response.get("usage") or {}),
                model=response.get("model") or self._settings.model,
                vendor={VENDOR: items},
                detail=refusal or detail,
            ),
        )

    def _failed(self, response: Json) -> Sequence[Piece]:
        problem = response.get("error") or {}
        if _POLICY.search(str(problem.get("code"))):
            return self._finished(response, "refusal", str(problem.get("message") or problem["code"]))
        raise _event_error(self._settings, problem)


def _same_json(one: str, other: str) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def _usage(counts: Json) -> Usage:
    cached = counts.get("input_tokens_details") or {}
    return Usage(
        input=counts.get("input_tokens") or 0,
        cached_read=cached.get("cached_tokens") or 0,
        cached_write=cached.get("cache_write_tokens") or 0,
        output=counts.get("output_tokens") or 0,
        reasoning=(counts.get("output_tokens_details") or {}).get("reasoning_tokens") or 0,
    )


def _event_error(settings: Settings, problem: Json) -> ProviderError:
    """An error inside the stream has a code and no status; an unknown code counts as a bad request."""
    code = str(problem.get("code") or "server_error")
    status = int(code) if code.isdigit() else _RETRYABLE_CODES.get(code, 400)
    return failure.from_status(settings, status, str(problem.get("message") or code), body=problem)


def sdk_error(settings: Settings, exc: Exception) -> ProviderError:
    """Also for Chat Completions and images, which use the same SDK."""
    import httpx2
    import openai

    match exc:
        case openai.APIStatusError():
            message = failure.message_in(exc.body) or exc.message
            headers = exc.response.headers
            return failure.from_status(settings, exc.status_code, message, headers=headers, body=exc.body)
        case openai.APIConnectionError():
            return failure.from_network(settings, exc.__cause__ or exc)
        case httpx2.HTTPError() | httpx2.InvalidURL() | httpx2.StreamError():
            return failure.from_network(settings, exc)
        case _:
            return failure.unexpected(settings, exc)
