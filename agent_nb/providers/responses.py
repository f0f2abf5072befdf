"""OpenAI's Responses API, used statelessly: nothing is stored, and encrypted reasoning is sent back each turn."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from agent_nb._base.wire import Json
from agent_nb.core.events import Stop
from agent_nb.core.messages import Document, Image, Message, ToolCall, ToolResult, ToolSpec, Usage
from agent_nb.providers import failure
from agent_nb.providers.base import OptionalParameter, Piece, Request
from agent_nb.providers.parts import Blocks, data_url, fit_calls, valid_arguments
from agent_nb.providers.settings import Settings
from agent_nb.providers.streaming import StreamDecoder, StreamingProvider
from agent_nb.providers.tool_schemas import OPENAI

if TYPE_CHECKING:
    import httpx2

IMAGE_LIMITS = (2048, 8_000_000)
CALL_ID = r".{1,64}"
"""Accepted call ids. They need not be unique."""
NO_KEY = "none"
"""Placeholder key for local servers, which ignore it: the SDK requires one."""
VENDOR = "openai"
_INCOMPLETE: dict[str, Stop] = {
    "max_output_tokens": "max_tokens",
    "max_messages": "max_tokens",
    "content_filter": "refusal",
    "steered": "go_on",
}
_POLICY = re.compile(r"policy|content_filter|safety", re.IGNORECASE)


class ResponsesDecoder(StreamDecoder):
    """Decodes the events of one answer, keyed by `output_index`, because only items carry the names of calls."""

    status_of: ClassVar = {"server_is_overloaded": 503, "slow_down": 503, "server_error": 500, "error": 500}
    unknown_status = 400

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
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

    def _rare(self, kind: str, data: Json) -> Sequence[Piece]:
        match kind:
            case "response.output_item.added":
                self._added.add(data["output_index"])
                return self._started(data["output_index"], data["item"])
            case "response.output_item.done":
                return self._done(data["output_index"], data["item"])
            case "response.reasoning_summary_part.added" if data.get("summary_index"):
                return (self._turn.thinking("\n\n", data["output_index"]),)
            case "response.refusal.delta":
                self._refusal.append(data["delta"])
                return (self._turn.text(data["delta"], data["output_index"]),)
            case "response.output_text.annotation.added":
                self._turn.cite(data.get("annotation") or {})
            case "response.completed" | "response.incomplete":
                return self._finished(data["response"])
            case "response.failed":
                return self._failed(data["response"])
            case "error":
                problem = data.get("error") or data
                raise self.error(problem, failure.retry_header(problem))
            case "" if "error" in data:
                raise self.error(data["error"])
        return ()

    def _started(self, index: int, item: Json) -> Sequence[Piece]:
        """The start of a call, with its arguments if the server sends no deltas."""
        if item.get("type") != "function_call":
            return ()
        pieces: list[Piece] = []
        if not self._turn.has_call(index):
            pieces.append(self._turn.start_call(index, item["call_id"], item["name"]))
        if item.get("arguments") and not self._turn.has_arguments(index):
            pieces.append(self._turn.arguments(index, item["arguments"]))
        return pieces

    def _done(self, index: int, item: Json) -> Sequence[Piece]:
        """Check a finished call, which repeats its arguments: if they differ, deltas were repeated or reordered."""
        pieces = [*self._started(index, item), *self._whole_text(index, item)]
        arguments = item.get("arguments") if item.get("type") == "function_call" else None
        if arguments and not self._turn.has_same_arguments(index, arguments):
            raise self._disordered()
        # When sent back, the arguments come from the call, so that a page is not in memory twice.
        self._items[index] = {**item, "arguments": ""} if "arguments" in item else item
        return pieces

    def _whole_text(self, index: int, item: Json) -> Sequence[Piece]:
        """The text of a message if the server sent no deltas."""
        if item.get("type") != "message" or self._turn.has_text(index):
            return ()
        text = "".join(block.get("text") or "" for block in item.get("content") or ())
        return (self._turn.text(text, index),) if text else ()

    def _finished(self, response: Json, stop: Stop | None = None, detail: str = "") -> Sequence[Piece]:
        refusal = "".join(self._refusal)
        incomplete = (response.get("incomplete_details") or {}).get("reason")
        if response.get("status") == "incomplete":
            incomplete = incomplete or "max_output_tokens"
        if stop is None and not incomplete and self._items and self._added - self._items.keys():
            raise self._disordered()
        if stop is None and incomplete:
            stop = _INCOMPLETE.get(incomplete, "max_tokens")
            detail = incomplete if stop == "refusal" else ""
        if stop is None and refusal and not self._turn.has_calls:
            stop = "refusal"
        output = response.pop("output", None)  # repeats all items, including a page that is in memory already
        items = [self._items[index] for index in sorted(self._items)] or output or []
        del output
        return (
            self._turn.turn(
                stop=stop,
                usage=_usage(response.get("usage") or {}),
                model=response.get("model") or self._model,
                vendor={VENDOR: items},
                detail=refusal or detail,
            ),
        )

    def _failed(self, response: Json) -> Sequence[Piece]:
        problem = response.get("error") or {}
        if _POLICY.search(str(problem.get("code"))):
            return self._finished(response, "refusal", str(problem.get("message") or problem["code"]))
        raise self.error(problem, failure.retry_header(problem))


def _usage(counts: Json) -> Usage:
    cached = counts.get("input_tokens_details") or {}
    return Usage(
        input=counts.get("input_tokens") or 0,
        cached_read=cached.get("cached_tokens") or 0,
        cached_write=cached.get("cache_write_tokens") or 0,
        output=counts.get("output_tokens") or 0,
        reasoning=(counts.get("output_tokens_details") or {}).get("reasoning_tokens") or 0,
    )


class ResponsesProvider(StreamingProvider):
    path = "/responses"
    dialect = OPENAI
    decoder = ResponsesDecoder
    optional = (
        # Refused for unverified organisations, for every model.
        OptionalParameter(
            name="reasoning.summary", refused=r"reasoning\.(generate_)?summary|reasoning summaries"
        ),
        OptionalParameter(name="reasoning.effort", refused=r"reasoning\.effort"),
        OptionalParameter(name="reasoning", refused=r"parameter:? '?reasoning'?(?![.\w])"),
        OptionalParameter(name="include", refused=r"\binclude\b|encrypted content is not supported"),
        OptionalParameter(name="parallel_tool_calls"),
        OptionalParameter(name="stream_options", refused=r"stream_options|include_obfuscation"),
    )

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        return make_client(self.settings, http)

    def body(self, request: Request) -> Json:
        settings, family = self.settings, self.settings.family
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
            body["tools"] = [_tool(tool) for tool in request.tools]
            body["parallel_tool_calls"] = True
        if reasoning := _reasoning(settings):
            body["reasoning"] = reasoning
        if settings.max_tokens:
            body["max_output_tokens"] = settings.max_tokens
        return {**body, **settings.options}


def make_client(settings: Settings, http: "httpx2.AsyncClient", headers: Json | None = None) -> Any:
    import openai

    return openai.AsyncOpenAI(
        api_key=settings.api_key or NO_KEY,
        base_url=settings.base_url,
        http_client=http,
        max_retries=0,
        default_headers={**(headers or {}), **settings.headers},
    )


def without_account() -> Json:
    """Headers for servers of others: the SDK reads OpenAI's organization and project from the environment."""
    import openai

    return {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}


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
            echo = VENDOR in message.vendor
            items += _items_to_echo(message, echoes_reasoning) if echo else _BLOCKS.of_model(message)
            continue
        items += [_result(part) for part in message.parts if isinstance(part, ToolResult)]
        if content := _BLOCKS.of_user(message):
            items.append({"role": "user", "content": content})
    return items


