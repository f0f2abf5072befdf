"""Reads a stream with one JSON value per line, in the way of `sse.py`: bytes in, `(name, data)` out.

Chunks may end anywhere. Empty lines are skipped, and a line that the stream cuts short is never delivered.
"""


class JsonLinesReader:
    """One stream's reader: `feed` it each chunk as it arrives."""

    __slots__ = ("_pieces",)

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> list[tuple[str, bytes]]:
        """The lines this chunk completes. Their events have no names."""
        end = chunk.rfind(b"\n")
        if end < 0:
            self._pieces.append(chunk)
            return []
        lines = b"".join((*self._pieces, chunk[:end])).split(b"\n")
        self._pieces = [chunk[end + 1 :]]
        return [("", line) for line in lines if line.strip()]
