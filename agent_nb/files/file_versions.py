"""The versions of files, oldest first."""

import base64
import bisect
from collections.abc import Callable, Iterable

from agent_nb._base.wire import Json

MAX_READ_BYTES = 256_000_000
"""Of the versions of a file that are read: a few bytes can repeat a large text often."""
_SLICE = 65_536

Content = str | bytes


def byte_size(content: Content | None) -> int:
    """The size in bytes. Text is encoded in slices: all of it would take three bytes a character for a moment."""
    if not isinstance(content, str) or content.isascii():
        return len(content or b"")
    slices = (content[start : start + _SLICE] for start in range(0, len(content), _SLICE))
    return sum(len(each.encode("utf-8", "surrogatepass")) for each in slices)


def to_wire(versions: Iterable[Content | None], shown: Callable[[str], str] = str) -> list[Json | None]:
    """All versions, each text as `shown` returns it. A text that repeats most of the one before says how much."""
    wires: list[Json | None] = []
    before = ""
    for content in versions:
        if content is None:
            wires.append(None)
        elif isinstance(content, bytes):
            wires.append({"base64": base64.b64encode(content).decode()})
        else:
            text = shown(content)
            wires.append(_since(before, text, shown))
            before = text
    return wires


def from_wire(data: Iterable[Json | None]) -> tuple[Content | None, ...]:
    versions: list[Content | None] = []
    before, size = "", 0
    for wire in data:
        if wire is None:
            versions.append(None)
        elif "base64" in wire:
            versions.append(base64.b64decode(wire["base64"], validate=True))
        else:
            start, end = wire.get("keep", (0, 0))
            if not 0 <= start <= len(before) - end <= len(before):
                raise ValueError("A version keeps more than there is.")
            before = before[:start] + str(wire["text"]) + before[len(before) - end :]
            versions.append(before)
        size += byte_size(versions[-1])
        if size > MAX_READ_BYTES:
            raise ValueError("The versions are too large.")
    return tuple(versions)


def _since(before: str, text: str, shown: Callable[[str], str]) -> Json:
    start = _common(lambda count: before[:count] == text[:count], min(len(before), len(text)))
    most = min(len(before), len(text)) - start
    end = _common(lambda count: before[len(before) - count :] == text[len(text) - count :], most)
    new = text[start : len(text) - end]
    # What is shown as it is inside the whole text may look like a secret when it stands alone.
    if 2 * len(new) > len(text) or shown(new) != new:
        return {"text": text}
    return {"keep": [start, end], "text": new}


def _common(same: Callable[[int], bool], most: int) -> int:
    return bisect.bisect_left(range(most), True, key=lambda count: not same(count + 1))
