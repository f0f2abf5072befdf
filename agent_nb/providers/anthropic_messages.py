"""Anthropic's Messages API.

Thinking blocks carry signatures and must be sent back unchanged, so the blocks of each answer are kept on
its message and echoed in order.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.wire import Json
from agent_nb.errors import ProviderError
from agent_nb.images.convert import fit_image
from agent_nb.messages import Image, Message, ToolCall, ToolResult, ToolSpec
from agent_nb.providers import failure
from agent_nb.providers.anthropic_messages_decoder import PREFIX, VENDOR, AnthropicMessagesDecoder
from agent_nb.providers.base import Request
from agent_nb.providers.dialects import ANTHROPIC
from agent_nb.providers.optional import OptionalParameter
from agent_nb.providers.pairing import fit_calls
from agent_nb.providers.parts import Blocks, arguments_object, base64_of
from agent_nb.providers.preserved import Prefix, began_without_thinking, is_thinking, without_thinking
from agent_nb.providers.settings import Settings
from agent_nb.providers.streaming import StreamingProvider

if TYPE_CHECKING:
    import httpx2

CALL_ID = r"[a-zA-Z0-9_-]+"
MAX_TOKENS = 32_000
"""The API requires a limit; this is the default for models without one in the table."""
IMAGE_LIMITS = (2000, 3_700_000)
"""Longest edge in pixels, and bytes: the API allows 5 MB after base64."""

_FROM_A_BROWSER = {"anthropic-dangerous-direct-browser-access": "true"}
"""Without it, Anthropic refuses requests of web pages, whose readers could find out an author's key. Here the reader's
own key is used.
"""
_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16_384, "xhigh": 24_576, "max": 30_000}
"""Thinking tokens for models without adaptive thinking."""
_CACHED: Json = {"type": "ephemeral"}
_BEGINNING = "(The conversation begins.)"
"""Stands before a conversation that begins with an answer, because the first message must be the user's."""


class AnthropicMessagesProvider(StreamingProvider):
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

        settings = self.settings
        is_token = settings.key_variable == "ANTHROPIC_AUTH_TOKEN"
        client = anthropic.AsyncAnthropic(
            **{"auth_token" if is_token else "api_key": settings.api_key},  # type: ignore[arg-type]
            base_url=settings.base_url.removesuffix("/v1") if settings.base_url else None,
            http_client=http,
            max_retries=0,
            open_telemetry=False,  # `agent_nb.tracing` has a span for each turn, and it would be counted twice
            default_headers={**(_FROM_A_BROWSER if IN_BROWSER else {}), **settings.headers},
        )
        return client.messages.with_streaming_response

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
            body["system"] = [{**_text(request.system), "cache_control": _CACHED}]
        if tools:
            body["tools"] = tools
        if settings.options:
            body["extra_body"] = dict(settings.options)
        return body

    def error(self, exc: Exception) -> ProviderError:
        import anthropic

        if isinstance(exc, anthropic.CredentialsError):
            return failure.from_status(self.settings, 401, str(exc))
        return super().error(exc)


def _thinking(settings: Settings, max_tokens: int, messages: Sequence[Json]) -> Json:
    """The thinking and effort parameters, in the form that the model takes."""
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
    sent: list[Json] = []
    after_tools = False
    for message in fit_calls(messages, CALL_ID):
        if message.role == "assistant":
            digest = prefix.digest_after(sent) if prefix else None
            role, content = "assistant", _assistant(message, digest)
        else:
            role, content = "user", _BLOCKS.of_user(message)
        if not content:
            continue
        if not sent and role == "assistant":
            sent.append({"role": "user", "content": [_text(_BEGINNING)]})
        if message.role == "tool" and after_tools:
            sent[-1]["content"] += content
        else:
            sent.append({"role": role, "content": content})
        after_tools = message.role == "tool"
    return sent


def _assistant(message: Message, digest: str | None) -> list[Json]:
    """The blocks of an earlier answer; `digest` is that of what is sent before it, if its thinking is bound to that."""
    if VENDOR not in message.vendor:
        return _BLOCKS.of_model(message)
    calls = iter(message.tool_calls)
    blocks: list[Json] = [
        _with_arguments(block, next(calls, None)) if block["type"] == "tool_use" else block
        for block in message.vendor[VENDOR]
    ]
    is_bound_elsewhere = digest is not None and digest != message.vendor.get(PREFIX)
    if is_bound_elsewhere or (blocks and is_thinking(blocks[-1])):  # a message may not end in thinking
        return without_thinking(blocks)
    return blocks


def _with_arguments(block: Json, call: ToolCall | None) -> Json:
    return {**block, "id": call.id, "input": arguments_object(call.arguments)} if call else block


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _call(call: ToolCall) -> Json:
    arguments = arguments_object(call.arguments)
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _result(part: ToolResult) -> Json:
    result: Json = {"type": "tool_result", "tool_use_id": part.call_id, "is_error": not part.ok}
    content: list[Json] = [_text(part.text)] if part.text.strip() else []
    content += map(_image, part.images)
    return {**result, "content": content} if content else result  # an empty list is refused


def _image(image: Image) -> Json:
    fitted = fit_image(image, *IMAGE_LIMITS)
    source = {"type": "base64", "media_type": fitted.media_type, "data": base64_of(fitted)}
    return {"type": "image", "source": source}


_BLOCKS = Blocks(text=_text, image=_image, call=_call, result=_result)


def _tool(tool: ToolSpec) -> Json:
    schema = {"input_schema": tool.schema, "eager_input_streaming": True}
    return {"name": tool.name, "description": tool.description, **schema}
