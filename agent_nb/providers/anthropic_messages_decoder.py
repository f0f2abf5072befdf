"""Decodes the stream of Anthropic's Messages API."""

from collections.abc import Sequence
from typing import Any, ClassVar

from agent_nb._base.wire import Json
from agent_nb.events import Stop
from agent_nb.messages import Usage
from agent_nb.providers.base import Piece, UsagePiece
from agent_nb.providers.decoder import Decoder
from agent_nb.providers.preserved import Prefix, is_thinking

VENDOR = "anthropic"
PREFIX = "anthropic_prefix"
"""Where a message keeps the digest of the request that it answers."""
_STOPS: dict[str, Stop] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
    "pause_turn": "go_on",
}


class AnthropicMessagesDecoder(Decoder):
    """Decodes the events of one answer."""

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

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._blocks: dict[int, Json] = {}
        self._open: set[int] = set()
        self._calls: set[int] = set()
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
                return self._counted(data["message"].get("usage"))
            case "message_delta":
                delta = data.get("delta") or {}
                self._stop = delta.get("stop_reason") or self._stop
                self._detail = _detail(delta.get("stop_details")) or self._detail
                return self._counted(data.get("usage"))
            case "message_stop":
                return self._finished()
            case "error":
                raise self._error(data.get("error") or {})
        return ()

    def _start(self, index: int, block: Json) -> Sequence[Piece]:
        if index in self._open:
            raise self._disordered()
        self._open.add(index)
        self._blocks[index] = dict(block)
        match block["type"]:
            case "tool_use":
                self._calls.add(index)
                return (self._turn.start_call(index, block["id"], block["name"]),)
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
            return (self._turn.arguments(index, text),) if text and index in self._calls else ()
        if kind == "text_delta":
            return (self._turn.text(delta["text"], index),)
        if kind == "thinking_delta":
            return (self._turn.thinking(delta["thinking"], index),)
        if kind == "signature_delta":
            self._blocks[index]["signature"] = delta["signature"]  # replaces, does not append
        elif kind == "citations_delta":
            self._cite(index, delta.get("citation") or {})
        return ()

    def _cite(self, index: int, citation: Json) -> None:
        block = self._blocks[index]
        block["citations"] = [*(block.get("citations") or []), citation]
        self._turn.cite(citation)

    def _counted(self, usage: Json | None) -> Sequence[Piece]:
        """Counts are cumulative, and those left out keep their last value."""
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
        """The block as it is sent back. Arguments are filled in then: a page need not be in memory twice."""
        block = self._blocks[index]
        match block.get("type"):
            case "text":
                return {**block, "text": self._turn.joined("text", index)}
            case "thinking":
                return {**block, "thinking": self._turn.joined("thinking", index)}
        return block


def _usage(counts: Json) -> Usage:
    read = counts.get("cache_read_input_tokens", 0)
    written = counts.get("cache_creation_input_tokens", 0)
    return Usage(
        input=counts.get("input_tokens", 0) + read + written,
        cached_read=read,
        cached_write=written,
        output=counts.get("output_tokens", 0),
        reasoning=(counts.get("output_tokens_details") or {}).get("thinking_tokens") or 0,
    )


def _detail(stop_details: Json | None) -> str:
    """The vendor's explanation of a refusal, or its category."""
    details = stop_details or {}
    category = details.get("category") or ""
    return str(details.get("explanation") or category)
