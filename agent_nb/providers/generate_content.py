"""Gemini's `generate_content`, for models and gateways without Interactions. Arguments are not streamed.

Requests go out by HTTP, because the SDK gives no access to the byte stream: it would replace bytes that are not
UTF-8, and a stream could not be stopped at once.
"""

import base64
import contextlib
import json
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any

from agent_nb._base.wire import Json
from agent_nb.events import Stop
from agent_nb.images.convert import fit_image
from agent_nb.messages import Image, Message, ToolCall, ToolResult, ToolSpec, Usage
from agent_nb.providers import failure
from agent_nb.providers.base import Piece, Request, UsagePiece
from agent_nb.providers.dialects import GEMINI
from agent_nb.providers.interactions import CALL_ID, IMAGE_LIMITS
from agent_nb.providers.optional import OptionalParameter
from agent_nb.providers.pairing import fit_calls
from agent_nb.providers.parts import Blocks, arguments_object, base64_of
from agent_nb.providers.settings import Settings
from agent_nb.providers.streaming import Decoder, VendorProvider

if TYPE_CHECKING:
    import httpx2

ADDRESS = "https://generativelanguage.googleapis.com"
VENDOR = "generate_content"
REFUSALS = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"}
    | {"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"}
)
_STOPS: dict[str, Stop] = {"MAX_TOKENS": "max_tokens", "CONTINUATION": "go_on"}
_ENDS = ("STOP", "FINISH_REASON_UNSPECIFIED")
_BUDGETS = {
    "none": 0,
    "minimal": 512,
    "low": 2048,
    "medium": 8192,
    "high": 16_384,
    "xhigh": 24_576,
    "max": 32_768,
}
"""Thinking tokens for models that take a budget, before the limits of the model."""
_UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode()
"""The documented signature for calls that Gemini has not made itself."""
_OF_THE_BODY = ("safety_settings", "tool_config", "cached_content")
"""Options that are fields of the request; all others belong to its `generationConfig`."""


