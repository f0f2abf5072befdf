"""Reads the JSON arguments of a call while they arrive, in linear time for any fragmentation.

Only the top-level strings that are asked for are decoded. Broken JSON silently ends the reading: the complete
arguments are parsed elsewhere, strictly.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence

from agent_nb._base.text import whole_text
from agent_nb._base.text_buffer import TextBuffer
from agent_nb.errors import FileError
from agent_nb.files import MAX_TEXT_BYTES, safe_path

_HEX = "[0-9a-fA-F]"
# Complete characters of a JSON string. What follows a high surrogate decides whether its escape is complete.
_CHARACTERS = re.compile(
    rf"""(?: [^"\\]++ | \\["\\/bfnrt] | \\u (?![dD][89abAB]) {_HEX}{{4}}
         | \\u[dD][89abAB]{_HEX}{{2}} (?= [^\\] | \\[^u] | \\u{_HEX}{{4}} ) )*+""",
    re.VERBOSE,
)
_LONGEST_SPLIT_ESCAPE = len(r"\ud83d\ude0")
_SKIPPED_CHARACTERS = re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL)
_SPACE = re.compile(r"[ \t\n\r]*+")
_SCALAR = re.compile(r"[^,}]*+")
_NESTED = re.compile(r'[^"{}\[\]]*+')
_DECODER = json.JSONDecoder(strict=False)
_scan = _DECODER.scan_once  # type: ignore[attr-defined]
"""`raw_decode` without its wrapper, for texts that are known to be complete."""

Piece = tuple[str, int, str]


class StringFields:
    """The top-level string values of these names, as pieces: `text = text[:offset] + piece`.

    A value starts at offset 0. A name that occurs twice starts again, because the last value wins.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._step: Callable[[str, int, list[Piece]], int] | None = self._object
        self._held = ""
        """The start of an escape that is not complete yet."""
        self._key: list[str] = []
        self._name = ""
        self.offset = 0
        """Where the next piece of the current value begins."""
        self._in_value = False
        """Whether a piece of the current value has been returned."""
        self._depth = 0

    @property
    def open(self) -> str | None:
        """The name whose value is incomplete, if it is one of the wanted ones."""
        return self._name if self._step == self._value_text else None

    @property
    def inside(self) -> str | None:
        """The name whose value is incomplete, if a piece of it has been returned."""
        return self._name if self._in_value else None

    def feed(self, fragment: str) -> list[Piece]:
        """Returns the pieces in this fragment of the JSON text."""
        if self._in_value and (middle := self.middle(fragment)):
            return [(self._name, self.offset - len(middle), middle)]
        pieces: list[Piece] = []
        text, self._held = self._held + fragment, ""
        position = 0
        while position < len(text) and self._step is not None:
            position = self._step(text, position, pieces)
        return pieces

    def middle(self, fragment: str) -> str:
        """The decoded fragment if it lies inside the value, as nearly every one does; otherwise empty.

        For fragments that follow a piece of a value. An empty answer changes nothing: `feed` the fragment then.
        """
        text, held = self._held + fragment, ""
        if "\\" in text and (decoded := _wholly_decoded(text)):
            text = decoded
        elif "\\" in text:
            end = _end(_CHARACTERS, text, 0)
            text, held = text[:end], text[end:]
            if held.startswith('"') or len(held) > _LONGEST_SPLIT_ESCAPE:
                return ""
            text = _decoded(text)
        elif '"' in text:
            return ""
        if text:
            self._held = held
            self.offset += len(text)
        return text

    # One method per state: each reads from `position` and returns where it stopped.

    def _object(self, text: str, position: int, pieces: list[Piece]) -> int:
        return self._punctuation(text, position, {"{": self._key_start})

    def _key_start(self, text: str, position: int, pieces: list[Piece]) -> int:
        self._key = []
        return self._punctuation(text, position, {'"': self._key_text, "}": None})

    def _key_text(self, text: str, position: int, pieces: list[Piece]) -> int:
        decoded, end, closed = self._characters(text, position)
        self._key.append(decoded)
        if closed:
            self._name, self._step = "".join(self._key), self._colon
        return end

    def _colon(self, text: str, position: int, pieces: list[Piece]) -> int:
        return self._punctuation(text, position, {":": self._value})

    def _value(self, text: str, position: int, pieces: list[Piece]) -> int:
        position = _end(_SPACE, text, position)
        if position == len(text):
            return position
        match text[position]:
            case '"' if self._name in self._names:
                self.offset, self._in_value, self._step = 0, False, self._value_text
            case '"':
                self._depth, self._step = 0, self._skipped_text
            case "{" | "[":
                self._depth, self._step = 1, self._nested
            case _:
                self._step = self._scalar
                return position
        return position + 1

    def _value_text(self, text: str, position: int, pieces: list[Piece]) -> int:
        decoded, end, closed = self._characters(text, position)
        if decoded or (closed and not self._in_value):
            pieces.append((self._name, self.offset, decoded))
            self.offset += len(decoded)
            self._in_value = True
        if closed:
            self._in_value, self._step = False, self._after_value
        return end

    def _skipped_text(self, text: str, position: int, pieces: list[Piece]) -> int:
        end = _end(_SKIPPED_CHARACTERS, text, position)
        if end == len(text):
            return end
        if text[end] == '"':
            self._step = self._nested if self._depth else self._after_value
            return end + 1
        self._held = "\\"
        return len(text)

    def _nested(self, text: str, position: int, pieces: list[Piece]) -> int:
        position = _end(_NESTED, text, position)
        if position == len(text):
            return position
        match text[position]:
            case '"':
                self._step = self._skipped_text
            case "{" | "[":
                self._depth += 1
            case _:
                self._depth -= 1
                if not self._depth:
                    self._step = self._after_value
        return position + 1

    def _scalar(self, text: str, position: int, pieces: list[Piece]) -> int:
        end = _end(_SCALAR, text, position)
        if end < len(text):
            self._step = self._after_value
        return end

    def _after_value(self, text: str, position: int, pieces: list[Piece]) -> int:
        return self._punctuation(text, position, {",": self._key_start, "}": None})

    def _punctuation(
        self, text: str, position: int, next_steps: dict[str, Callable[[str, int, list[Piece]], int] | None]
    ) -> int:
        """Takes the step for the next character; an unexpected one ends the reading."""
        position = _end(_SPACE, text, position)
        if position == len(text):
            return position
        self._step = next_steps.get(text[position])
        return position + 1

    def _characters(self, text: str, position: int) -> tuple[str, int, bool]:
        """The decoded characters from `position` on, where they end, and whether the string ends there."""
        end = _end(_CHARACTERS, text, position)
        decoded = _decoded(text[position:end])
        if end < len(text) and text[end] == '"':
            return decoded, end + 1, True
        self._held = text[end:]
        if len(self._held) > _LONGEST_SPLIT_ESCAPE:
            self._in_value, self._step = False, None
        return decoded, len(text), False


