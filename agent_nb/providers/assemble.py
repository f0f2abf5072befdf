"""Assembles the pieces of a turn into its message. The only place where deltas become parts."""

from typing import Any, Literal

from agent_nb._base.text import TextBuffer
from agent_nb._base.wire import Json, parse_json
from agent_nb.core.events import Stop
from agent_nb.core.messages import Message, Part, Source, Text, Thinking, ToolCall, Usage
from agent_nb.providers.base import CallPiece, CallStarted, TextPiece, ThinkingPiece, Turn

PartKind = Literal["text", "thinking", "call"]


class _OpenPart:
    __slots__ = ("id", "kind", "name", "text")

    def __init__(self, kind: PartKind, call_id: str = "", name: str = "") -> None:
        self.kind, self.id, self.name = kind, call_id, name
        self.text = TextBuffer()

    def close(self) -> Part:
        text = str(self.text)
        if self.kind == "call":
            return ToolCall(self.id, self.name, text or "{}")
        return Text(text) if self.kind == "text" else Thinking(text)


class Assembler:
    """A turn under construction. Parts are keyed by the vendor's index or id; unkeyed text extends the last part."""

    def __init__(self) -> None:
        self._parts: list[_OpenPart | Source] = []
        self._calls: dict[Any, _OpenPart] = {}
        self._parts_by_key: dict[Any, _OpenPart] = {}

    def text(self, text: str, key: Any = None) -> TextPiece:
        self._block("text", key).text.add(text)
        return TextPiece(text)

    def thinking(self, text: str, key: Any = None) -> ThinkingPiece:
        self._block("thinking", key).text.add(text)
        return ThinkingPiece(text)

    def start_call(self, key: Any, call_id: str, name: str) -> CallStarted:
        block = _OpenPart("call", call_id, name)
        self._calls[key] = block
        self._parts.append(block)
        return CallStarted(call_id, name)

    def arguments(self, key: Any, text: str) -> CallPiece:
        block = self._calls[key]
        block.text.add(text)
        return CallPiece(block.id, text)

    def has_arguments(self, key: Any) -> bool:
        return len(self._calls[key].text) > 0

    def has_same_arguments(self, key: Any, arguments: str) -> bool:
        text = self._calls[key].text
        return text.equals(arguments) or parse_json(str(text), text) == parse_json(arguments, arguments)

    def has_text(self, key: Any) -> bool:
        return ("text", key) in self._parts_by_key

    def has_call(self, key: Any) -> bool:
        return key in self._calls

    @property
    def has_calls(self) -> bool:
        return bool(self._calls)

    def part_text(self, kind: PartKind, key: Any) -> str:
        block = self._calls.get(key) if kind == "call" else self._parts_by_key.get((kind, key))
        return str(block.text) if block else ""

    def cite(self, citation: Json) -> None:
        if url := citation.get("url"):
            self._parts.append(Source(citation.get("title") or url, url, citation.get("cited_text") or ""))

    def turn(
        self,
        *,
        usage: Usage,
        model: str,
        stop: Stop | None = None,
        vendor: Json | None = None,
        detail: str = "",
    ) -> Turn:
        """The finished turn. Without `stop`, it ended for its tool calls, or because it was complete."""
        stop = stop or ("tool_use" if self._calls else "end_turn")
        parts = tuple(part.close() if isinstance(part, _OpenPart) else part for part in self._parts)
        filled = tuple(part for part in parts if not (isinstance(part, Text | Thinking) and not part.text))
        message = Message(role="assistant", parts=filled, vendor=vendor or {})
        return Turn(message=message, stop=stop, usage=usage, model=model, detail=detail)

    def _block(self, kind: PartKind, key: Any) -> _OpenPart:
        if key is not None and (kind, key) in self._parts_by_key:
            return self._parts_by_key[(kind, key)]
        last = self._parts[-1] if self._parts else None
        if key is None and isinstance(last, _OpenPart) and last.kind == kind:
            return last
        block = _OpenPart(kind)
        self._parts.append(block)
        if key is not None:
            self._parts_by_key[(kind, key)] = block
        return block
