"""Gemini's Interactions API, used statelessly. Unlike `generate_content`, it streams function arguments.

The SDK builds a pydantic class for every event (1.4 ms each), so it only opens the stream. Each message stores the
signed steps of its answer, which are sent back in order.
"""

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.wire import Json
from agent_nb.core.events import Stop
from agent_nb.core.messages import Document, Image, Message, ToolCall, ToolResult, ToolSpec, Usage
from agent_nb.images.convert import fit_image
from agent_nb.providers.base import OptionalParameter, Piece, Request, UsagePiece
from agent_nb.providers.http import HEADER_SECONDS, tls
from agent_nb.providers.parts import Blocks, arguments_object, fit_calls, text_block
from agent_nb.providers.settings import Settings
from agent_nb.providers.streaming import StreamDecoder, StreamingProvider
from agent_nb.providers.tool_schemas import GEMINI

if TYPE_CHECKING:
    import httpx2

CALL_ID = r"(?s).+"
IMAGE_LIMITS = (3072, 7_000_000)
VENDOR = "gemini"
NO_OUTPUT = "(no output)"
"""Sent for a blank result: Gemini refuses empty texts."""
_STOPS: dict[str, Stop] = {"incomplete": "max_tokens", "requires_continuation": "go_on"}
_FAILED = ("failed", "cancelled", "budget_exceeded")


class InteractionsDecoder(StreamDecoder):
    """Decodes the events of one answer. Steps are keyed by their index."""

    status_of: ClassVar = {
        "invalid_argument": 400,
        "failed_precondition": 400,
        "unauthenticated": 401,
        "permission_denied": 403,
        "not_found": 404,
        "resource_exhausted": 429,
        "unavailable": 503,
        "deadline_exceeded": 504,
    }

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._steps: dict[int, Json] = {}
        self._open: set[int] = set()
        self._event_id = ""

    def feed(self, event: str, data: Json) -> Sequence[Piece]:
        kind = data.get("event_type") or event
        if event_id := data.get("event_id"):
            if event_id == self._event_id:
                return ()
            self._event_id = event_id
        if kind == "step.delta":
            return self._delta(data["index"], data["delta"])
        match kind:
            case "step.start":
                return self._start(data["index"], data["step"])
            case "step.stop":
                self._open.discard(data["index"])
            case "interaction.completed":
                return self._finished(data["interaction"])
            case "interaction.status_update" if data.get("usage"):
                return (UsagePiece(_usage(data["usage"])),)
            case "error":
                raise self.error(data.get("error") or {})
        return ()

    def _start(self, index: int, step: Json) -> Sequence[Piece]:
        if index in self._open:
            raise self._disordered()
        self._open.add(index)
        self._steps[index] = dict(step)
        if step.get("type") != "function_call":
            return ()
        start = self._turn.start_call(index, step["id"], step["name"])
        if not step.get("arguments"):
            return (start,)
        return start, self._turn.arguments(index, json.dumps(step["arguments"], ensure_ascii=False))

    def _delta(self, index: int, delta: Json) -> Sequence[Piece]:
        if index not in self._open:
            raise self._disordered()
        kind = delta["type"]
        if kind == "arguments_delta":
            text = delta.get("arguments")
            return (self._turn.arguments(index, text),) if text else ()
        if kind == "text":
            return (self._turn.text(delta["text"], index),)
        if kind == "thought_summary":
            text = (delta.get("content") or {}).get("text")
            return (self._turn.thinking(text, index),) if text else ()
        if kind == "thought_signature":
            self._steps[index]["signature"] = delta["signature"]
        elif kind == "text_annotation":
            for annotation in delta.get("annotations") or ():
                self._turn.cite(annotation)
        return ()

    def _finished(self, interaction: Json) -> Sequence[Piece]:
        status = interaction.get("status") or "completed"
        problem = next((step["error"] for step in self._steps.values() if step.get("error")), None)
        if status in _FAILED:
            cause = problem or interaction.get("error") or {}
            raise self.error({"message": f"status {status}", **cause})
        stop = "refusal" if problem else _STOPS.get(status)
        echo: Json = {"steps": [self._complete(index) for index in sorted(self._steps)]}
        if stop == "go_on" and interaction.get("continuation_token"):
            echo["continuation_token"] = interaction["continuation_token"]
        return (
            self._turn.turn(
                stop=stop,
                usage=_usage(interaction.get("usage") or {}),
                model=interaction.get("model") or self._model,
                vendor={VENDOR: echo},
                detail=str(problem.get("message") or "") if problem else "",
            ),
        )

    def _complete(self, index: int) -> Json:
        step = self._steps[index]
        match step.get("type"):
            case "thought":
                text = self._turn.part_text("thinking", index)
                return {**step, "summary": [{"type": "text", "text": text}]} if text else step
            case "model_output":
                text = self._turn.part_text("text", index)
                return {**step, "content": [{"type": "text", "text": text}]}
            case "function_call":
                return {**step, "arguments": arguments_object(self._turn.part_text("call", index))}
        return step


def _usage(counts: Json) -> Usage:
    thought = counts.get("total_thought_tokens") or 0
    return Usage(
        input=(counts.get("total_input_tokens") or 0) + (counts.get("total_tool_use_tokens") or 0),
        cached_read=counts.get("total_cached_tokens") or 0,
        output=(counts.get("total_output_tokens") or 0) + thought,
        reasoning=thought,
    )