def _wholly_decoded(text: str) -> str:
    """The text decoded if it has only complete characters of a string; otherwise empty. It takes half as long."""
    if "\\u" in text:  # perhaps half of a surrogate pair
        return ""
    try:
        decoded, end = _scan(f'"{text}"', 0)
    except ValueError:
        return ""
    return decoded if end == len(text) + 2 else ""


def _decoded(characters: str) -> str:
    if "\\" not in characters:
        return characters
    decoded: str = _scan(f'"{characters}"', 0)[0]
    return decoded


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


class FileArguments:
    """The text of the file in `{"path": ..., "content": ...}`, as `(path, offset, text)`.

    A model may write the content first. The path is empty until it is known; then the text starts over under it.
    """

    def __init__(self) -> None:
        self._fields = StringFields(("path", "content"))
        self._path_so_far: list[str] = []
        self._path: str | None = ""
        """Empty until it is known, None if it is not a safe path."""
        self._content = TextBuffer()
        self._in_content = False
        """Whether the next fragment continues the content."""

    def feed(self, fragment: str) -> Sequence[Piece]:
        fields = self._fields
        if self._in_content and self._path is not None:
            offset = fields.offset
            if offset + len(fragment) <= MAX_TEXT_BYTES and (text := fields.middle(fragment)):
                text = text if text.isascii() else whole_text(text)
                self._content.add(text)
                return [(self._path, offset, text)]
        file_pieces: list[Piece] = []
        for name, offset, text in fields.feed(fragment):
            if name == "path":
                if offset == 0:
                    self._path_so_far = []
                self._path_so_far.append(text)
                continue
            self._complete_path(file_pieces)
            self._add_content(offset, text, file_pieces)
        if self._path_so_far and fields.open != "path":
            self._complete_path(file_pieces)
        self._in_content = fields.inside == "content"
        return file_pieces

    def _add_content(self, offset: int, text: str, file_pieces: list[Piece]) -> None:
        if offset == 0:
            self._content.clear()
        if offset + len(text) > MAX_TEXT_BYTES:
            return
        text = whole_text(text)  # as it will be written
        self._content.add(text)
        if self._path is not None:
            file_pieces.append((self._path, offset, text))

    def _complete_path(self, file_pieces: list[Piece]) -> None:
        """The path is complete: the content so far belongs to it."""
        if not self._path_so_far:
            return
        path, self._path_so_far = "".join(self._path_so_far), []
        try:
            self._path = safe_path(path)
        except FileError:
            self._path = None
        if self._path is not None and self._content:
            file_pieces.append((self._path, 0, str(self._content)))
