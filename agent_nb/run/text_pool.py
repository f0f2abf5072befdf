"""Long texts in the file of a run, each stored once: where one occurs again, there is a reference to it.

Texts are numbered in the order of the file: strings of 64 characters or more, consecutive deltas of one text, and the
versions of files that patches make. The long strings in a JSON text are numbered after it. A reference is one of:

    {"$": 12}                    text 12
    {"$": ["...", 12, "..."]}    text 12 between other characters
    {"$json": ["...", 12, ...]}  the same, with text 12 as a JSON string
"""

import json
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

import agent_nb.events as ev
from agent_nb._base.wire import Json
from agent_nb.files import apply_patch

DELTAS = {kind.type for kind in (ev.TextDelta, ev.ThinkingDelta, ev.ToolArgsDelta, ev.FileDelta)}
LONG = 64
MOST_MADE = 200_000_000
"""Characters that the references of one file may make: a few bytes could repeat a large text often."""
MOST_PATCHED = 64_000_000
"""Characters of the versions of files that are numbered; a run holds as many bytes of old versions."""
_SEARCHED = 64
"""How many texts are searched for in another one: what is repeated was written shortly before."""
_MARKS = {"$", "$json", "$plain"}


class _Texts:
    """The numbered texts of a file, as far as it was written or read."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._open: dict[Hashable, list[str]] = {}
        self._patched = 0
        self.files: dict[str, str] = {}
        """The text files of the variant, as the events have left them."""

    def add(self, text: str) -> None:
        for each in (text, *_strings_in(text)):
            self._number(each)

    def _number(self, text: str) -> None:
        self._texts.append(text)

    def event(self, row: Json) -> Json:
        """An event as it is written, or as it was before that."""
        kind = row.get("type")
        if kind == ev.RunStarted.type:
            self.files = {}
        if row.get("offset") == 0 or kind not in DELTAS | {ev.UsageUpdated.type}:
            for pieces in self._open.values():
                self.add("".join(pieces))
            self._open = {}
        if kind not in DELTAS:
            return {name: self.convert(value) for name, value in row.items()}
        self._open.setdefault((kind, row.get("call_id"), row.get("path")), []).append(row["text"])
        return row

    def convert(self, value: Any) -> Any:
        raise NotImplementedError

    def change(self, path: str, patch: Sequence[ev.LinePatch] | None) -> None:
        """Numbers the version of a file that a patch makes; None for one that is not text."""
        before = self.files.pop(path, "")
        if patch is None:
            return
        self.files[path] = text = apply_patch(before, patch)
        self._patched += len(text)
        if self._patched <= MOST_PATCHED:
            self._number(text)


class TextReader(_Texts):
    """Resolves the references of a file, given its values in order. Raises `ValueError` for a wrong one."""

    def __init__(self) -> None:
        super().__init__()
        self._made = 0

    def convert(self, value: Any) -> Any:
        match value:
            case str():
                if len(value) >= LONG:
                    self.add(value)
                return value
            case {"$": int(number)} if len(value) == 1:
                return self._text(number)
            case {"$": list(pieces)} if len(value) == 1:
                return "".join(self._resolved(pieces, str))
            case {"$json": list(pieces)} if len(value) == 1:
                return "".join(self._resolved(pieces, _quoted))
            case {"$plain": dict(plain)} if len(value) == 1:
                return {key: self.convert(item) for key, item in plain.items()}
            case dict():
                return {key: self.convert(item) for key, item in value.items()}
            case list():
                return [self.convert(item) for item in value]
            case _:
                return value

    def _resolved(self, pieces: list[Any], form: Callable[[str], str]) -> Iterator[str]:
        for piece in pieces:
            text = piece if isinstance(piece, str) else form(self._text(piece))
            self._made += len(text)
            if self._made > MOST_MADE:
                raise ValueError(f"its references make more than {MOST_MADE:,} characters")
            yield text

    def _text(self, number: Any) -> str:
        if isinstance(number, int) and 0 <= number < len(self._texts):
            return self._texts[number]
        raise ValueError(f"{str(number)[:40]!r} refers to no text before it")


class TextWriter(_Texts):
    """Replaces texts by references, given the values of a file in order."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[str, int] = {}
        self._recent: deque[str] = deque(maxlen=_SEARCHED)

    def _number(self, text: str) -> None:
        if len(text) >= LONG and text not in self._numbers:
            self._numbers[text] = len(self._texts)
            if " " in text:  # others are base64
                self._recent.append(text)
        super()._number(text)

    def convert(self, value: Any) -> Any:
        match value:
            case str():
                return self._shortest(value) if len(value) >= LONG else value
            case dict():
                written = {key: self.convert(item) for key, item in value.items()}
                return {"$plain": written} if len(value) == 1 and value.keys() <= _MARKS else written
            case list() | tuple():
                return [self.convert(item) for item in value]
            case _:
                return value

    def _shortest(self, text: str) -> str | Json:
        if text in self._numbers:
            return {"$": self._numbers[text]}
        strings = [each for each in _strings_in(text) if each in self._numbers]
        if pieces := self._pieces(text, strings, _quoted):
            return {"$json": pieces}
        inside = max((each for each in self._recent if each in text), key=len, default=None)
        if inside is not None:
            return {"$": self._pieces(text, [inside], str)}
        self.add(text)
        return text

    def _pieces(self, text: str, known: Iterable[str], form: Callable[[str], str]) -> list[str | int]:
        """The text as numbers of known texts, with the characters around them; empty if it has none of them."""
        pieces: list[str | int] = []
        start = 0
        for each in known:
            written = form(each)
            at = text.find(written, start)
            if at >= 0:
                pieces += [text[start:at], self._numbers[each]]
                start = at + len(written)
        return [*pieces, text[start:]] if pieces else []


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _strings_in(text: str) -> Iterator[str]:
    """The long strings in a JSON object or list; none if the text is neither."""
    try:
        values = [json.loads(text)] if text[:1] in ("{", "[") else []
    except (ValueError, RecursionError):
        return
    while values:
        value = values.pop()
        if isinstance(value, str) and len(value) >= LONG:
            yield value
        elif isinstance(value, dict | list):
            values += reversed([*value.values()] if isinstance(value, dict) else value)
