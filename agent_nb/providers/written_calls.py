"""Tool calls that a small model writes into its text, as JSON, instead of making them.

`{"name": "create_file", "arguments": {...}}`: bare, fenced, in `<tool_call>` tags, with doubled braces. They count
only if nothing but such calls follows to the end of the turn, and if the engine takes each of them. Some models write
`function`, `tool`, `tool_name` or `action` for `name`.
"""

import functools
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from agent_nb._base.secrets import readings
from agent_nb.events import Stop
from agent_nb.files import Files
from agent_nb.messages import Message, Text, ToolCall, ToolResult, ToolSpec
from agent_nb.providers.base import CallPiece, CallStarted, Piece, TextPiece, Turn

Takes = Callable[[ToolCall], bool]

_NAME_KEYS = ("name", "function", "tool_name", "tool", "action")
_ARGUMENTS_KEYS = ("arguments", "parameters")
_OPENING = r"\s*(?:```\w*\s*)?(?:<tool_call>\s*)?"
_OBJECT = re.compile(_OPENING + r"(?=\{)")
_HEAD = re.compile(
    _OPENING
    + rf'\{{{{1,2}}\s*"(?:{"|".join(_NAME_KEYS)})"\s*:\s*"([\w.-]+)"\s*,\s*'
    + rf'"(?:{"|".join(_ARGUMENTS_KEYS)})"\s*:\s*(?=\{{\s*")'
)
_LONGEST_HEAD = 300
_COMPLETIONS = [f'```json\n<tool_call>\n{{{{"{key}": "x", "arguments": {{"' for key in _NAME_KEYS]
"""Heads. What can be continued by an end of one may still become one."""
_CLOSING = re.compile(r"\}{0,2}\s*(?:</tool_call>\s*)?(?:```\s*)?")
_KEYS = frozenset((*_NAME_KEYS, *_ARGUMENTS_KEYS, "id", "type"))
_START = re.compile(rf'(?:```\w*\s*)?(?:<tool_call>\s*)?\{{{{1,2}}\s*"(?:{"|".join(sorted(_KEYS))})"')
_MOST_STARTS = 20
"""Places, counted from the end, at which calls are looked for."""
_DOUBLED_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:\s*\{\{')
_SIGNIFICANT = re.compile(r'["{}]|\\.?', re.DOTALL)
_decode = json.JSONDecoder(strict=False).raw_decode
_NO_LETTERS = re.compile(r"[\W_]+")


class WrittenCalls:
    """Reads one answer. A text that begins with a call is passed on as that call while it is written."""

    def __init__(self, names: Collection[str], takes: Takes, prefix: str = "") -> None:
        self._names, self._takes, self._prefix = names, takes, f"text_call_{prefix}"
        self._text: list[str] = []
        self._head: str | None = ""
        """The text so far while it may still become the head of a call; None from then on."""
        self._first: str | None = None
        """The name of the call as which the text is passed on."""
        self._passed: list[str] = []
        self._object = _Object()

    def read(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        read: list[Piece] = []
        for piece in pieces:
            match piece:
                case TextPiece(text):
                    self._text.append(text)
                    read += self._continue(text) if self._head is None else self._begin(text)
                case CallStarted():
                    read += (*self._flush_head(), piece)
                case Turn():
                    read += (*self._flush_head(), *self._end(piece))
                case _:
                    read.append(piece)
        return read

    def _begin(self, text: str) -> Sequence[Piece]:
        head = self._head = (self._head or "") + text
        if (found := _HEAD.match(head)) and found[1] in self._names:
            self._head, self._first = None, found[1]
            return CallStarted(self._id(1), found[1], written=True), *self._continue(head[found.end() :])
        return () if len(head) < _LONGEST_HEAD and _may_become_head(head) else self._flush_head()

    def _flush_head(self) -> Sequence[Piece]:
        head, self._head = self._head, None
        return (TextPiece(head),) if head else ()

    def _continue(self, text: str) -> Sequence[Piece]:
        if self._first is None:
            return (TextPiece(text),)
        if self._object.has_ended or not text:
            return ()
        text = text[: self._object.end(text)]
        self._passed.append(text)
        return (CallPiece(self._id(1), text),)

    def _end(self, turn: Turn) -> Sequence[Piece]:
        text, streamed = "".join(self._text), self._first is not None
        calls = () if turn.message.tool_calls or turn.stop == "refusal" else self._calls(text, turn)
        if not calls:
            return *([TextPiece(text)] if streamed else ()), turn
        parts = tuple(part for part in turn.message.parts if not (streamed and isinstance(part, Text)))
        stop: Stop = "max_tokens" if turn.stop == "max_tokens" else "tool_use"
        new = calls[1:] if streamed else calls
        pieces = [
            piece
            for call in new
            for piece in (CallStarted(call.id, call.name, written=True), CallPiece(call.id, call.arguments))
        ]
        return *pieces, replace(turn, stop=stop, message=replace(turn.message, parts=(*parts, *calls)))

    def _calls(self, text: str, turn: Turn) -> tuple[ToolCall, ...]:
        starts = [0] if self._first else [found.start() for found in _START.finditer(text)][-_MOST_STARTS:]
        passed = "".join(self._passed)
        for written in filter(None, (calls_at(text, start) for start in starts)):
            calls = [
                ToolCall(self._id(place), call.name, call.arguments, written=True)
                for place, call in enumerate(written, 1)
            ]
            if self._first and _is_json(passed):
                calls[0] = replace(calls[0], arguments=passed)
            return tuple(calls) if all(map(self._takes, calls)) else ()
        if self._first and not self._object.has_ended and turn.stop == "max_tokens":
            return (
                ToolCall(self._id(1), self._first, passed, written=True),
            )  # cut off, as the model is told
        return ()

    def _id(self, place: int) -> str:
        return f"{self._prefix}{place}"


class WrittenCall(NamedTuple):
    name: str
    arguments: str


def calls_at(text: str, start: int) -> list[WrittenCall]:
    """The calls that are all of the text from here."""
    if _DOUBLED_ARGUMENTS.search(text, start):
        text = text.replace("{{", "{").replace("}}", "}")
    calls: list[WrittenCall] = []
    while start < len(text):
        found = _object_at(text, start)
        if found is None:
            return []
        value, start = found
        arguments = value.get("arguments", value.get("parameters"))
        names = [value[key] for key in _NAME_KEYS if key in value]
        if len(names) != 1 or not isinstance(names[0], str):
            return []
        if not isinstance(arguments, dict) or set(value) - _KEYS:
            return []
        calls.append(WrittenCall(names[0], json.dumps(arguments, ensure_ascii=False)))
        closing = _CLOSING.match(text, start)
        start = closing.end() if closing else start
    return calls


def _object_at(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    """The JSON object that begins here, in a fence or tags or with doubled braces, and where it ends."""
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


class _Object:
    """Finds the end of a JSON object that arrives in fragments."""

    def __init__(self) -> None:
        self._depth, self._in_string, self._escaped = 0, False, False
        self.has_ended = False

    def end(self, fragment: str) -> int:
        """Where the object ends in this fragment; the fragment's length if it goes on."""
        start, self._escaped = int(self._escaped), False
        for found in _SIGNIFICANT.finditer(fragment, start):
            match found[0]:
                case '"':
                    self._in_string = not self._in_string
                case "\\":
                    self._escaped = True
                case "{" | "}" if not self._in_string:
                    self._depth += 1 if found[0] == "{" else -1
                    if not self._depth:
                        self.has_ended = True
                        return found.end()
        return len(fragment)


def _may_become_head(text: str) -> bool:
    return any(_HEAD.match(text + head[place:]) for head in _COMPLETIONS for place in range(len(head)))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def is_quoted(call: ToolCall, sent: Iterable[str]) -> bool:
    """Whether a call may be a quotation: a text that was sent says to call this tool with these arguments."""
    name, arguments = _letters(call.name), json.loads(call.arguments)
    given = [_letters(json.dumps({key: value}, ensure_ascii=False)) for key, value in arguments.items()]
    return any(
        any(_letters(key) + name in text for key in _NAME_KEYS)
        and any(key in text for key in _ARGUMENTS_KEYS)
        and all(argument in text for argument in given)
        for text in map(_letters, sent)
    )


def sent_texts(
    system: str, messages: Sequence[Message], tools: Sequence[ToolSpec], files: Files
) -> Iterator[str]:
    """All that a model reads and has not written: instructions, questions, results, its tools, and files."""
    yield system
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResult) or (isinstance(part, Text) and message.role != "assistant"):
                yield part.text
    for tool in tools:
        yield json.dumps([tool.description, tool.schema], ensure_ascii=False)
    for content in files.values():
        yield content if isinstance(content, str) else content.decode("utf-8", "replace")


@functools.lru_cache(maxsize=64)
def _letters(text: str) -> str:
    """The letters and digits of a text whose escapes are decoded: what is left of it however it is quoted."""
    *_, reading = readings(text)
    return _NO_LETTERS.sub("", reading.text).casefold()
