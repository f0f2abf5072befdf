"""Gemini's `generate_content`, for models and gateways without Interactions. Arguments are not streamed.

The SDK does not expose the byte stream, so its chunks are iterated. A hook collects the HTTP response behind them,
because only closing that stops a stream immediately.
"""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from agent_nb._base.wire import Json
from agent_nb.core.errors import ProviderError
from agent_nb.core.events import Stop
from agent_nb.core.messages import Document, Image, Message, ToolCall, ToolResult, ToolSpec, Usage
from agent_nb.images.convert import fit_image
from agent_nb.providers import failure
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import OptionalParameter, Piece, Request, UsagePiece
from agent_nb.providers.http import responses_opened
from agent_nb.providers.interactions import CALL_ID, IMAGE_LIMITS, make_client, without_unfinished
from agent_nb.providers.models import Family
from agent_nb.providers.parts import Blocks, arguments_object, fit_calls
from agent_nb.providers.settings import Settings
from agent_nb.providers.streaming import ResponseStream, VendorProvider
from agent_nb.providers.tool_schemas import GEMINI

VENDOR = "generate_content"
TOKEN = "generate_content_token"
"""Vendor data key for the token that continues an unfinished answer."""
REFUSALS = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"}
    | {"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"}
    | {"MODEL_ARMOR", "ESCALATION", "PUP_LIMITED_DISABLED"}
)
_STOPS: dict[str, Stop] = {"MAX_TOKENS": "max_tokens", "CONTINUATION": "go_on"}
_ENDS = ("STOP", "FINISH_REASON_UNSPECIFIED")
ANSWER_SECONDS = 1800.0
"""Timeout for the whole answer, which the SDK also sends to the server."""
_BUDGETS = {
    "none": 0,
    "minimal": 512,
    "low": 2048,
    "medium": 8192,
    "high": 16_384,
    "xhigh": 24_576,
    "max": 32_768,
}
"""Thinking budget in tokens by effort, before clamping to the model's limits."""
_UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode()
"""Documented signature for calls not made by Gemini."""


class GenerateContentDecoder:
    """Decodes the chunks of one answer, parsed by the SDK."""

    ended = False
    """Never set: no chunk is marked as the last."""

    def __init__(self, settings: Settings, chunks: AsyncGenerator[Any, None]) -> None:
        self.chunks = chunks
        self._settings = settings
        self._turn = Assembler()
        self._parts: list[Json] = []
        self._call_ids: set[str | None] = set()
        self._usage = Usage()
        self._model = settings.model
        self._reason = ""
        self._detail = ""
        self._token = b""

    def feed(self, chunk: Any) -> Sequence[Piece]:
        pieces: list[Piece] = []
        self._model = chunk.model_version or self._model
        if chunk.usage_metadata and (usage := _usage(chunk.usage_metadata)) != self._usage:
            self._usage = usage
            pieces.append(UsagePiece(usage))
        feedback = chunk.prompt_feedback
        if feedback and feedback.block_reason:
            self._reason = "SAFETY"
            self._detail = feedback.block_reason_message or str(feedback.block_reason.value)
        for candidate in (chunk.candidates or [])[:1]:
            for part in (candidate.content and candidate.content.parts) or []:
                pieces += self._part(part)
            if candidate.finish_reason:
                self._reason = str(candidate.finish_reason.value)
                self._detail = self._detail or candidate.finish_message or ""
            self._token = getattr(candidate, "continuation_token", None) or self._token
        return pieces

    def finish(self) -> Sequence[Piece]:
        """Return the turn after the last chunk; raises `ProviderError` if the stream ended without a finish reason."""
        reason = self._reason
        if not reason:
            raise failure.cut(self._settings)
        stop = "refusal" if reason in REFUSALS else _STOPS.get(reason)
        if reason == "MISSING_THOUGHT_SIGNATURE":
            raise failure.from_status(self._settings, 400, f"the answer ended with {reason}")
        if stop is None and reason not in _ENDS:
            cause = self._detail or reason
            raise failure.from_status(self._settings, 500, f"the answer ended with {cause}")
        vendor: Json = {VENDOR: [_with_joined_text(part) for part in self._parts]}
        if stop == "go_on" and self._token:
            vendor[TOKEN] = base64.b64encode(self._token).decode()
        return (
            self._turn.turn(
                stop=stop,
                usage=self._usage,
                model=self._model,
                vendor=vendor,
                detail=(self._detail or reason) if stop == "refusal" else "",
            ),
        )

    def _part(self, part: Any) -> Sequence[Piece]:
        signature = part.thought_signature
        extra: Json = {"thought_signature": base64.b64encode(signature).decode()} if signature else {}
        if part.function_call:
            return self._call(part.function_call, extra)
        if part.text is None:
            return ()
        if part.thought:
            extra["thought"] = True
        self._remember_text(part.text, extra)
        if not part.text:
            return ()
        return (self._turn.thinking(part.text) if part.thought else self._turn.text(part.text),)

    def _remember_text(self, text: str, extra: Json) -> None:
        """Store a fragment. Unsigned fragments are joined; a signed one stays separate, even if empty."""
        signed = "thought_signature" in extra
        last = self._parts[-1] if self._parts else {}
        plain = isinstance(last.get("text"), list) and "thought_signature" not in last
        if plain and not signed and last.get("thought") == extra.get("thought"):
            last["text"].append(text)
        elif text or signed:
            self._parts.append({"text": [text], **extra})

    def _call(self, call: Any, extra: Json) -> Sequence[Piece]:
        if call.id and call.id in self._call_ids:
            raise failure.disordered(self._settings)
        self._call_ids.add(call.id)
        key = len(self._parts)
        call_id = call.id or f"call_{key}"
        arguments = call.args or {}
        function_call: Json = {"name": call.name, "args": arguments} | ({"id": call.id} if call.id else {})
        self._parts.append({"function_call": function_call, **extra})
        start = self._turn.start_call(key, call_id, call.name)
        return start, self._turn.arguments(key, json.dumps(arguments, ensure_ascii=False))


