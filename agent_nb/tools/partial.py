"""Reads a call's JSON arguments while they arrive, in time linear in their length however they are cut.

Only what is asked for is decoded: top-level strings. The final arguments are parsed elsewhere, strictly;
broken JSON ends the reading here without a word.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence

from agent_nb._base.secrets import whole_text
from agent_nb.errors import FileError
from agent_nb.files import MAX_TEXT_BYTES, safe_path

_HEX = "[0-9a-fA-F]"
# Whole characters of a JSON string. The escape of a high surrogate is whole once it is known what follows it.
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
"""`raw_decode` without its wrapper, for texts that are known to be whole."""

Piece = tuple[str, int, str]


class StringFields:
    """The top-level string values of the wanted names, as pieces: `text = text[:offset] + piece`.

    A value begins with offset 0; a name that comes twice begins again, as the last one wins.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._step: Callable[[str, int, list[Piece]], int] | None = self._object
        self._held = ""
        """The start of an escape whose end has not arrived."""
        self._key: list[str] = []
        self._name = ""
        self._offset = 0
        self._told = False
        self._depth = 0

    @property
    def open(self) -> str | None:
        """The wanted name whose value is being written just now."""
        return self._name if self._step == self._value_text else None

    def feed(self, fragment: str) -> list[Piece]:
        """The pieces that this fragment of the JSON text brings."""
        # Nearly every fragment is the middle of a long string.
        if self._told and not self._held and (middle := _whole(fragment)):
            offset = self._offset
            self._offset += len(middle)
            return [(self._name, offset, middle)]
        pieces: list[Piece] = []
        text, self._held = self._held + fragment, ""
        position = 0
        while position < len(text) and self._step is not None:
            position = self._step(text, position, pieces)
        return pieces

    # One method per place in the object: each reads from `position` and says where it stopped.

    def _object(self, text: str, position: int, pieces: list[Piece]) -> int:
        return self._sign(text, position, {"{": self._key_start})

    def _key_start(self, text: str, position: int, pieces: list[Piece]) -> int:
        self._key = []
        return self._sign(text, position, {'"': self._key_text, "}": None})

    def _key_text(self, text: str, position: int, pieces: list[Piece]) -> int:
        decoded, end, closed = self._characters(text, position)
        self._key.append(decoded)
        if closed:
            self._name, self._step = "".join(self._key), self._colon
        return end

    def _colon(self, text: str, position: int, pieces: list[Piece]) -> int:
        return self._sign(text, position, {":": self._value})

    def _value(self, text: str, position: int, pieces: list[Piece]) -> int:
        position = _end(_SPACE, text, position)
        if position == len(text):
            return position
        match text[position]:
            case '"' if self._name in self._names:
                self._offset, self._told, self._step = 0, False, self._value_text
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
        if decoded or (closed and not self._told):
            pieces.append((self._name, self._offset, decoded))
            self._offset += len(decoded)
            self._told = True
        if closed:
            self._told, self._step = False, self._after_value
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
        return self._sign(text, position, {",": self._key_start, "}": None})

    def _sign(
        self, text: str, position: int, steps: dict[str, Callable[[str, int, list[Piece]], int] | None]
    ) -> int:
        """Goes where the next sign leads; anything unexpected ends the reading."""
        position = _end(_SPACE, text, position)
        if position == len(text):
            return position
        self._step = steps.get(text[position])
        return position + 1

    def _characters(self, text: str, position: int) -> tuple[str, int, bool]:
        """The decoded characters from `position`, where they end, and whether the string ends there."""
        end = _end(_CHARACTERS, text, position)
        decoded = _decoded(text[position:end])
        if end < len(text) and text[end] == '"':
            return decoded, end + 1, True
        self._held = text[end:]
        if len(self._held) > _LONGEST_SPLIT_ESCAPE:
            self._told, self._step = False, None
        return decoded, len(text), False


def _whole(fragment: str) -> str:
    """The characters of a fragment that neither ends a string nor cuts an escape in two; empty for any other."""
    if "\\" not in fragment:
        return "" if '"' in fragment else fragment
    if not _CHARACTERS.fullmatch(fragment):
        return ""
    decoded: str = _scan(f'"{fragment}"', 0)[0]
    return decoded


def _decoded(characters: str) -> str:
    if "\\" not in characters:
        return characters
    decoded: str = _DECODER.raw_decode(f'"{characters}"')[0]
    return decoded


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


class FileArguments:
    """The file text in `{"path": ..., "content": ...}`, as `(path, offset, text)` once the path is known."""

    def __init__(self) -> None:
        self._fields = StringFields(("path", "content"))
        self._path_so_far: list[str] = []
        self._path: str | None = None
        """The complete path; None before that, and when it is not a safe one."""
        self._content: list[str] = []

    def feed(self, fragment: str) -> Sequence[Piece]:
        pieces = self._fields.feed(fragment)
        if (
            self._path is not None
            and len(pieces) == 1
            and pieces[0][0] == "content"
            and not self._path_so_far
        ):
            # Nearly every fragment of a file whose path is known.
            _, offset, text = pieces[0]
            if offset and offset + len(text) <= MAX_TEXT_BYTES:
                text = whole_text(text)
                self._content.append(text)
                return [(self._path, offset, text)]
        told: list[Piece] = []
        for name, offset, text in pieces:
            if name == "path":
                if offset == 0:
                    self._path_so_far = []
                self._path_so_far.append(text)
                continue
            self._complete_path(told)
            self._add_content(offset, text, told)
        if self._path_so_far and self._fields.open != "path":
            self._complete_path(told)
        return told

    def _add_content(self, offset: int, text: str, told: list[Piece]) -> None:
        if offset == 0:
            self._content = []
        if offset + len(text) > MAX_TEXT_BYTES:
            return
        text = whole_text(text)  # as in the file that will be written
        self._content.append(text)
        if self._path is not None:
            told.append((self._path, offset, text))

    def _complete_path(self, told: list[Piece]) -> None:
        """The path has ended: what is known of the content belongs to it."""
        if not self._path_so_far:
            return
        path, self._path_so_far = "".join(self._path_so_far), []
        try:
            self._path = safe_path(path)
        except FileError:
            self._path = None
        if self._path is not None and self._content:
            told.append((self._path, 0, "".join(self._content)))
