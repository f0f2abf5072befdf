"""Reads server-sent events: bytes in, `(event, data)` out, in time linear in the bytes.

Chunks may end anywhere, inside a character, a line ending or a field. Comments, `id:` and `retry:` are
skipped; an event that the stream cuts short is never delivered.
"""


class SseReader:
    """One stream's reader: `feed` it each chunk as it arrives."""

    __slots__ = ("_after_cr", "_ends_line", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._ends_line = False
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[tuple[str, str]]:
        """The events this chunk completes: the name (empty when none was given) and the data.

        Raises `UnicodeDecodeError` if they are not UTF-8: a replaced character could end up in a file.
        """
        if self._after_cr or b"\r" in chunk:
            chunk = self._with_plain_line_ends(chunk)
        elif not self._pieces and chunk.endswith(b"\n\n") and (event := _sole_event(chunk)):
            return [event]
        if not chunk:
            return []
        if b"\n\n" not in chunk and not (self._ends_line and chunk.startswith(b"\n")):
            self._pieces.append(chunk)
            self._ends_line = chunk.endswith(b"\n")
            return []
        if self._pieces:
            self._pieces.append(chunk)
            chunk = b"".join(self._pieces)
        end = chunk.rfind(b"\n\n")
        rest = chunk[end + 2 :]
        self._pieces = [rest] if rest else []
        self._ends_line = rest.endswith(b"\n")
        blocks = chunk[:end].decode().split("\n\n")
        return [event for block in blocks if (event := _event(block)) is not None]

    def _with_plain_line_ends(self, chunk: bytes) -> bytes:
        """Every line ending as `\\n`; a `\\n` that follows the last chunk's `\\r` belongs to it."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if chunk:
            self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _sole_event(chunk: bytes) -> tuple[str, str] | None:
    """A chunk that is exactly one event of one data line, as most are; None when it is anything else."""
    end = len(chunk) - 2
    line_end = chunk.find(b"\n")
    if line_end == end and chunk.startswith(b"data: "):
        return "", chunk[6:end].decode()
    start = line_end + 7
    if (
        chunk.startswith(b"event: ")
        and chunk.startswith(b"data: ", line_end + 1)
        and chunk.find(b"\n", start) == end
    ):
        return chunk[7:line_end].decode(), chunk[start:end].decode()
    return None


def _event(block: str) -> tuple[str, str] | None:
    """The event a block of lines describes; None when it has no data."""
    name = ""
    data = block
    if block.startswith("event: "):
        line, _, data = block.partition("\n")
        name = line[7:]
    if data.startswith("data: ") and "\n" not in data:
        return name, data[6:]
    return _event_by_fields(block)


def _event_by_fields(block: str) -> tuple[str, str] | None:
    name = ""
    lines: list[str] = []
    for line in block.lstrip("\ufeff").split("\n"):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            lines.append(value)
        elif field == "event":
            name = value
    return (name, "\n".join(lines)) if lines else None
