"""Decodes the stream of OpenAI's Responses API."""

import json
import re
from collections.abc import Sequence
from typing import Any, ClassVar

from agent_nb._base.wire import Json
from agent_nb.events import Stop
from agent_nb.messages import Usage
from agent_nb.providers.base import Piece
from agent_nb.providers.decoder import Decoder

VENDOR = "openai"
_INCOMPLETE: dict[str, Stop] = {
    "max_output_tokens": "max_tokens",
    "max_messages": "max_tokens",
    "content_filter": "refusal",
    "steered": "go_on",
}
_POLICY = re.compile(r"policy|content_filter|safety", re.IGNORECASE)


class ResponsesDecoder(Decoder):
    """Decodes the events of one answer, keyed by `output_index`: only items carry the names of calls."""

    status_of: ClassVar = {"server_is_overloaded": 503, "slow_down": 503, "server_error": 500, "error": 500}
    unknown_status = 400

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
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
                raise self._error(data.get("error") or data)
            case "" if "error" in data:
                raise self._error(data["error"])
        return ()

    def _started(self, index: int, item: Json) -> Sequence[Piece]:
        """A call starts with its item, which also has the arguments if the server sends no deltas."""
        if item.get("type") != "function_call":
            return ()
        pieces: list[Piece] = []
        if not self._turn.has_call(index):
            pieces.append(self._turn.start_call(index, item["call_id"], item["name"]))
        if item.get("arguments") and not self._turn.joined("call", index):
            pieces.append(self._turn.arguments(index, item["arguments"]))
        return pieces

    def _done(self, index: int, item: Json) -> Sequence[Piece]:
        """A finished call repeats its arguments: deltas that say something else came twice or in another order."""
        pieces = self._started(index, item)
        if item.get("type") == "function_call" and (arguments := item.get("arguments")):
            deltas = self._turn.joined("call", index)
            if deltas != arguments and not _same_json(deltas, arguments):
                raise self._disordered()
        # An echo takes the arguments from the call: a page need not be in memory twice.
        self._items[index] = {**item, "arguments": ""} if "arguments" in item else item
        return pieces

    def _finished(self, response: Json, stop: Stop | None = None, detail: str = "") -> Sequence[Piece]:
        refusal = "".join(self._refusal)
        incomplete = (response.get("incomplete_details") or {}).get("reason")
        if stop is None and not incomplete and self._items and self._added - self._items.keys():
            raise self._disordered()
        if stop is None and incomplete:
            stop = _INCOMPLETE.get(incomplete, "max_tokens")
            detail = incomplete if stop == "refusal" else ""
        if stop is None and refusal and not self._turn.has_calls:
            stop = "refusal"
        items = [self._items[index] for index in sorted(self._items)] or response.get("output") or []
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
        raise self._error(problem)


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
