"""The agent's virtual file system: `Files`, a value with versions, and `Workspace`, which a run writes to.

Paths are relative, with forward slashes, and stay inside the root; see `safe_path`.
"""

import html
import io
import os
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import write_atomically
from agent_nb._base.text import whole_text
from agent_nb._base.wire import Json
from agent_nb.errors import FileError
from agent_nb.events import FileAction, LinePatch
from agent_nb.files.diffs import LineChange, compare, unified_diff
from agent_nb.files.paths import entry_of, media_type, safe_path
from agent_nb.files.versions import Content, Versions, version_from_wire, version_to_wire

MAX_TEXT_BYTES = 5_000_000
MAX_BINARY_BYTES = 20_000_000
MAX_TOTAL_BYTES = 50_000_000
MAX_FILES = 200


def human_size(size: int) -> str:
    """`512 bytes`, `6.4 kB`, `50 MB`."""
    if size < 1000:
        return "1 byte" if size == 1 else f"{size} bytes"
    scaled, unit = (size / 1000, "kB") if size < 999_500 else (size / 1_000_000, "MB")
    return f"{scaled:.1f} {unit}" if scaled < 9.95 else f"{scaled:.0f} {unit}"


def count_lines(text: str) -> int:
    """As an editor counts: a last newline ends a line, it does not begin one."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


class Files(Mapping[str, Content]):
    """Files by path, in the order of their creation, each with its versions. A value: it never changes.

    Two `Files` are equal when they hold the same content now, whatever their versions.
    """

    __slots__ = ("_sizes", "_versions")

    def __init__(self, contents: Mapping[str, Content] | None = None) -> None:
        self._versions = Versions()
        self._sizes: dict[str, int] = {}
        """In bytes, of the files that are not deleted."""
        if isinstance(contents, Files):
            self._versions, self._sizes = contents._versions, contents._sizes
            return
        for path, content in (contents or {}).items():
            self._append(safe_path(path), content)

    def __getitem__(self, path: str) -> Content:
        if path not in self._sizes:
            raise KeyError(path)
        content = self._versions[path][-1]
        assert content is not None
        return content

    def __iter__(self) -> Iterator[str]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    @property
    def entry(self) -> str | None:
        """The page: `index.html`, else the first HTML file, else None."""
        return entry_of(self)

    def size(self, path: str) -> int:
        """In bytes, as saved."""
        return self._sizes[path]

    def versions(self, path: str) -> tuple[Content | None, ...]:
        """All versions, oldest first; None where the file was deleted. Beyond 64 MB in all, the oldest are let go."""
        return self._versions[path]

    def version(self, path: str) -> int:
        """The number of its newest version, from 1."""
        return self._versions.number(path)

    def diff(self, path: str, old: int = -2, new: int = -1) -> str:
        """The unified diff of two versions, by their index in `versions`; before the first is an empty file."""
        kept, dropped = self._versions[path], self._versions.dropped(path)
        versions = kept if dropped else (None, *kept)
        old, new = (index + (index >= 0 and not dropped) for index in (old, new))
        try:
            before, after = versions[old], versions[new]
        except IndexError:
            gone = f", and {dropped} older no longer kept" if dropped else ""
            raise FileError(f"{path!r} has {len(kept)} version(s){gone}: ask for those.") from None
        if isinstance(before, bytes) or isinstance(after, bytes):
            return "" if before == after else f"Binary files a/{path} and b/{path} differ\n"
        return unified_diff(before or "", after or "", path)

    def write(self, path: str, content: Content) -> "Files":
        """With one more version of the file; the same value when nothing changes."""
        files = self._copy()
        return files if files._append(safe_path(path), content) else self

    def delete(self, path: str) -> "Files":
        """Without the file; its versions are kept."""
        path = safe_path(path)
        if path not in self._sizes:
            raise FileError(f"There is no file {path!r} to delete.")
        files = self._copy()
        files._versions.add(path, None, replaced=files._sizes.pop(path))
        return files

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Writes every file below `directory`, or none. Each is replaced as a whole or stays as it was."""
        root = Path(directory).expanduser()
        targets = {path: root / path for path in self}
        for path, target in targets.items():
            _check_target(root, path, target)
        for path, target in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, _encoded(self[path]), mode=0o644)
        return list(targets.values())

    def zip(self) -> bytes:
        """The files as a zip archive; the same files give the same bytes."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in self.items():
                entry = zipfile.ZipInfo(path)  # dated 1980-01-01
                entry.compress_type, entry.create_system, entry.external_attr = (
                    zipfile.ZIP_DEFLATED,
                    3,
                    0o644 << 16,
                )
                archive.writestr(entry, _encoded(content))
        return buffer.getvalue()

    def to_wire(self) -> Json:
        """Every version as JSON: `{"text": ...}`, `{"base64": ...}`, or null where the file was deleted."""
        return {
            path: [version_to_wire(version) for version in versions] for path, versions in self._ordered()
        }

    @classmethod
    def from_wire(cls, data: Json) -> "Files":
        """What `to_wire` gave; as careful as `write`, because it may come from anywhere."""
        files = cls()
        try:
            for path, saved in data.items():
                versions = [version_from_wire(version) for version in saved]
                if versions[-1] is not None:
                    files._append(safe_path(path), versions[-1])
                files._versions.restore(safe_path(path), versions)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise FileError("These are not saved files: give what `to_wire` made.") from error
        return files

    def __repr__(self) -> str:
        shown = [f"{path} ({human_size(size)})" for path, size in list(self._sizes.items())[:10]]
        more = [f"and {len(self) - 10} more"] if len(self) > 10 else []
        return f"Files({', '.join(shown + more)})"

    def _repr_html_(self) -> str:
        if not self:
            return "<em>no files</em>"
        rows = "".join(
            f"<tr><td><code>{html.escape(path)}</code></td><td>{html.escape(media_type(path, content))}</td>"
            f"<td>{human_size(self._sizes[path])}</td><td>{self._versions.number(path)}</td></tr>"
            for path, content in self.items()
        )
        return (
            "<table><thead><tr><th>path</th><th>type</th><th>size</th><th>versions</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )

    def _copy(self) -> "Files":
        copy = Files()
        copy._versions, copy._sizes = self._versions.copy(), dict(self._sizes)
        return copy

    def _append(self, path: str, content: Content) -> bool:
        """Adds a version in place, if it is a new one; only for a value that nobody has seen yet."""
        content = _clean(path, content)
        versions = self._versions.get(path, ())
        if versions and versions[-1] == content:
            return False
        size = len(_encoded(content))
        self._check_limits(path, content, size)
        self._versions.add(path, content, replaced=self._sizes.get(path, 0))
        self._sizes[path] = size
        return True

    def _check_limits(self, path: str, content: Content, size: int) -> None:
        kind, limit = ("text", MAX_TEXT_BYTES) if isinstance(content, str) else ("binary", MAX_BINARY_BYTES)
        if size > limit:
            raise FileError(
                f"{path!r} is too large ({human_size(size)}): a {kind} file may have {human_size(limit)},"
                " split it or leave data out."
            )
        total = sum(self._sizes.values()) - self._sizes.get(path, 0) + size
        if total > MAX_TOTAL_BYTES:
            raise FileError(
                f"{path!r} ({human_size(size)}) would make {human_size(total)} of files:"
                f" all together may have {human_size(MAX_TOTAL_BYTES)}, delete some first."
            )
        if path in self._sizes:
            return
        if len(self._sizes) >= MAX_FILES:
            raise FileError(
                f"{path!r} would be file {MAX_FILES + 1}: at most {MAX_FILES} are kept, delete some first."
            )
        for other in self._sizes:
            if other.startswith(f"{path}/") or path.startswith(f"{other}/"):
                raise FileError(
                    f"{path!r} and {other!r} cannot both be: a name is a file or a folder, rename one."
                )

    def _ordered(self) -> list[tuple[str, tuple[Content | None, ...]]]:
        """Deleted files first, then the others in their order, so that reading them back keeps it."""
        deleted = [path for path in self._versions if path not in self._sizes]
        return [(path, self._versions[path]) for path in (*deleted, *self._sizes)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one file, as `FileChanged` tells it."""

    path: str
    version: int
    action: FileAction
    size: int
    media_type: str
    call_id: str | None = None
    first_line: int = 0
    added: int = 0
    removed: int = 0
    patch: tuple[LinePatch, ...] | None = None
    """From the text before, or from an empty file where there was none; None for binary and deleted files."""


