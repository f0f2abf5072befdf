"""Decodes the stream of a Chat Completions server.

Servers differ, so the decoder accepts what they send: a missing index, whole arguments as an object,
thinking in one of several fields, a tool turn that ends with `stop`.
"""

import json
from collections.abc import Sequence
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.events import Stop
from agent_nb.messages import Usage
from agent_nb.providers import failure
from agent_nb.providers.base import Piece
from agent_nb.providers.decoder import Decoder

_STOPS: dict[str, Stop] = {"length": "max_tokens", "content_filter": "refusal"}
_REASONING = ("reasoning_content", "reasoning")
_JOINED = ("text", "summary", "data")
_RARE = frozenset((*_REASONING, "reasoning_details", "refusal"))


class ChatDecoder(Decoder):
    """Decodes the chunks of one answer."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._usage = Usage()
        self._stop = ""
        self._ids: dict[Any, str] = {}
        self._newest: dict[int, Any] = {}
        """The key of the latest call with an index, for servers that reuse one."""
        self._reasoning_field = ""
        self._reasoning_details: list[Json] = []
        self._refusal: list[str] = []

    def feed(self, event: str, data: Json) -> Sequence[Piece]:
        choices = data.get("choices")
        if not choices or data.get("error"):
            return self._without_choices(data)
        choice = choices[0]
        delta = choice.get("delta")
        pieces: list[Piece] = []
        if delta:
            if not _RARE.isdisjoint(delta):
                pieces += self._rare(delta)
            if calls := delta.get("tool_calls"):
                for call in calls:
                    pieces += self._call(call)
            if content := delta.get("content"):
                if type(content) is str:
                    pieces.append(self._turn.text(content))
                else:
                    pieces += self._blocks(content)
        if choice.get("finish_reason"):
            self._stop = choice["finish_reason"]
            self._model = data.get("model") or self._model
        if data.get("usage"):
            self._usage = _usage(data["usage"])
        return pieces

    def finish(self) -> Sequence[Piece]:
        """`[DONE]` or the end of the body: complete if a finish reason came, else cut."""
        if not self._stop:
            return ()
        if self._stop == "error":  # OpenRouter, when the vendor behind it fails
            raise failure.from_status(self._settings, 500, "the answer ended with an error")
        refusal = "".join(self._refusal)
        stop = _STOPS.get(self._stop)
        if refusal and stop is None and not self._turn.has_calls:
            stop = "refusal"
        detail = refusal or (self._stop if stop == "refusal" else "")
        vendor = {self._settings.vendor.name: echo} if (echo := self._echo()) else {}
        usage = self._usage
        return (self._turn.turn(stop=stop, usage=usage, model=self._model, vendor=vendor, detail=detail),)

    def _without_choices(self, data: Json) -> Sequence[Piece]:
        if problem := data.get("error"):
            raise self._error(problem)
        if data.get("usage"):
            self._usage = _usage(data["usage"])
        return ()

    def _rare(self, delta: Json) -> Sequence[Piece]:
        """Thinking in either field, and refusals."""
        for detail in delta.get("reasoning_details") or ():
            _merge(self._reasoning_details, detail)
        for field in _REASONING:
            if isinstance(text := delta.get(field), str):
                self._reasoning_field = self._reasoning_field or field
                return (self._turn.thinking(text, "thinking"),) if text else ()
        if refusal := delta.get("refusal"):
            self._refusal.append(refusal)
            return (self._turn.text(refusal),)
        return ()

    def _blocks(self, content: Sequence[Json]) -> Sequence[Piece]:
        """Content as a list, as Mistral's reasoning models send it."""
        pieces: list[Piece] = []
        for block in content:
            if text := block.get("text"):
                pieces.append(self._turn.text(text))
            for thought in block.get("thinking") or ():
                if text := thought.get("text"):
                    pieces.append(self._turn.thinking(text))
        return pieces

    def _call(self, call: Json) -> Sequence[Piece]:
        function = call.get("function") or {}
        key = self._key(call, bool(function.get("name")))
        pieces: list[Piece] = []
        if key not in self._ids:
            if not call.get("id") and not function.get("name"):
                raise self._disordered()
            call_id = self._ids[key] = str(call.get("id") or f"call_{len(self._ids)}")
            pieces.append(self._turn.start_call(key, call_id, function.get("name") or ""))
        if arguments := function.get("arguments"):
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            pieces.append(self._turn.arguments(key, text))
        return pieces

    def _key(self, call: Json, named: bool) -> Any:
        """Which call a fragment belongs to: by its index, or its id; without either, a name starts a new call.

        Some servers give every call the index 0. There, a name with a new id starts a new call, and fragments
        without a name belong to the latest call with that index.
        """
        index, call_id = call.get("index"), call.get("id")
        if index is not None:
            newest = self._newest.get(index, index)
            if named and call_id and self._ids.get(newest, call_id) != call_id:
                newest = next((key for key, known in self._ids.items() if known == call_id), call_id)
                self._newest[index] = newest
            return newest
        if call_id or not self._ids:
            return call_id or "first"
        return f"unnumbered {len(self._ids)}" if named else next(reversed(self._ids))

    def _echo(self) -> Json:
        """The thinking, in the field it came in: some servers refuse a tool turn without it."""
        echo: Json = {}
        if self._reasoning_field:
            echo[self._reasoning_field] = self._turn.joined("thinking", "thinking")
        if self._reasoning_details:
            echo["reasoning_details"] = self._reasoning_details
        return echo


def _merge(details: list[Json], fragment: Json) -> None:
    """Adds a fragment of OpenRouter's `reasoning_details` to the detail that it continues.

    Claude refuses thinking that comes back in pieces, because its signature is for the whole text.
    """
    for known in details:
        ids = {known.get("id"), fragment.get("id")} - {None}
        if len(ids) < 2 and all(known.get(field) == fragment.get(field) for field in ("type", "index")):
            joined = {
                field: known[field] + fragment[field]
                for field in _JOINED
                if known.get(field) and fragment.get(field)
            }
            known.update({field: value for field, value in fragment.items() if value is not None} | joined)
            return
    details.append(dict(fragment))


def _usage(counts: Json) -> Usage:
    prompt = counts.get("prompt_tokens_details") or {}
    return Usage(
        input=counts.get("prompt_tokens") or 0,
        cached_read=prompt.get("cached_tokens") or counts.get("prompt_cache_hit_tokens") or 0,
        cached_write=prompt.get("cache_write_tokens") or 0,
        output=counts.get("completion_tokens") or 0,
        reasoning=(counts.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0,
    )
