"""The versions of files, oldest first: always the latest, and older ones up to a total size."""

import base64
from collections.abc import Iterator, Mapping, Sequence

from agent_nb._base.wire import Json

MAX_OLD_BYTES = 64_000_000
"""Of all versions that are not the latest of their file."""

Content = str | bytes


class Versions(Mapping[str, tuple[Content | None, ...]]):
    """Versions by path; None where the file was deleted. Changed only by a `Files` that nobody else has yet."""

    __slots__ = ("_dropped", "_kept", "_old_bytes")

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Content | None, ...]] = {}
        self._old_bytes: dict[str, int] = {}
        self._dropped: dict[str, int] = {}

    def __getitem__(self, path: str) -> tuple[Content | None, ...]:
        return self._kept[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def copy(self) -> "Versions":
        copy = Versions()
        copy._kept, copy._old_bytes = dict(self._kept), dict(self._old_bytes)
        copy._dropped = dict(self._dropped)
        return copy

    def dropped(self, path: str) -> int:
        """How many versions were dropped."""
        return self._dropped.get(path, 0)

    def number(self, path: str) -> int:
        """The number of the latest version, counted from 1 and including dropped ones."""
        return self.dropped(path) + len(self._kept[path])

    def add(self, path: str, content: Content | None, replaced: int = 0) -> None:
        """Adds a version, after one of `replaced` bytes."""
        self._kept[path] = (*self._kept.get(path, ()), content)
        self._old_bytes[path] = self._old_bytes.get(path, 0) + replaced
        self._make_room()

    def restore(self, path: str, versions: Sequence[Content | None]) -> None:
        """Sets the versions of a file, oldest first."""
        self._kept[path] = tuple(versions)
        self._old_bytes[path] = sum(_size(version) for version in versions[:-1])
        self._make_room()

    def _make_room(self) -> None:
        """Drops the oldest version of the file with the most old bytes, until the rest fits."""
        while sum(self._old_bytes.values()) > MAX_OLD_BYTES:
            path = max(self._old_bytes, key=self._old_bytes.__getitem__)
            oldest, *rest = self._kept[path]
            self._kept[path] = tuple(rest)
            self._old_bytes[path] -= _size(oldest)
            self._dropped[path] = self.dropped(path) + 1


def _size(content: Content | None) -> int:
    return len(content.encode("utf-8", "surrogatepass")) if isinstance(content, str) else len(content or b"")


def version_to_wire(content: Content | None) -> Json | None:
    match content:
        case None:
            return None
        case str():
            return {"text": content}
        case bytes():
            return {"base64": base64.b64encode(content).decode()}


def version_from_wire(data: Json | None) -> Content | None:
    if data is None:
        return None
    return str(data["text"]) if "text" in data else base64.b64decode(data["base64"], validate=True)
