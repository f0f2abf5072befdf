"""Anthropic's Messages API.

Thinking blocks are signed and must be sent back unchanged, so each message stores the blocks of its answer.
"""

import hashlib
import inspect
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.wire import Json
from agent_nb.core.errors import ProviderError
from agent_nb.core.events import Stop
from agent_nb.core.messages import Document, Image, Message, ToolCall, ToolResult, ToolSpec, Usage
from agent_nb.images.convert import fit_image
from agent_nb.providers import failure
from agent_nb.providers.base import OptionalParameter, Piece, Request, UsagePiece
from agent_nb.providers.parts import Blocks, arguments_object, fit_calls, text_block
from agent_nb.providers.settings import Settings
from agent_nb.providers.streaming import StreamDecoder, StreamingProvider
from agent_nb.providers.tool_schemas import ANTHROPIC

_THINKING_TYPES = ("thinking", "redacted_thinking")
_BOUND_TOOL_FIELDS = ("name", "description", "input_schema")
CALL_ID = r"[a-zA-Z0-9_-]+"
MAX_TOKENS = 32_000
"""The API requires a limit; this is the default for models without one in the table."""
IMAGE_LIMITS = (2000, 3_700_000)
"""Longest edge in pixels, and bytes: the API allows 5 MB after base64."""
_BROWSER_HEADERS = {"anthropic-dangerous-direct-browser-access": "true"}
"""Required for requests from web pages, which could leak their author's key. Here the key is the user's own."""
_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16_384, "xhigh": 24_576, "max": 30_000}
_CACHED: Json = {"type": "ephemeral"}
_FIRST_USER_TEXT = "(The conversation begins.)"
"""Inserted before a conversation that begins with an answer: the first message must be the user's."""
VENDOR = "anthropic"
PREFIX = "anthropic_prefix"
"""Vendor data key for the digest of the request that a message answers."""
_STOPS: dict[str, Stop] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
    "pause_turn": "go_on",
}


class Prefix:
    """Incremental digest of a request, without cache markers and optional tool fields.

    Newer models bind each thinking block to everything sent before it: system text, tools and messages. With a
    different prefix the block is refused, so each answer stores a digest of its request, and its thinking is omitted
    if the digest no longer matches. https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
    """

    def __init__(self, system: str, tools: Sequence[Json]) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self._messages = 0
        self._add([system, [[tool[key] for key in _BOUND_TOOL_FIELDS] for tool in tools]])

    @classmethod
    def of(cls, body: Json) -> str:
        """The digest of a whole request body, to which the thinking of its answer is bound."""
        system = "".join(block["text"] for block in body.get("system", ()))
        return cls(system, body.get("tools", ())).digest_after(body["messages"])

    def digest_after(self, messages: Sequence[Json]) -> str:
        """The digest up to and including these messages. Each call must extend the messages of the previous one."""
        for message in messages[self._messages :]:
            self._add(message)
        self._messages = len(messages)
        return self._hash.hexdigest()

    def _add(self, value: object) -> None:
        self._hash.update(json.dumps(value, sort_keys=True).encode())


def is_thinking(block: Json) -> bool:
    return block.get("type") in _THINKING_TYPES


def began_without_thinking(messages: Sequence[Json]) -> bool:
    """Whether tool results continue a turn begun without thinking, where models with a budget refuse to think."""
    turn: list[Json] = []
    for message in messages:
        if message["role"] == "assistant":
            turn.append(message)
        elif any(block["type"] != "tool_result" for block in message["content"]):
            turn.clear()
    return bool(turn) and not is_thinking(turn[0]["content"][0])


if TYPE_CHECKING:
    import httpx2


