"""The versions of files, oldest first: always the latest, and older ones up to a total size."""

import base64
from typing import NamedTuple

from agent_nb._base.wire import Json

MAX_OLD_BYTES = 64_000_000
"""Of all versions that are not the latest of their file."""

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


def restored(versions: list[Content | None]) -> Versions:
    return Versions(tuple(versions), 0, sum(_size(version) for version in versions[:-1]))


def make_room(files: dict[str, Versions]) -> None:
    """Drops the oldest version of the file with the most old bytes, until the rest fits."""
    while sum(versions.old_bytes for versions in files.values()) > MAX_OLD_BYTES:
        path = max(files, key=lambda path: files[path].old_bytes)
        (oldest, *rest), dropped, old_bytes = files[path]
        files[path] = Versions(tuple(rest), dropped + 1, old_bytes - _size(oldest))


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
