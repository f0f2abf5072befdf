"""Tool calls that a small model writes as JSON into its text.

`{"name": "create_file", "arguments": {...}}`: bare, fenced, in `<tool_call>` tags, with doubled braces. They count
only if the engine accepts each of them, and if nothing else follows. On the user's own server, where models are small
and often invent a result after their call, a call at the start of a line counts too, and the text after it is dropped.
Some models write `function`, `tool`, `tool_name` or `action` for `name`.
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from agent_nb._base.wire import parse_json
from agent_nb.core.events import Stop
from agent_nb.core.messages import Text, ToolCall
from agent_nb.providers.base import CallPiece, CallStarted, Piece, TextPiece, Turn

Takes = Callable[[ToolCall], bool]

_NAME_KEYS = ("name", "function", "tool_name", "tool", "action")
_ARGUMENTS_KEYS = ("arguments", "parameters")
_OPENING = r"\s*(?:```\w*\s*)?(?:<tool(?:s|_call)>\s*)?"
_OBJECT = re.compile(_OPENING + r"(?=\{)")
_HEAD = re.compile(
    _OPENING
    + rf'\{{{{1,2}}\s*"(?:{"|".join(_NAME_KEYS)})"\s*:\s*"([\w.-]+)"\s*,\s*'
    + rf'"(?:{"|".join(_ARGUMENTS_KEYS)})"\s*:\s*(?=\{{\s*")'
)
_LONGEST_HEAD = 300
_COMPLETIONS = [f'```json\n<tool_call>\n{{{{"{key}": "x", "arguments": {{"' for key in _NAME_KEYS]
"""Examples of complete heads. A text may still become a head if it is one with the end of an example appended."""
_CLOSING = re.compile(r"\}{0,2}\s*(?:</tool(?:s|_call)>\s*)?(?:```\s*)?")
_FENCED = re.compile(r"```\w*+\s*+(?=\{)|\A\s*+(?=\{)")
_TOOLS = re.compile(r"<tools>[^<]*</tools>")
"""The tools as the server listed them, which some models repeat before each call."""
_KEYS = frozenset((*_NAME_KEYS, *_ARGUMENTS_KEYS, "id", "type"))
_START = re.compile(rf'(?:```\w*\s*)?(?:<tool(?:s|_call)>\s*)?\{{{{1,2}}\s*"(?:{"|".join(sorted(_KEYS))})"')
_MOST_STARTS = 20
"""Candidate positions to try, counted from the end."""
_DOUBLED_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:\s*\{\{')
_SIGNIFICANT = re.compile(r'["{}]|\\.?', re.DOTALL)
_decode = json.JSONDecoder(strict=False).raw_decode


class WrittenCalls:
    """Filters one answer. A text that begins with a call is streamed as that call."""

    def __init__(
        self,
        names: Collection[str],
        takes: Takes,
        prefix: str = "",
        *,
        allows_more: bool = False,
        answer: str = "",
    ) -> None:
        self._names, self._takes, self._prefix = names, takes, f"text_call_{prefix}"
        self._allows_more = allows_more
        """Whether text may follow a call. It is dropped: it was written before there was a result."""
        self._answer = answer
        """The tool that ends the run with an answer of a type."""
        self._text: list[str] = []
        self._head: str | None = ""
        """Buffered text that may still become the head of a call; None once decided."""
        self._first: str | None = None
        """Name of the call as which the text is streamed."""
        self._streamed: list[str] = []
        self._object = _ObjectScanner()

    def read(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        result: list[Piece] = []
        for piece in pieces:
            match piece:
                case TextPiece(text):
                    self._text.append(text)
                    result += self._continue(text) if self._head is None else self._begin(text)
                case CallStarted():
                    result += (*self._flush_head(), piece)
                case Turn():
                    result += (*self._flush_head(), *self._end(piece))
                case _:
                    result.append(piece)
        return result

    def _begin(self, text: str) -> Sequence[Piece]:
        head = self._head = (self._head or "") + text
        if (match := _HEAD.match(head)) and match[1] in self._names:
            self._head, self._first = None, match[1]
            return CallStarted(self._id(1), match[1], written=True), *self._continue(head[match.end() :])
        ends = (example[place:] for example in _COMPLETIONS for place in range(len(example)))
        may_become_head = len(head) < _LONGEST_HEAD and any(_HEAD.match(head + end) for end in ends)
        return () if may_become_head else self._flush_head()

    def _flush_head(self) -> Sequence[Piece]:
        head, self._head = self._head, None
        return (TextPiece(head),) if head else ()

    def _continue(self, text: str) -> Sequence[Piece]:
        if self._first is None:
            return (TextPiece(text),)
        if self._object.has_ended or not text:
            return ()
        text = text[: self._object.end(text)]
        self._streamed.append(text)
        return (CallPiece(self._id(1), text),)

    def _end(self, turn: Turn) -> Sequence[Piece]:
        text, streamed = "".join(self._text), self._first is not None
        has_own = turn.message.tool_calls or turn.stop == "refusal"
        calls, before = ((), "") if has_own else self._calls(text, turn)
        if not calls:
            return *([TextPiece(text)] if streamed else ()), turn
        others = [part for part in turn.message.parts if not isinstance(part, Text)]
        parts = (*([Text(before)] if before else ()), *others)
        is_cut = turn.stop == "max_tokens" and parse_json(calls[-1].arguments) is None
        stop: Stop = "max_tokens" if is_cut else "tool_use"
        new = calls[1:] if streamed else calls
        pieces = [
            piece
            for call in new
            for piece in (CallStarted(call.id, call.name, written=True), CallPiece(call.id, call.arguments))
        ]
        return *pieces, replace(turn, stop=stop, message=replace(turn.message, parts=(*parts, *calls)))

    def _calls(self, text: str, turn: Turn) -> tuple[tuple[ToolCall, ...], str]:
        """The calls in the text, and the text before them."""
        starts = [0] if self._first else [match.start() for match in _START.finditer(text)][-_MOST_STARTS:]
        streamed = "".join(self._streamed)
        for start in starts:
            candidates, is_last = calls_at(text, start)
            begins_line = not text[:start].rpartition("\n")[2].strip()
            if not candidates or not (is_last or (self._allows_more and begins_line)):
                continue
            calls = [replace(call, id=self._id(place)) for place, call in enumerate(candidates, 1)]
            if self._first and parse_json(streamed) is not None:
                calls[0] = replace(calls[0], arguments=streamed)
            before = _TOOLS.sub("", text[:start]).strip()
            return tuple(calls) if all(map(self._takes, calls)) else (), before
        if self._first and not self._object.has_ended and turn.stop == "max_tokens":
            # Truncated, which the engine reports to the model.
            return (ToolCall(self._id(1), self._first, streamed, written=True),), ""
        return self._answer_in(text)

    def _answer_in(self, text: str) -> tuple[tuple[ToolCall, ...], str]:
        """The last JSON object in a fence, or the whole text if it is one, as a call of the tool for the answer."""
        starts = [match.start() for match in _FENCED.finditer(text)] if self._answer else []
        if not starts or not (entry := _object_at(text, starts[-1])):
            return (), ""
        arguments = json.dumps(entry[0], ensure_ascii=False)
        return (ToolCall(self._id(1), self._answer, arguments, written=True),), text[: starts[-1]].strip()

    def _id(self, place: int) -> str:
        return f"{self._prefix}{place}"


def calls_at(text: str, start: int) -> tuple[list[ToolCall], bool]:
    """The calls from `start` on, without ids, and whether the text ends with them."""
    if _DOUBLED_ARGUMENTS.search(text, start):
        text = text.replace("{{", "{").replace("}}", "}")
    calls: list[ToolCall] = []
    while start < len(text) and (entry := _object_at(text, start)):
        value, end = entry
        arguments = value.get("arguments", value.get("parameters"))
        names = [value[key] for key in _NAME_KEYS if key in value]
        if len(names) != 1 or not isinstance(names[0], str):
            break
        if not isinstance(arguments, dict) or set(value) - _KEYS:
            break
        calls.append(ToolCall("", names[0], json.dumps(arguments, ensure_ascii=False), written=True))
        closing = _CLOSING.match(text, end)
        start = closing.end() if closing else end
    return calls, start >= len(text)


def _object_at(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    """The JSON object at `start`, possibly in a fence or tags or with doubled braces, and its end."""
    opening = _OBJECT.match(text, start)
    if opening is None:
        return None
    for begin in (opening.end(), opening.end() + 1):
        if text.startswith("{", begin):
            try:
                return _decode(text, begin)
            except (ValueError, RecursionError):
                continue
    return None


class _ObjectScanner:
    """Finds the end of a JSON object that arrives in fragments."""

    def __init__(self) -> None:
        self._depth, self._in_string, self._escaped = 0, False, False
        self.has_ended = False

    def end(self, fragment: str) -> int:
        """The end of the object in this fragment, or the fragment's length if the object continues."""
        start, self._escaped = int(self._escaped), False
        for token in _SIGNIFICANT.finditer(fragment, start):
            match token[0]:
                case '"':
                    self._in_string = not self._in_string
                case "\\":
                    self._escaped = True
                case "{" | "}" if not self._in_string:
                    self._depth += 1 if token[0] == "{" else -1
                    if not self._depth:
                        self.has_ended = True
                        return token.end()
        return len(fragment)