class AnthropicMessagesDecoder(StreamDecoder):
    status_of: ClassVar = {
        "invalid_request_error": 400,
        "authentication_error": 401,
        "billing_error": 402,
        "permission_error": 403,
        "not_found_error": 404,
        "request_too_large": 413,
        "rate_limit_error": 429,
        "timeout_error": 504,
        "overloaded_error": 529,
    }

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._blocks: dict[int, Json] = {}
        self._open: set[int] = set()
        self._calls: set[int] = set()
        self._server_inputs: dict[int, list[str]] = {}
        """The input of calls that the vendor runs itself."""
        self._counts: Json = {}
        self._stop = ""
        self._detail = ""

    def feed(self, event: str, data: Json) -> Sequence[Piece]:
        kind = data.get("type") or event
        if kind == "content_block_delta":
            return self._delta(data["index"], data["delta"])
        match kind:
            case "content_block_start":
                return self._start(data["index"], data["content_block"])
            case "content_block_stop":
                self._open.discard(data["index"])
            case "message_start":
                self._model = data["message"].get("model") or self._model
                return self._update_usage(data["message"].get("usage"))
            case "message_delta":
                delta = data.get("delta") or {}
                self._stop = delta.get("stop_reason") or self._stop or "end_turn"
                self._detail = _detail(delta.get("stop_details")) or self._detail
                return self._update_usage(data.get("usage"))
            case "message_stop" if self._stop:
                return self._finished()
            case "message_stop":  # the reason and the counts are lost
                raise self._disordered()
            case "error":
                raise self.error(data.get("error") or {})
        return ()

    def _start(self, index: int, block: Json) -> Sequence[Piece]:
        if index in self._open:
            raise self._disordered()
        self._open.add(index)
        self._blocks[index] = dict(block)
        match block["type"]:
            case "tool_use":
                self._calls.add(index)
                start = self._turn.start_call(index, block["id"], block["name"])
                if not block.get("input"):
                    return (start,)
                return start, self._turn.arguments(index, json.dumps(block["input"], ensure_ascii=False))
            case "text" if block.get("text"):
                return (self._turn.text(block["text"], index),)
            case "thinking" if block.get("thinking"):
                return (self._turn.thinking(block["thinking"], index),)
        return ()

    def _delta(self, index: int, delta: Json) -> Sequence[Piece]:
        if index not in self._open:
            raise self._disordered()
        kind = delta["type"]
        if kind == "input_json_delta":
            text = delta["partial_json"]
            if index not in self._calls:
                self._server_inputs.setdefault(index, []).append(text)
                return ()
            return (self._turn.arguments(index, text),) if text else ()
        if kind == "text_delta":
            return (self._turn.text(delta["text"], index),)
        if kind == "thinking_delta":
            return (self._turn.thinking(delta["thinking"], index),)
        if kind == "signature_delta":
            self._blocks[index]["signature"] = delta["signature"]  # replaces, does not append
        elif kind == "citations_delta":
            block, citation = self._blocks[index], delta.get("citation") or {}
            block["citations"] = [*(block.get("citations") or []), citation]
            self._turn.cite(citation)
        return ()

    def _update_usage(self, usage: Json | None) -> Sequence[Piece]:
        """Update the counts, which are cumulative; missing ones keep their last value."""
        if not usage:
            return ()
        self._counts.update({key: value for key, value in usage.items() if value is not None})
        return (UsagePiece(_usage(self._counts)),)

    def _finished(self) -> Sequence[Piece]:
        blocks = [self._complete(index) for index in sorted(self._blocks)]
        echo = [block for block in blocks if block.get("type") != "text" or block["text"].strip()]
        vendor: Json = {VENDOR: echo}
        if self._settings.family.bound_thinking and any(map(is_thinking, echo)):
            vendor[PREFIX] = Prefix.of(self._body)
        return (
            self._turn.turn(
                stop=_STOPS.get(self._stop),
                usage=_usage(self._counts),
                model=self._model,
                vendor=vendor,
                detail=self._detail,
            ),
        )

    def _complete(self, index: int) -> Json:
        """The block to send back. Arguments are added when sending, so that a page is not in memory twice."""
        block = self._blocks[index]
        kind = block.get("type")
        if index in self._server_inputs:
            return {**block, "input": arguments_object("".join(self._server_inputs[index]))}
        return {**block, kind: self._turn.part_text(kind, index)} if kind in ("text", "thinking") else block


def _usage(counts: Json) -> Usage:
    cache_read = counts.get("cache_read_input_tokens", 0)
    cache_write = counts.get("cache_creation_input_tokens", 0)
    return Usage(
        input=counts.get("input_tokens", 0) + cache_read + cache_write,
        cached_read=cache_read,
        cached_write=cache_write,
        output=counts.get("output_tokens", 0),
        reasoning=(counts.get("output_tokens_details") or {}).get("thinking_tokens") or 0,
    )


def _detail(stop_details: Json | None) -> str:
    details = stop_details or {}
    return str(details.get("explanation") or details.get("category") or "")