class InteractionsProvider(StreamingProvider):
    dialect = GEMINI
    decoder = InteractionsDecoder
    optional = (
        OptionalParameter(
            name="thinking_level", path="generation_config.thinking_level", refused=r"thinking[ _]level"
        ),
        OptionalParameter(
            name="thinking_summaries",
            path="generation_config.thinking_summaries",
            refused=r"thinking_summaries|thinking is not (enabled|supported)",
        ),
    )

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        client = make_client(self.settings, http)
        # Keep a reference to the client: it closes its connections when garbage-collected.
        return client, client.aio.interactions.with_streaming_response

    def body(self, request: Request) -> Json:
        settings, family = self.settings, self.settings.family
        config: Json = {"thinking_summaries": "auto"} if family.thoughts else {}
        if settings.effort and family.efforts:
            config["thinking_level"] = family.effort(settings.effort)
        if settings.max_tokens:
            config["max_output_tokens"] = settings.max_tokens
        messages, token = without_unfinished(
            request.messages, lambda vendor: vendor.get(VENDOR, {}).get("continuation_token", "")
        )
        body: Json = {
            "model": settings.model,
            "stream": True,
            "store": False,
            "input": _messages(messages),
            "generation_config": config,
        }
        if token:
            body["continuation_token"] = token
        if request.system:
            body["system_instruction"] = request.system
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        return {**body, **settings.options}

    async def open(self, stack: contextlib.AsyncExitStack, client: Any, body: Json) -> "httpx2.Response":
        # The SDK builds classes to validate each request: up to 50 ms on the loop. It sends `extra_body` unchanged, in
        # place of the same fields.
        manager = client[1].create(model=self.settings.model, input="", stream=True, extra_body=body)
        return (await stack.enter_async_context(manager)).http_response  # type: ignore[no-any-return]


def make_client(settings: Settings, http: "httpx2.AsyncClient", seconds: float = HEADER_SECONDS) -> Any:
    from google import genai

    options = http_options(settings, http, seconds)
    return genai.Client(api_key=settings.api_key, vertexai=False, http_options=options)


def http_options(settings: Settings, http: "httpx2.AsyncClient", seconds: float) -> Any:
    """Options that put the SDK's client on the shared HTTP client, without retries. Its timeout is in milliseconds."""
    from google.genai import types

    return types.HttpOptions(
        base_url=settings.base_url,
        headers=dict(settings.headers) or None,
        httpx_async_client=http,
        # Otherwise the SDK reads the certificates twice per client (90 ms), for connections it never opens.
        async_client_args=None if IN_BROWSER else {"verify": tls(), "ssl": tls()},
        timeout=int(seconds * 1000),
        retry_options=types.HttpRetryOptions(attempts=1),
    )


def without_unfinished(
    messages: Sequence[Message], token_of: Callable[[Mapping[str, Any]], str]
) -> tuple[Sequence[Message], str]:
    """The messages without the parts of an unfinished answer at their end, and the token that continues it."""
    token = ""
    while messages and messages[-1].role == "assistant" and (found := token_of(messages[-1].vendor)):
        token, messages = token or found, messages[:-1]
    return messages, token


def _messages(messages: Sequence[Message]) -> list[Json]:
    steps: list[Json] = []
    for message in fit_calls(messages, CALL_ID, unique=False):
        if message.role == "assistant":
            steps += _assistant(message)
            continue
        steps += [_result(part) for part in message.parts if isinstance(part, ToolResult)]
        if content := _BLOCKS.of_user(message):
            steps.append({"type": "user_input", "content": content})
    return steps


def _assistant(message: Message) -> list[Json]:
    if VENDOR not in message.vendor:
        return _BLOCKS.of_model(message)
    calls = iter(message.tool_calls)
    return [
        # An invented name that Gemini would refuse is replaced, as in the result.
        {**step, "name": call.name}
        if step.get("type") == "function_call" and (call := next(calls, None))
        else step
        for step in message.vendor[VENDOR]["steps"]
        if _is_accepted(step)
    ]


def _is_accepted(step: Json) -> bool:
    """Whether Gemini accepts the step back: it sends unsigned thoughts and empty outputs, but refuses them."""
    match step.get("type"):
        case "thought":
            return bool(step.get("signature"))
        case "model_output":
            return any(block.get("text") != "" for block in step.get("content") or ())
    return True


def _model_text(text: str) -> Json:
    return {"type": "model_output", "content": [text_block(text)]}


def _call(call: ToolCall) -> Json:
    arguments = arguments_object(call.arguments)
    return {"type": "function_call", "id": call.id, "name": call.name, "arguments": arguments}


def _result(result: ToolResult) -> Json:
    text = result.text if result.text.strip() else NO_OUTPUT
    content = [text_block(text), *map(_image, result.images)]
    step = {"type": "function_result", "call_id": result.call_id, "name": result.name}
    return {**step, "result": content, "is_error": not result.ok}


def _image(image: Image) -> Json:
    fitted = fit_image(image, *IMAGE_LIMITS)
    return {"type": "image", "data": fitted.base64, "mime_type": fitted.media_type}


def _document(document: Document) -> Json:
    return {"type": "document", "data": document.base64, "mime_type": document.media_type}


_BLOCKS = Blocks(text=text_block, image=_image, document=_document, call=_call, model_text=_model_text)


def _tool(tool: ToolSpec) -> Json:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
    }
