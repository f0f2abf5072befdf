"""Reads the JSON arguments of a call while they arrive, in linear time for any fragmentation.

Only the top-level strings that are asked for are decoded. Broken JSON silently ends the reading: the complete
arguments are parsed elsewhere, strictly.
"""

import json
import re
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TypeVar

from agent_nb._base.text import TextBuffer, whole_text
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
_SPACE = re.compile(r"[ \t\n\r]*+")
_SCALAR = re.compile(r"[^,}]*+")
_NESTED = re.compile(r'[^"{}\[\]]*+')
_DECODER = json.JSONDecoder(strict=False)
_scan = _DECODER.scan_once  # type: ignore[attr-defined]
"""`raw_decode` without its wrapper, for texts that are known to be complete."""

T = TypeVar("T")
Piece = tuple[str, int, str]
Reading = Generator[None, None, T]
_ENDED = object()


class StringFields:
    """The top-level string values of these names, as pieces: `text = text[:offset] + piece`.

    A value starts at offset 0. A name that occurs twice starts again, because the last value wins.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._text, self._position = "", 0
        self._pieces: list[Piece] = []
        self._name = ""
        self.open: str | None = None
        """The name whose value is incomplete, if it is one of the wanted ones."""
        self.inside: str | None = None
        """The same, if a piece of the value has been returned."""
        self.offset = 0
        """Where the next piece of the current value begins."""
        self._reading = self._object()

    def feed(self, fragment: str) -> list[Piece]:
        """Returns the pieces in this fragment of the JSON text."""
        if self.inside and (middle := self.middle(fragment)):
            return [(self._name, self.offset - len(middle), middle)]
        self._text, self._position = self._text[self._position :] + fragment, 0
        self._pieces = []
        if next(self._reading, _ENDED) is _ENDED:
            self._text = ""
            self.open = self.inside = None
        return self._pieces

    def middle(self, fragment: str) -> str:
        """The decoded fragment if it lies inside the value, as nearly every one does; otherwise empty.

        For fragments that follow a piece of a value. An empty answer changes nothing: `feed` the fragment then.
        """
        text, held = self._text[self._position :] + fragment, ""
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
            self._text, self._position = held, 0
            self.offset += len(text)
        return text

    # Generators that read on from `_position`, and yield when they need more text.

    def _object(self) -> Reading[None]:
        """Reads the object. Ends with it, or where the JSON is broken."""
        if (yield from self._next()) != "{":
            return
        while (yield from self._next()) == '"':
            key: list[str] = []
            if not (yield from self._string(key.append)) or (yield from self._next()) != ":":
                return
            self._name = "".join(key)
            if not (yield from self._value()) or (yield from self._next()) != ",":
                return

    def _value(self) -> Reading[bool]:
        """Reads a value; False if it is broken."""
        first = yield from self._next()
        if first == '"' and self._name in self._names:
            self.open, self.offset = self._name, 0
            whole = yield from self._string(self._add)
            if whole and not self.inside:
                self._add("")
            self.open = self.inside = None
            return whole
        if first == '"':
            return (yield from self._string(_ignore))
        if first in "{[":
            yield from self._skip_nested()
        else:
            yield from self._skip(_SCALAR)
        return True

    def _add(self, text: str) -> None:
        self._pieces.append((self._name, self.offset, text))
        self.offset += len(text)
        self.inside = self._name

    def _string(self, add: Callable[[str], None]) -> Reading[bool]:
        """Passes on the characters of a string, decoded; False if one is broken."""
        while True:
            end = _end(_CHARACTERS, self._text, self._position)
            if end > self._position:
                add(_decoded(self._text[self._position : end]))
            self._position = end
            if self._text.startswith('"', end):
                self._position += 1
                return True
            if len(self._text) - end > _LONGEST_SPLIT_ESCAPE:
                return False
            yield

    def _skip_nested(self) -> Reading[None]:
        depth = 1
        while depth:
            yield from self._skip(_NESTED)
            found = self._text[self._position]
            self._position += 1
            if found == '"':
                yield from self._string(_ignore)
            else:
                depth += 1 if found in "{[" else -1

    def _next(self) -> Reading[str]:
        """The next character that is not white space."""
        yield from self._skip(_SPACE)
        self._position += 1
        return self._text[self._position - 1]

    def _skip(self, pattern: re.Pattern[str]) -> Reading[None]:
        """Skips what matches, up to a character that does not."""
        while True:
            self._position = _end(pattern, self._text, self._position)
            if self._position < len(self._text):
                return
            yield


def _ignore(text: str) -> None:
    pass


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
    Content that has a path is not kept: a second path, which no model writes, gets none of it before the tool runs.
    """

    def __init__(self) -> None:
        self._fields = StringFields(("path", "content"))
        self._path_so_far: list[str] = []
        self._path: str | None = ""
        """Empty until it is known, None if it is not a safe path."""
        self._content = TextBuffer()
        """Without a path so far."""
        self._has_content = False
        """Also true of an empty one."""
        self._in_content = False
        """Whether the next fragment continues the content."""

    def feed(self, fragment: str) -> Sequence[Piece]:
        fields = self._fields
        if self._in_content and self._path is not None:
            offset = fields.offset
            if offset + len(fragment) <= MAX_TEXT_BYTES and (text := fields.middle(fragment)):
                text = text if text.isascii() else whole_text(text)
                if not self._path:
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
        self._has_content = True
        if self._path == "":
            self._content.add(text)
        if self._path is not None:
            file_pieces.append((self._path, offset, text))

    def _complete_path(self, file_pieces: list[Piece]) -> None:
        """The path is complete: the content so far belongs to it."""
        if not self._path_so_far:
            return
        path, self._path_so_far = "".join(self._path_so_far), []
        is_first = self._path == ""
        try:
            self._path = safe_path(path)
        except FileError:
            self._path = None
        if is_first and self._path is not None and self._has_content:
            file_pieces.append((self._path, 0, str(self._content)))
        self._content.clear()