def _with_joined_text(part: Json) -> Json:
    return {**part, "text": "".join(part["text"])} if "text" in part else part


def _usage(counts: Any) -> Usage:
    thoughts = counts.thoughts_token_count or 0
    return Usage(
        input=(counts.prompt_token_count or 0) + (counts.tool_use_prompt_token_count or 0),
        cached_read=counts.cached_content_token_count or 0,
        output=(counts.candidates_token_count or 0) + thoughts,
        reasoning=thoughts,
    )


if TYPE_CHECKING:
    import httpx2


class GenerateContentProvider(VendorProvider):
    dialect = GEMINI
    optional = (
        OptionalParameter(
            name="thinking_level", path="config.thinking_config.thinking_level", refused=r"thinking[ _]level"
        ),
        OptionalParameter(
            name="thinking_budget",
            path="config.thinking_config.thinking_budget",
            refused=r"thinking[ _]budget|budget \d+ is invalid",
        ),
        OptionalParameter(
            name="thinking_config",
            path="config.thinking_config",
            refused=r"thinking_?config|thinking is not (enabled|supported)",
        ),
    )

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        client = make_client(self.settings, http, seconds=ANSWER_SECONDS)
        return client, client.aio.models

    def body(self, request: Request) -> Json:
        settings = self.settings
        config: Json = {"automatic_function_calling": {"disable": True}, "automatic_continuation": False}
        if settings.family.thoughts:
            config["thinking_config"] = {"include_thoughts": True, **_effort(settings)}
        if request.system:
            config["system_instruction"] = request.system
        if settings.max_tokens:
            config["max_output_tokens"] = settings.max_tokens
        if request.tools:
            config["tools"] = [{"function_declarations": [_tool(tool) for tool in request.tools]}]
        messages, token = without_unfinished(request.messages, lambda vendor: vendor.get(TOKEN, ""))
        if token:
            config["continuation_token"] = base64.b64decode(token)
        return {
            "model": settings.model,
            "contents": _messages(messages, settings.family),
            "config": {**config, **settings.options},
        }

    def error(self, exc: Exception) -> ProviderError:
        from google.genai import errors

        if isinstance(exc, errors.UnknownApiResponseError):
            return failure.garbled(self.settings)
        if isinstance(exc, TypeError) and "<=" in str(exc):  # the SDK compares the code, which is missing
            return failure.from_status(self.settings, 500, "it sent an error without a code")
        return super().error(exc)

    async def begin(self, stack: contextlib.AsyncExitStack, client: Any, body: Json) -> ResponseStream:
        responses = _Responses()
        with responses_opened(responses, self.silence, strict=True):
            chunks = await client[1].generate_content_stream(**body)
            first = asyncio.ensure_future(anext(chunks, None))
        stack.push_async_callback(_close, responses, first)
        acceptance = asyncio.ensure_future(responses.accepted.wait())
        stack.callback(acceptance.cancel)
        # The vendor charges once it sends headers, and the first chunk may take minutes.
        await asyncio.wait({first, acceptance}, return_when=asyncio.FIRST_COMPLETED)
        if not responses.accepted.is_set():
            await first
        refuse_page(self.settings, responses)
        return GenerateContentDecoder(self.settings, _chunks_from(first, chunks))


class _Responses(list["httpx2.Response"]):
    """The responses to one request, with an event for the first successful one."""

    def __init__(self) -> None:
        self.accepted = asyncio.Event()

    def append(self, response: "httpx2.Response") -> None:
        super().append(response)
        if response.is_success:
            self.accepted.set()