class Workspace:
    """Where a run keeps its files: the one place that changes. `on_change` hears of each change, in order."""

    def __init__(self, files: Files, on_change: Callable[[Change], None] | None = None) -> None:
        self._files = files
        self._on_change = on_change
        self._lock = threading.RLock()

    @property
    def files(self) -> Files:
        return self._files

    def read(self, path: str) -> Content:
        path = safe_path(path)
        if path not in self.files:
            raise FileError(f"There is no file {path!r}.")
        return self.files[path]

    def write(self, path: str, content: Content, call_id: str | None = None) -> Change:
        """Writing what is there already is no change: nobody is told, and the version stays."""
        return self._change(safe_path(path), lambda files: files.write(path, content), call_id)

    def delete(self, path: str, call_id: str | None = None) -> Change:
        return self._change(safe_path(path), lambda files: files.delete(path), call_id)

    def _change(self, path: str, step: Callable[[Files], Files], call_id: str | None) -> Change:
        with self._lock:
            before, after = self._files, step(self._files)
            change = _describe(path, before, after, call_id)
            self._files = after
            if after is not before and self._on_change is not None:
                self._on_change(change)
        return change


def starting_change(files: Files, path: str) -> Change:
    """A file that was there before a run, told as if it had just been made."""
    return _describe(path, Files(), files, None)


