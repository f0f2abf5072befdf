"""Reads the path and the text of a file in the JSON arguments of a call while they arrive, in linear time."""

import json
import re
from collections.abc import Sequence

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
_OPENING = re.compile(r'\s*+[{,]\s*+"(path|content)"\s*+:\s*+"')
_LONGEST_OPENING = 200
_DECODER = json.JSONDecoder(strict=False)

Piece = tuple[str, int, str]


class FileArguments:
    """The text of the file in `{"path": ..., "content": ...}`, as `(path, offset, text)`: `file[:offset] + text`.

    A model may write the content first. The path is empty until it is known; then the text starts over under it.
    Content that has a path is not kept: a second path, which no model writes, gets none of it before the tool runs.
    """

    def __init__(self) -> None:
        self._unread = ""
        self._ended = False
        self._name = ""
        """The argument whose value is being read; empty between two arguments."""
        self._offset = 0
        self._path: str | None = ""
        """Empty until it is known; None if it is not valid."""
        self._path_so_far = ""
        self._content = TextBuffer()
        """The content so far, while its path is not known."""
        self._has_content = False
        """Also true of an empty one."""

    def feed(self, fragment: str) -> Sequence[Piece]:
        pieces: list[Piece] = []
        if not self._ended:
            self._unread += fragment
            while self._read_value(pieces) if self._name else self._open_value():
                pass
        return pieces

    def _open_value(self) -> bool:
        """Reads up to the first character of a value; False if that has not arrived."""
        found = _OPENING.match(self._unread)
        if found is None:
            self._ended = len(self._unread) > _LONGEST_OPENING
            return False
        self._name, self._unread = found[1], self._unread[found.end() :]
        if self._name == "path":
            self._path_so_far = ""
        else:
            self._offset = 0
            self._content.clear()
        return True

    def _read_value(self, pieces: list[Piece]) -> bool:
        """Reads the characters of a value that have arrived; whether it is complete."""
        found = _CHARACTERS.match(self._unread)
        end = found.end() if found else 0
        text, self._unread = self._unread[:end], self._unread[end:]
        if "\\" in text:
            text = _DECODER.decode(f'"{text}"')
        is_complete = self._unread.startswith('"')
        self._ended = not is_complete and len(self._unread) > _LONGEST_SPLIT_ESCAPE
        if self._name == "path":
            self._path_so_far += text
            if is_complete:
                self._complete_path(pieces)
        elif text or (is_complete and self._offset == 0):
            self._add_content(text, pieces)
        if is_complete:
            self._name, self._unread = "", self._unread[1:]
        return is_complete

    def _add_content(self, text: str, pieces: list[Piece]) -> None:
        offset, self._offset = self._offset, self._offset + len(text)
        if self._offset > MAX_TEXT_BYTES:
            return
        text = whole_text(text)  # as it will be written
        self._has_content = True
        if self._path == "":
            self._content.add(text)
        if self._path is not None:
            pieces.append((self._path, offset, text))

    def _complete_path(self, pieces: list[Piece]) -> None:
        is_first = self._path == ""
        try:
            self._path = safe_path(self._path_so_far)
        except FileError:
            self._path = None
        if is_first and self._path is not None and self._has_content:
            pieces.append((self._path, 0, str(self._content)))
        self._content.clear()