async def _close(responses: "Sequence[httpx2.Response]", first: "asyncio.Future[Any]") -> None:
    first.cancel()
    with contextlib.suppress(Exception, asyncio.CancelledError):
        await first
    for response in responses:
        with contextlib.suppress(Exception):
            await response.aclose()


async def _chunks_from(first: "asyncio.Future[Any]", chunks: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
    if (chunk := await first) is not None:
        yield chunk
    async for chunk in chunks:
        yield chunk


def refuse_page(settings: Settings, responses: "Sequence[httpx2.Response]") -> None:
    """Raise if the answer is a web page, which the SDK reports as bad JSON."""
    if any("html" in response.headers.get("content-type", "") for response in responses):
        raise failure.not_an_api(settings, "<html>")


def _effort(settings: Settings) -> Json:
    family, effort = settings.family, settings.effort
    if effort and family.efforts:
        return {"thinking_level": family.effort(effort).upper()}
    if effort and family.budgets:
        fewest, most = family.budgets
        return {"thinking_budget": min(max(_BUDGETS[effort], fewest), most)}
    return {}


def _messages(messages: Sequence[Message], family: Family) -> list[Json]:
    contents: list[Json] = []
    call_ids: set[str | None] = set()
    result_images: list[Json] = []
    for message in fit_calls(messages, CALL_ID, unique=False):
        if message.role == "assistant":
            role, parts = "model", _assistant(message, family.signed_calls)
            call_ids |= {part["function_call"].get("id") for part in parts if "function_call" in part}
        else:
            role, parts = "user", _BLOCKS.of_user(message)
        if message.role == "tool":
            results = [part["function_response"] for part in parts if "function_response" in part]
            for result in results:
                if result["id"] not in call_ids:  # ours: the call came without one
                    del result["id"]
            result_images += [] if family.image_results else _take_images(results)
        else:
            contents += _user_content(result_images)
            result_images = []
        if not parts:
            continue
        # An answer in two halves becomes one content: a call is refused after another model content.
        joins = message.role in ("tool", "assistant")
        if joins and contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": role, "parts": parts})
    return contents + _user_content(result_images)


def _take_images(results: list[Json]) -> list[Json]:
    """Remove the images from results and return them, with their names, for a content of their own."""
    taken: list[Json] = []
    for result in results:
        if images := result.pop("parts", None):
            taken += [_text(f"The images of {result['name']}:"), *images]
    return taken


def _user_content(parts: list[Json]) -> list[Json]:
    return [{"role": "user", "parts": parts}] if parts else []


def _assistant(message: Message, signed_calls: bool) -> list[Json]:
    parts = _own_parts(message) if VENDOR in message.vendor else _BLOCKS.of_model(message)
    first = next((at for at, part in enumerate(parts) if "function_call" in part), None)
    if signed_calls and first is not None:
        parts[first] = {"thought_signature": _UNSIGNED, **parts[first]}
    return [_with_signature_bytes(part) for part in parts]


def _own_parts(message: Message) -> list[Json]:
    """The parts as Gemini sent them. An invented name that it would refuse is replaced, as in the result."""
    calls = iter(message.tool_calls)
    return [
        {**part, "function_call": {**part["function_call"], "name": call.name}}
        if "function_call" in part and (call := next(calls, None))
        else part
        for part in message.vendor[VENDOR]
    ]


def _with_signature_bytes(part: Json) -> Json:
    if "thought_signature" not in part:
        return part
    return {**part, "thought_signature": base64.b64decode(part["thought_signature"])}


def _text(text: str) -> Json:
    return {"text": text}


def _call(call: ToolCall) -> Json:
    arguments = arguments_object(call.arguments)
    return {"function_call": {"id": call.id, "name": call.name, "args": arguments}}


def _result(result: ToolResult) -> Json:
    response: Json = {"id": result.call_id, "name": result.name}
    response["response"] = {"output" if result.ok else "error": result.text}
    if result.images:
        response["parts"] = [_image(image) for image in result.images]
    return {"function_response": response}


def _image(image: Image) -> Json:
    fitted = fit_image(image, *IMAGE_LIMITS)
    return {"inline_data": {"data": fitted.data, "mime_type": fitted.media_type}}


def _document(document: Document) -> Json:
    return {"inline_data": {"data": document.data, "mime_type": document.media_type}}


_BLOCKS = Blocks(text=_text, image=_image, document=_document, call=_call, result=_result)


def _tool(tool: ToolSpec) -> Json:
    """Encode a tool, with the properties ordered as in the schema: Gemini would sort them by name."""
    order = {"propertyOrdering": list(properties)} if (properties := tool.schema.get("properties")) else {}
    schema = {"parameters_json_schema": {**tool.schema, **order}}
    return {"name": tool.name, "description": tool.description, **schema}