def _describe(path: str, before: Files, after: Files, call_id: str | None) -> Change:
    old, new = before.get(path), after.get(path)
    action: FileAction = "deleted" if new is None else "created" if old is None else "edited"
    lines: LineChange | None = None
    if not isinstance(new, bytes):
        lines = compare(old if isinstance(old, str) else "", new or "")
    return Change(
        path=path,
        version=after.version(path),
        action=action,
        size=after.size(path) if new is not None else 0,
        media_type=media_type(path, old if new is None else new),
        call_id=call_id,
        first_line=lines.first_line if lines and new is not None else 0,
        added=lines.added if lines else 0,
        removed=lines.removed if lines else 0,
        patch=lines.patch if lines and new is not None else None,
    )


def _clean(path: str, content: Any) -> Content:
    if isinstance(content, str):
        return whole_text(content)
    if isinstance(content, bytes | bytearray | memoryview):
        return bytes(content)
    raise FileError(f"The content of {path!r} is a {type(content).__name__}: give text or bytes.")


def _encoded(content: Content) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _check_target(root: Path, path: str, target: Path) -> None:
    """A model chose the names: what programs obey unseen, and a person's own notebook, stay as they are."""
    inside, folder = root.resolve(), target.parent.resolve()
    if not folder.is_relative_to(inside):
        raise FileError(
            f"{path!r} would leave {str(root)!r} through a link: remove the link or save elsewhere."
        )
    if any(name.startswith(".") for name in (*path.split("/"), *folder.relative_to(inside).parts)):
        raise FileError(
            f"{path!r} is hidden, and programs obey hidden files unseen: leave it out with"
            f" `files.delete({path!r})`, or write it yourself."
        )
    taken = [(parent, "file") for parent in target.parents if root in parent.parents and parent.is_file()]
    if target.is_dir():
        taken.append((target, "folder"))
    elif target.suffix.lower() == ".ipynb" and target.exists():
        taken.append((target, "notebook"))
    for place, kind in taken:
        raise FileError(f"{str(place)!r} is a {kind}: move it away or save elsewhere.")
