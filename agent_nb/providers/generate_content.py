"""Gemini's `generate_content`, for models and gateways without Interactions. Arguments are not streamed.

Requests are sent without the SDK, which hides the byte stream and so cannot stop one immediately.
"""

import base64
import contextlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agent_nb._base.wire import Json
from agent_nb.events import Stop
from agent_nb.images.convert import fit_image
from agent_nb.messages import Image, Message, ToolCall, ToolResult, ToolSpec, Usage
from agent_nb.providers import failure
from agent_nb.providers.base import OptionalParameter, Piece, Request, UsagePiece
from agent_nb.providers.interactions import CALL_ID, IMAGE_LIMITS
from agent_nb.providers.parts import Blocks, arguments_object, base64_of, fit_calls
from agent_nb.providers.settings import Settings
from agent_nb.providers.streaming import StreamDecoder, StreamingProvider, encoded
from agent_nb.providers.tool_schemas import GEMINI

if TYPE_CHECKING:
    import httpx2

HOST = "https://generativelanguage.googleapis.com"
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
"""Thinking budget in tokens by effort, before clamping to the model's limits."""
_UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode()
"""Documented signature for calls not made by Gemini."""
_OUTSIDE_CONFIG = ("safety_settings", "tool_config", "cached_content", "service_tier")
"""Request options beside `generationConfig`; all others are fields of it."""


class GenerateContentDecoder(StreamDecoder):
    """Decodes the chunks of one answer. None is marked as the last."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
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
        usage = _usage(data.get("usageMetadata") or {})
        if usage not in (Usage(), self._usage):
            self._usage = usage
            pieces.append(UsagePiece(usage))
        if detail := blocked(data):
            self._reason, self._detail = "SAFETY", detail
        for candidate in (data.get("candidates") or ())[:1]:
            for part in parts_of(candidate):
                pieces += self._part(part)
            if reason := candidate.get("finishReason"):
                self._reason = reason
                self._detail = self._detail or candidate.get("finishMessage") or ""
        return pieces

    def finish(self) -> Sequence[Piece]:
        """Return the turn after the last chunk; nothing if there was no finish reason."""
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
                vendor={VENDOR: [_with_joined_text(part) for part in self._parts]},
                detail=(self._detail or reason) if stop == "refusal" else "",
            ),
        )

    def _part(self, part: Json) -> Sequence[Piece]:
        if call := part.get("functionCall"):
            return self._call(part, call)
        text = part.get("text")
        if text is None:
            return ()
        self._remember_text(text, part)
        if not text:
            return ()
        return (self._turn.thinking(text) if part.get("thought") else self._turn.text(text),)

    def _remember_text(self, text: str, part: Json) -> None:
        """Store a fragment. Unsigned ones are joined; a signed one stays separate, even if empty, for its signature."""
        signed = "thoughtSignature" in part
        last = self._parts[-1] if self._parts else {}
        is_plain = "text" in last and "thoughtSignature" not in last
        if is_plain and not signed and last.get("thought") == part.get("thought"):
            last["text"].append(text)
        elif text or signed:
            self._parts.append({**part, "text": [text]})

    def _call(self, part: Json, call: Json) -> Sequence[Piece]:
        if (call_id := call.get("id")) in self._call_ids:
            raise self._disordered()
        key = len(self._parts)
        call_id = call_id or f"call_{key}"
        self._call_ids.add(call_id)
        self._parts.append(part)
        start = self._turn.start_call(key, call_id, call["name"])
        return start, self._turn.arguments(key, json.dumps(call.get("args") or {}, ensure_ascii=False))


def _with_joined_text(part: Json) -> Json:
    return {**part, "text": "".join(part["text"])} if "text" in part else part


def blocked(data: Json) -> str:
    """Why the prompt was blocked; empty if it was not."""
    feedback = data.get("promptFeedback") or {}
    return str(feedback.get("blockReasonMessage") or feedback.get("blockReason") or "")


def parts_of(candidate: Json) -> Sequence[Json]:
    return (candidate.get("content") or {}).get("parts") or ()


def _usage(counts: Json) -> Usage:
    thoughts = counts.get("thoughtsTokenCount") or 0
    return Usage(
        input=(counts.get("promptTokenCount") or 0) + (counts.get("toolUsePromptTokenCount") or 0),
        cached_read=counts.get("cachedContentTokenCount") or 0,
        output=(counts.get("candidatesTokenCount") or 0) + thoughts,
        reasoning=thoughts,
    )


class GenerateContentProvider(StreamingProvider):
    dialect = GEMINI
    decoder = GenerateContentDecoder
    sdk = "httpx2"
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
        config: Json = {}
        if settings.family.thoughts:
            config["thinkingConfig"] = {"includeThoughts": True, **_effort(settings)}
        if settings.max_tokens:
            config["maxOutputTokens"] = settings.max_tokens
        body: Json = {
            "contents": _messages(request.messages, settings.family.signed_calls),
            "generationConfig": config,
        }
        if request.system:
            body["systemInstruction"] = {"parts": [_text(request.system)]}
        if request.tools:
            body["tools"] = [{"functionDeclarations": [_tool(tool) for tool in request.tools]}]
        for name, value in settings.options.items():
            (body if name in _OUTSIDE_CONFIG else config)[name] = value
        return body

    async def open(self, stack: contextlib.AsyncExitStack, client: Any, body: Json) -> "httpx2.Response":
        return await send(self.settings, client, "streamGenerateContent?alt=sse", body, stack)


async def send(
    settings: Settings, http: "httpx2.AsyncClient", method: str, body: Json, stack: contextlib.AsyncExitStack
) -> "httpx2.Response":
    """Send a request to the model; raises `ProviderError` for an error status. The stack closes the response."""
    name = settings.model if "/" in settings.model else f"models/{settings.model}"
    url = f"{settings.base_url or HOST}/v1/{name}:{method}"
    headers = {"x-goog-api-key": settings.api_key, "content-type": "application/json", **settings.headers}
    response = await stack.enter_async_context(
        http.stream("POST", url, content=encoded(body), headers=headers)
    )
    if response.is_error:
        text = (await response.aread()).decode("utf-8", "replace")
        raise failure.from_text(settings, response.status_code, text, response.headers)
    return response


def _effort(settings: Settings) -> Json:
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
        # An answer in two halves becomes one content: a call is refused after another model content.
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
        response["parts"] = [encode_image(image) for image in result.images]
    return {"functionResponse": response}


def encode_image(image: Image) -> Json:
    fitted = fit_image(image, *IMAGE_LIMITS)
    return {"inlineData": {"data": base64_of(fitted), "mimeType": fitted.media_type}}


_BLOCKS = Blocks(text=_text, image=encode_image, call=_call, result=_result)


def _tool(tool: ToolSpec) -> Json:
    """Encode a tool, with the properties ordered as in the schema: Gemini would sort them by name."""
    order = {"propertyOrdering": list(properties)} if (properties := tool.schema.get("properties")) else {}
    schema = {"parametersJsonSchema": {**tool.schema, **order}}
    return {"name": tool.name, "description": tool.description, **schema}