class GenerateContentDecoder(Decoder):
    """Decodes the chunks of one answer. No chunk says that it is the last one."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._parts: list[Json] = []
        self._call_ids: set[str] = set()
        self._usage = Usage()
        self._reason = ""
        self._detail = ""

    def feed(self, event: str, data: Json) -> Sequence[Piece]:
        if problem := data.get("error"):
            raise self._error(problem)
        pieces: list[Piece] = []
        self._model = data.get("modelVersion") or self._model
        if (counts := data.get("usageMetadata")) and (usage := _usage(counts)) != self._usage:
            self._usage = usage
            pieces.append(UsagePiece(usage))
        feedback = data.get("promptFeedback") or {}
        if blocked := feedback.get("blockReason"):
            self._reason = "SAFETY"
            self._detail = feedback.get("blockReasonMessage") or blocked
        for candidate in (data.get("candidates") or [])[:1]:
            for part in (candidate.get("content") or {}).get("parts") or ():
                pieces += self._part(part)
            if reason := candidate.get("finishReason"):
                self._reason = reason
                self._detail = self._detail or candidate.get("finishMessage") or ""
        return pieces

    def finish(self) -> Sequence[Piece]:
        """The end of the body: complete if a finish reason came, else cut."""
        reason = self._reason
        if not reason:
            return ()
        stop = "refusal" if reason in REFUSALS else _STOPS.get(reason)
        if stop is None and reason not in _ENDS:
            cause = self._detail or reason
            raise failure.from_status(self._settings, 500, f"the answer ended with {cause}")
        return (
            self._turn.turn(
                stop=stop,
                usage=self._usage,
                model=self._model,
                vendor={VENDOR: [_joined(part) for part in self._parts]},
                detail=(self._detail or reason) if stop == "refusal" else "",
            ),
        )

    def _part(self, part: Json) -> Sequence[Piece]:
        kept = ("thoughtSignature", "thought")
        extra = {name: part[name] for name in kept if part.get(name)}
        if call := part.get("functionCall"):
            return self._call(call, extra)
        text = part.get("text")
        if text is None:
            return ()
        self._remember_text(text, extra)
        if not text:
            return ()
        return (self._turn.thinking(text) if "thought" in extra else self._turn.text(text),)

    def _remember_text(self, text: str, extra: Json) -> None:
        """Joins unsigned fragments. A signed part stays separate, even an empty one, for its signature."""
        signed = "thoughtSignature" in extra
        last = self._parts[-1] if self._parts else {}
        plain = isinstance(last.get("text"), list) and "thoughtSignature" not in last
        if plain and not signed and last.get("thought") == extra.get("thought"):
            last["text"].append(text)
        elif text or signed:
            self._parts.append({"text": [text], **extra})

    def _call(self, call: Json, extra: Json) -> Sequence[Piece]:
        key, name = len(self._parts), call["name"]
        call_id = call.get("id") or f"call_{key}"
        if call_id in self._call_ids:
            raise self._disordered()
        self._call_ids.add(call_id)
        self._parts.append({"functionCall": call, **extra})
        started = self._turn.start_call(key, call_id, name)
        return started, self._turn.arguments(key, json.dumps(call.get("args") or {}, ensure_ascii=False))


def _joined(part: Json) -> Json:
    return {**part, "text": "".join(part["text"])} if "text" in part else part


def _usage(counts: Json) -> Usage:
    thoughts = counts.get("thoughtsTokenCount") or 0
    return Usage(
        input=(counts.get("promptTokenCount") or 0) + (counts.get("toolUsePromptTokenCount") or 0),
        cached_read=counts.get("cachedContentTokenCount") or 0,
        output=(counts.get("candidatesTokenCount") or 0) + thoughts,
        reasoning=thoughts,
    )


class GenerateContentProvider(VendorProvider):
    dialect = GEMINI
    decoder = GenerateContentDecoder
    optional = (
        OptionalParameter(
            name="thinking_level",
            path="generationConfig.thinkingConfig.thinkingLevel",
            refused=r"thinking[ _]level",
        ),
        OptionalParameter(
            name="thinking_budget",
            path="generationConfig.thinkingConfig.thinkingBudget",
            refused=r"thinking[ _]budget|budget \d+ is invalid",
        ),
        OptionalParameter(
            name="thinking_config",
            path="generationConfig.thinkingConfig",
            refused=r"thinking_?config|thinking is not (enabled|supported)",
        ),
    )

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        return http

    def body(self, request: Request) -> Json:
        settings = self.settings
        config = {name: value for name, value in settings.options.items() if name not in _OF_THE_BODY}
        if settings.family.thoughts:
            config["thinkingConfig"] = {"includeThoughts": True, **_effort(settings)}
        if settings.max_tokens:
            config["maxOutputTokens"] = settings.max_tokens
        body: Json = {
            "contents": _messages(request.messages, settings.family.signed_calls),
            "generationConfig": config,
            **{name: settings.options[name] for name in _OF_THE_BODY if name in settings.options},
        }
        if request.system:
            body["systemInstruction"] = {"parts": [_text(request.system)]}
        if request.tools:
            body["tools"] = [{"functionDeclarations": [_tool(tool) for tool in request.tools]}]
        return body

    @contextlib.asynccontextmanager
    async def open(self, client: "httpx2.AsyncClient", body: Json) -> "AsyncGenerator[httpx2.Response, None]":
        async with post(self.settings, client, "streamGenerateContent?alt=sse", body) as response:
            yield response


@contextlib.asynccontextmanager
async def post(
    settings: Settings, http: "httpx2.AsyncClient", method: str, body: Json
) -> "AsyncGenerator[httpx2.Response, None]":
    """The response to a request of the model, with its body unread; raises `ProviderError` for an error status."""
    name = settings.model if "/" in settings.model else f"models/{settings.model}"
    url = f"{settings.base_url or ADDRESS}/v1/{name}:{method}"
    headers = {"x-goog-api-key": settings.api_key, **settings.headers}
    async with http.stream("POST", url, json=body, headers=headers) as response:
        if response.is_error:
            raise failure.from_body(settings, response, (await response.aread()).decode("utf-8", "replace"))
        yield response


def _effort(settings: Settings) -> Json:
    """The effort as a thinking level, as a budget of tokens, or not at all, as the model takes it."""
    family, effort = settings.family, settings.effort
    if effort and family.efforts:
        return {"thinkingLevel": family.effort(effort).upper()}
    if effort and family.budgets:
        fewest, most = family.budgets
        return {"thinkingBudget": min(max(_BUDGETS[effort], fewest), most)}
    return {}


def _messages(messages: Sequence[Message], signed_calls: bool) -> list[Json]:
    contents: list[Json] = []
    for message in fit_calls(messages, CALL_ID, unique=False):
        if message.role == "assistant":
            role, parts = "model", _assistant(message, signed_calls)
        else:
            role, parts = "user", _BLOCKS.of_user(message)
        if not parts:
            continue
        # An answer in two halves is one content: a call is refused after another content of the model.
        joins = message.role in ("tool", "assistant")
        if joins and contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": role, "parts": parts})
    return contents


def _assistant(message: Message, signed_calls: bool) -> list[Json]:
    parts = list(message.vendor[VENDOR]) if VENDOR in message.vendor else _BLOCKS.of_model(message)
    first = next((at for at, part in enumerate(parts) if "functionCall" in part), None)
    if signed_calls and first is not None:
        parts[first] = {"thoughtSignature": _UNSIGNED, **parts[first]}
    return parts


def _text(text: str) -> Json:
    return {"text": text}


def _call(call: ToolCall) -> Json:
    arguments = arguments_object(call.arguments)
    return {"functionCall": {"id": call.id, "name": call.name, "args": arguments}}


def _result(result: ToolResult) -> Json:
    response: Json = {"id": result.call_id, "name": result.name}
    response["response"] = {"output" if result.ok else "error": result.text}
    if result.images:
        response["parts"] = [inline_data(image) for image in result.images]
    return {"functionResponse": response}


def inline_data(image: Image) -> Json:
    fitted = fit_image(image, *IMAGE_LIMITS)
    return {"inlineData": {"data": base64_of(fitted), "mimeType": fitted.media_type}}


_BLOCKS = Blocks(text=_text, image=inline_data, call=_call, result=_result)


def _tool(tool: ToolSpec) -> Json:
    """Asks for the properties in the order of the schema: Gemini would write them in the order of their names."""
    order = {"propertyOrdering": list(properties)} if (properties := tool.schema.get("properties")) else {}
    schema = {"parametersJsonSchema": {**tool.schema, **order}}
    return {"name": tool.name, "description": tool.description, **schema}
