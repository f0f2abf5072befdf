"""OpenAI-compatible Chat Completions: OpenRouter, DeepSeek, Ollama, LM Studio, vLLM, llama.cpp and any other."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from agent_nb._base.wire import Json
from agent_nb.messages import Image, Message, ToolCall, ToolResult, ToolSpec
from agent_nb.providers.base import Piece, Request
from agent_nb.providers.chat_decoder import ChatDecoder
from agent_nb.providers.dialects import CHAT
from agent_nb.providers.http import shared_client
from agent_nb.providers.offered import Offered
from agent_nb.providers.optional import OptionalParameter
from agent_nb.providers.pairing import fit_calls
from agent_nb.providers.parts import Blocks, data_url, valid_arguments
from agent_nb.providers.responses import make_client
from agent_nb.providers.server_facts import ServerFacts, ask_server
from agent_nb.providers.settings import Settings
from agent_nb.providers.streaming import StreamingProvider
from agent_nb.providers.vendors import EFFORT
from agent_nb.providers.written_calls import WrittenCalls

if TYPE_CHECKING:
    import httpx2

IMAGE_LIMITS = (2048, 5_000_000)
_BETWEEN = "I have the results."
"""What the model says between results and a user message, where the two must not be neighbours."""


class ChatProvider(StreamingProvider):
    dialect = CHAT
    decoder = ChatDecoder
    optional = (
        OptionalParameter(
            name="reasoning_effort",
            path="extra_body.reasoning_effort",
            refused=r"reasoning_effort|not support thinking",
        ),
        OptionalParameter(name="reasoning", path="extra_body.reasoning", refused=r"\breasoning\b"),
        OptionalParameter(name="thinking", path="extra_body.thinking", refused=r"\bthinking\b(?! mode)"),
        OptionalParameter(name="chat_template_kwargs", path="extra_body.chat_template_kwargs"),
        OptionalParameter(name="stream_options"),
    )

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._asking: asyncio.Task[ServerFacts] | None = None

    async def introduce(self) -> Json | None:
        if not self.settings.is_near:
            return None
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask())
        facts = await asyncio.shield(self._asking)
        self.window = facts.window or self.window
        return facts.as_setting()

    async def _ask(self) -> ServerFacts:
        return await ask_server(self.settings, await shared_client(self))

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        import openai

        # The SDK reads OpenAI's organization and project from the environment; other servers must not get them.
        headers: Json = {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}
        return make_client(self.settings, http, headers).chat.completions.with_streaming_response

    def incoming(self, request: Request, offered: Offered) -> Callable[[Sequence[Piece]], Sequence[Piece]]:
        restored = offered.incoming()
        if not request.tools:
            return restored
        names = {tool.name for tool in request.tools}
        prefix = f"{len(request.messages)}_"  # ids differ from turn to turn
        written = WrittenCalls(names, lambda call, text: request.takes(offered.own(call), text), prefix)
        return lambda pieces: restored(written.read(pieces))

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
    for message in fit_calls(request.messages, settings.family.call_ids):
        if message.role == "assistant":
            _add_user(sent, result_images)
            result_images = []
            if message.text or message.tool_calls:
                sent.append(_assistant(settings, message))
            continue
        for part in message.parts:
            if isinstance(part, ToolResult):
                sent.append({"role": "tool", "tool_call_id": part.call_id, "content": part.text})
                result_images += _result_images(part) if takes_images else []
        if content := _BLOCKS.of_user(message):
            _add_user(sent, [*result_images, *content])
            result_images = []
    _add_user(sent, result_images)
    return sent if settings.family.user_after_results else _with_answers_between(sent)


def _add_user(sent: list[Json], content: list[Json]) -> None:
    """Adds to what the user says. Some servers refuse two user messages in a row, so there is only one."""
    if content and sent and sent[-1]["role"] == "user":
        before = sent.pop()["content"]
        content = [*([_text(before)] if isinstance(before, str) else before), *content]
    if content:
        plain = all(block["type"] == "text" for block in content)
        text = "\n".join(block["text"] for block in content) if plain else content
        sent.append({"role": "user", "content": text})


def _with_answers_between(messages: list[Json]) -> list[Json]:
    sent: list[Json] = []
    for message in messages:
        if message["role"] == "user" and sent and sent[-1]["role"] == "tool":
            sent.append({"role": "assistant", "content": _BETWEEN})
        sent.append(message)
    return sent


def _assistant(settings: Settings, message: Message) -> Json:
    sent: Json = {"role": "assistant", "content": message.text or None}
    if message.tool_calls:
        sent |= {"tool_calls": [_call(call) for call in message.tool_calls], **settings.vendor.call_fields}
    return {**sent, **message.vendor.get(settings.vendor.name, {})}


def _call(call: ToolCall) -> Json:
    """Its arguments are valid JSON even if the model's were not: vLLM and llama.cpp refuse any others."""
    function = {"name": call.name, "arguments": valid_arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _takes_result_images(settings: Settings, request: Request) -> bool:
    """Whether to send images from tool results.

    Many local models refuse images, so a local one gets them only if the user gave it one.
    """
    given = any(isinstance(part, Image) for message in request.messages for part in message.parts)
    return settings.vendor.images and (given or not settings.vendor.local)


def _result_images(result: ToolResult) -> list[Json]:
    """Tool messages can only hold text here, so their images follow in a user message."""
    if not result.images:
        return []
    return [_text(f"The images of {result.name} ({result.call_id}):"), *map(_image, result.images)]


def _image(image: Image) -> Json:
    return {"type": "image_url", "image_url": {"url": data_url(image, *IMAGE_LIMITS), "detail": "auto"}}


_BLOCKS = Blocks(text=_text, image=_image, call=_call)


def _tool(tool: ToolSpec) -> Json:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}