def _items_to_echo(message: Message, echoes_reasoning: bool) -> list[Json]:
    """The items of an earlier answer, without those that cannot stand alone.

    Reasoning is refused without the item that followed it, and an item with an id without its preceding reasoning.
    A truncated answer may lack the item of a call.
    """
    calls = {call.id: call for call in message.tool_calls}
    items: list[Json] = []
    pending: list[Json] = []
    lacks_reasoning = False
    for item in message.vendor[VENDOR]:
        if item.get("type") == "reasoning":
            pending.append(item)
            continue
        copy = dict(item)
        if item.get("type") == "function_call":
            if item["call_id"] not in calls:
                continue
            copy |= _call(calls.pop(item["call_id"]))
        reasoning = [entry for entry in pending if echoes_reasoning and entry.get("encrypted_content")]
        lacks_reasoning = lacks_reasoning or len(reasoning) < len(pending)
        if lacks_reasoning:
            copy.pop("id", None)
        items += [*reasoning, copy]
        pending.clear()
    return [*items, *map(_call, calls.values())]


def _text(text: str) -> Json:
    return {"type": "input_text", "text": text}


def _model_text(text: str) -> Json:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def _call(call: ToolCall) -> Json:
    arguments = valid_arguments(call.arguments)
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}


def _result(result: ToolResult) -> Json:
    output: str | list[Json] = result.text
    if result.images:
        text = [_text(result.text)] if result.text else []
        output = [*text, *map(_image, result.images)]
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}


def _image(image: Image) -> Json:
    return {"type": "input_image", "detail": "auto", "image_url": data_url(image, *IMAGE_LIMITS)}


def _document(document: Document) -> Json:
    data = f"data:{document.media_type};base64,{document.base64}"
    return {"type": "input_file", "filename": document.name, "file_data": data}


_BLOCKS = Blocks(text=_text, image=_image, document=_document, call=_call, model_text=_model_text)


def _tool(tool: ToolSpec) -> Json:
    """Encode a tool. Not strict: that requires every property, and calls are validated against the schema anyway."""
    schema = {"parameters": tool.schema, "strict": False}
    return {"type": "function", "name": tool.name, "description": tool.description, **schema}