class AnthropicMessagesProvider(StreamingProvider):
    path = "/v1/messages"
    dialect = ANTHROPIC
    decoder = AnthropicMessagesDecoder
    optional = (
        OptionalParameter(
            name="thinking",
            refused=r"\bthinking[.:]|thinking is not supported|not support \S*thinking|`thinking` is enabled",
        ),
        OptionalParameter(name="effort", path="output_config.effort", refused=r"\beffort\b|output_config"),
        OptionalParameter(name="cache_control", path="*.cache_control"),
        OptionalParameter(name="eager_input_streaming", path="*.eager_input_streaming"),
    )

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        import anthropic

        is_token = self.settings.key_variable == "ANTHROPIC_AUTH_TOKEN"
        key: Json = {"auth_token" if is_token else "api_key": self.settings.api_key}
        return anthropic.AsyncAnthropic(**key, **self.client_arguments(http))

    def client_arguments(self, http: "httpx2.AsyncClient") -> Json:
        """The arguments of a client besides its credentials."""
        import anthropic

        settings = self.settings
        # `agent_nb.tracing` creates a span per turn; the usage would be counted twice. Older SDKs create no spans.
        has_spans = "open_telemetry" in inspect.signature(anthropic.AsyncAnthropic).parameters
        return {
            "base_url": settings.base_url.removesuffix("/v1") if settings.base_url else None,
            "http_client": http,
            "max_retries": 0,
            **({"open_telemetry": False} if has_spans else {}),
            "default_headers": {**(_BROWSER_HEADERS if IN_BROWSER else {}), **settings.headers},
        }

    def body(self, request: Request) -> Json:
        settings, family = self.settings, self.settings.family
        max_tokens = settings.max_tokens or family.max_output or MAX_TOKENS
        tools = [_tool(tool) for tool in request.tools]
        prefix = Prefix(request.system, tools) if family.bound_thinking else None
        messages = _messages(request.messages, prefix)
        body: Json = {
            "model": settings.model,
            "max_tokens": max_tokens,
            "stream": True,
            "messages": messages,
            "cache_control": _CACHED,
            **_thinking(settings, max_tokens, messages),
        }
        if request.system:
            body["system"] = [{**text_block(request.system), "cache_control": _CACHED}]
        if tools:
            body["tools"] = tools
        return {**body, **settings.options}

    def error(self, exc: Exception) -> ProviderError:
        import anthropic

        if isinstance(exc, getattr(anthropic, "CredentialsError", ())):
            return failure.from_status(self.settings, 401, str(exc))
        return super().error(exc)


def _thinking(settings: Settings, max_tokens: int, messages: Sequence[Json]) -> Json:
    family, effort = settings.family, settings.effort
    if effort == "none" and family.thinking_off:
        return {"thinking": {"type": family.thinking_off}}
    match family.thinking:
        case "adaptive":
            config = {"output_config": {"effort": family.effort(effort)}} if effort else {}
            return {"thinking": {"type": "adaptive", "display": "summarized"}, **config}
        case "budget":
            budget = min(_BUDGETS[effort or "medium"], max_tokens - 1024)
            if budget < 1024 or began_without_thinking(messages):
                return {}
            return {"thinking": {"type": "enabled", "budget_tokens": budget}}
        case _:
            return {}


def _messages(messages: Sequence[Message], prefix: Prefix | None) -> list[Json]:
    result: list[Json] = []
    after_tools = False
    for message in fit_calls(messages, CALL_ID):
        if message.role == "assistant":
            digest = prefix.digest_after(result) if prefix else None
            role, content = "assistant", _assistant(message, digest)
        else:
            role, content = "user", _BLOCKS.of_user(message)
        if not content:
            continue
        if not result and role == "assistant":
            result.append({"role": "user", "content": [text_block(_FIRST_USER_TEXT)]})
        if message.role == "tool" and after_tools:
            result[-1]["content"] += content
        else:
            result.append({"role": role, "content": content})
        after_tools = message.role == "tool"
    return result


def _assistant(message: Message, digest: str | None) -> list[Json]:
    """The blocks of an earlier answer. `digest` covers everything before it; None if thinking is not bound."""
    if VENDOR not in message.vendor:
        return _BLOCKS.of_model(message)
    calls = iter(message.tool_calls)
    blocks: list[Json] = [
        {**block, **_call(call)} if block["type"] == "tool_use" and (call := next(calls, None)) else block
        for block in message.vendor[VENDOR]
    ]
    is_bound_elsewhere = digest is not None and digest != message.vendor.get(PREFIX)
    if is_bound_elsewhere or (blocks and is_thinking(blocks[-1])):  # a message may not end in thinking
        return [block for block in blocks if not is_thinking(block)]
    return blocks


def _call(call: ToolCall) -> Json:
    arguments = arguments_object(call.arguments)
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _result(part: ToolResult) -> Json:
    # Only texts are accepted in an error, so a failed result with images is marked as one by its text alone.
    is_error = not part.ok and not part.images
    result: Json = {"type": "tool_result", "tool_use_id": part.call_id, "is_error": is_error}
    content: list[Json] = [text_block(part.text)] if part.text.strip() else []
    content += map(_image, part.images)
    return {**result, "content": content} if content else result  # an empty list is refused


def _image(image: Image) -> Json:
    fitted = fit_image(image, *IMAGE_LIMITS)
    source = {"type": "base64", "media_type": fitted.media_type, "data": fitted.base64}
    return {"type": "image", "source": source}


def _document(document: Document) -> Json:
    source = {"type": "base64", "media_type": document.media_type, "data": document.base64}
    return {"type": "document", "source": source, "title": document.name}


_BLOCKS = Blocks(text=text_block, image=_image, document=_document, call=_call, result=_result)


def _tool(tool: ToolSpec) -> Json:
    schema = {"input_schema": tool.schema, "eager_input_streaming": True}
    return {"name": tool.name, "description": tool.description, **schema}
