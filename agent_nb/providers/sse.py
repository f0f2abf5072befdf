"""Parses server-sent events in linear time: bytes in, `(event, data)` out."""

import re
from collections.abc import Iterator

_PLAIN_EVENT = re.compile(rb"(?:event: (.*+)\n)?data: (.*+)\n\n")
"""An event with plain line ends. `.` is matched three times as fast as `[^\\r\\n]`."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class SseReader:
    """Incremental parser of one stream."""

    __slots__ = ("_after_cr", "_ends_line", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._ends_line = False
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[tuple[str, bytes]]:
        """The events completed by this chunk, as name (empty if unset) and data."""
        if self._after_cr or b"\r" in chunk:
            chunk = self._with_plain_line_ends(chunk)
        if not self._pieces and (plain := _PLAIN_EVENT.fullmatch(chunk)):
            name, data = plain.groups(b"")
            return [(name.decode(), data)]
        if not chunk:
            return []
        if b"\n\n" not in chunk and not (self._ends_line and chunk.startswith(b"\n")):
            self._pieces.append(chunk)
            self._ends_line = chunk.endswith(b"\n")
            return []
        if self._pieces:
            self._pieces.append(chunk)
            chunk = b"".join(self._pieces)
        end = chunk.rfind(b"\n\n") + 2
        remaining = chunk[end:]
        self._pieces = [remaining] if remaining else []
        self._ends_line = remaining.endswith(b"\n")
        return list(_events(chunk, end))

    def _with_plain_line_ends(self, chunk: bytes) -> bytes:
        """The chunk with `\\n` line endings, also for a `\\r\\n` split between two chunks."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if chunk:
            self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _events(chunk: bytes, end: int) -> Iterator[tuple[str, bytes]]:
    """The events up to `end`. Plain ones are copied only once, as they may contain a whole page."""
    start = 0
    while start < end:
        if plain := _PLAIN_EVENT.match(chunk, start):
            name, data = plain.groups(b"")
            start = plain.end()
            yield name.decode(), data
        elif (block_end := chunk.find(b"\n\n", start)) < 0:  # one more empty line
            return
        else:
            if event := _event(chunk[start:block_end]):
                yield event
            start = block_end + 2


def _event(block: bytes) -> tuple[str, bytes] | None:
    name = b""
    lines: list[bytes] = []
    for line in block.removeprefix(_BYTE_ORDER_MARK).split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            lines.append(value)
        elif field == b"event":
            name = value
    return (name.decode(), b"\n".join(lines)) if lines else None
