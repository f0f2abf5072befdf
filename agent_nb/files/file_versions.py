"""The versions of files, oldest first: always the latest, and older ones up to a total size."""

import base64
import bisect
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from agent_nb._base.wire import Json

MAX_OLD_BYTES = 64_000_000
"""Of all versions that are not the latest of their file."""
_SLICE = 65_536

Content = str | bytes


class Versions(NamedTuple):
    """The versions of one file; None where it was deleted."""

    kept: tuple[Content | None, ...] = ()
    dropped: int = 0
    """How many older ones there were."""
    old_bytes: int = 0

    @property
    def number(self) -> int:
        """The number of the latest version, counted from 1 and including dropped ones."""
        return self.dropped + len(self.kept)

    def add(self, content: Content | None, replaced: int = 0) -> "Versions":
        """With a version after one of `replaced` bytes."""
        return Versions((*self.kept, content), self.dropped, self.old_bytes + replaced)


def make_room(files: dict[str, Versions]) -> None:
    """Drops the oldest version of the file with the most old bytes, until the rest fits."""
    while sum(versions.old_bytes for versions in files.values()) > MAX_OLD_BYTES:
        path = max(files, key=lambda path: files[path].old_bytes)
        (oldest, *rest), dropped, old_bytes = files[path]
        files[path] = Versions(tuple(rest), dropped + 1, old_bytes - byte_size(oldest))


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


def from_wire(data: Iterable[Json | None]) -> Versions:
    """Reverses `to_wire`. Drops the oldest beyond the limit as it reads: a few bytes can repeat a large text often."""
    kept: deque[Content | None] = deque()
    before, dropped, size = "", 0, 0
    for wire in data:
        if wire is None:
            kept.append(None)
        elif "base64" in wire:
            kept.append(base64.b64decode(wire["base64"], validate=True))
        else:
            start, end = wire.get("keep", (0, 0))
            if not 0 <= start <= len(before) - end <= len(before):
                raise ValueError("A version keeps more than there is.")
            before = before[:start] + str(wire["text"]) + before[len(before) - end :]
            kept.append(before)
        while size > MAX_OLD_BYTES:
            size -= byte_size(kept.popleft())
            dropped += 1
        size += byte_size(kept[-1])
    return Versions(tuple(kept), dropped, size - byte_size(kept[-1]))


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
    """The largest count up to `most` for which the first or last characters are the same."""
    return bisect.bisect_left(range(most), True, key=lambda count: not same(count + 1))
