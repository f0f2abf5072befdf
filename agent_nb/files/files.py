"""`Files`, the files of a run with all their versions: an immutable value."""

import html
import io
import os
import threading
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import check_place, folder_of, write_atomically
from agent_nb._base.secrets import mask
from agent_nb._base.text import whole_text
from agent_nb._base.wire import Json
from agent_nb._base.written import not_ours, note_written
from agent_nb.errors import FileError
from agent_nb.events import FileAction, LinePatch
from agent_nb.files import file_versions
from agent_nb.files.diffs import LineChange, compare, unified_diff
from agent_nb.files.file_paths import entry_of, media_type, safe_path
from agent_nb.files.file_versions import Content, byte_size

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
    """Counts like an editor: a newline at the end does not start another line."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def zipped(contents: Mapping[str, Content]) -> bytes:
    """A zip archive of these files, in their order. The same files make the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in contents.items():
            entry = zipfile.ZipInfo(path)  # dated 1980-01-01
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, _encoded(content))
    return buffer.getvalue()


class Files(Mapping[str, Content]):
    """Files by path, in order of creation, each with its versions. Immutable.

    Two `Files` are equal if their current content is, whatever their versions.
    """

    __slots__ = ("_sizes", "_versions")

    def __init__(self, contents: Mapping[str, Content] | None = None) -> None:
        self._versions: dict[str, tuple[Content | None, ...]] = {}
        self._sizes: dict[str, int] = {}
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
        """The path of the page: `index.html`, or else the first HTML file, or None."""
        return entry_of(self)

    @property
    def paths(self) -> Collection[str]:
        """The paths of all files that there are or were."""
        return self._versions.keys()

    def size(self, path: str) -> int:
        """The size in bytes."""
        return self._sizes[path]

    def versions(self, path: str) -> tuple[Content | None, ...]:
        """All versions, oldest first; None where the file was deleted."""
        return self._versions[path]

    def version(self, path: str) -> int:
        """The number of the latest version, counted from 1."""
        return len(self._versions[path])

    def diff(self, path: str, old: int = -2, new: int = -1) -> str:
        """The unified diff of two versions, by index in `versions`; before the first one the file is empty."""
        versions = None, *self._versions[path]
        old, new = (index + (index >= 0) for index in (old, new))
        try:
            before, after = versions[old], versions[new]
        except IndexError:
            raise FileError(f"{path!r} has {self.version(path)} version(s): ask for one of those.") from None
        if isinstance(before, bytes) or isinstance(after, bytes):
            return "" if before == after else f"Binary files a/{path} and b/{path} differ\n"
        return unified_diff(before or "", after or "", path)

    def write(self, path: str, content: Content) -> "Files":
        """A copy with a new version of the file, or this value if its content is the same."""
        files = self._copy()
        return files if files._append(safe_path(path), content) else self

    def delete(self, path: str) -> "Files":
        """A copy without the file; its versions are kept."""
        path = safe_path(path)
        if path not in self._sizes:
            raise FileError(f"There is no file {path!r} to delete.")
        files = self._copy()
        files._versions[path] += (None,)
        del files._sizes[path]
        return files

    def back_to(self, versions: Mapping[str, int]) -> "Files":
        """These files as they were when they had these versions, without any others."""
        files = Files()
        for path, number in versions.items():
            files._versions[path] = self._versions[path][:number]
            if (latest := files._versions[path][-1]) is not None:
                files._sizes[path] = byte_size(latest)
        return files

    def save(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> list[Path]:
        """Writes all files below `directory`, or none if one cannot be written there. Each is written atomically.

        What no run wrote, your own edits included, is replaced only with `overwrite`.
        """
        home = Path.cwd()
        for target in () if overwrite else not_ours(targets_of(self, directory, home), home):
            raise FileError(
                f"{str(target)!r} holds what no run wrote: pass `overwrite=True` to replace it, or save elsewhere."
            )
        write_files(self, directory, home)
        return [Path(directory).expanduser() / path for path in self]

    def zip(self) -> bytes:
        """The files as a zip archive. The same files make the same bytes."""
        return zipped(self)

    def to_wire(self, shown: Callable[[str], str] = str) -> Json:
        """All versions as JSON: `{"text": ...}`, `{"base64": ...}`, or null where the file was deleted."""
        deleted = [path for path in self._versions if path not in self._sizes]
        # Deleted files first, so that reading them back keeps the order of the others.
        return {path: file_versions.to_wire(self.versions(path), shown) for path in (*deleted, *self._sizes)}

    @classmethod
    def from_wire(cls, data: Json) -> "Files":
        """Reverses `to_wire`. Checks paths and limits like `write`, because the data may come from anywhere."""
        files = cls()
        try:
            for path, saved in data.items():
                versions = file_versions.from_wire(saved)
                if versions[-1] is not None:
                    files._append(safe_path(path), versions[-1])
                files._versions[safe_path(path)] = versions
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise FileError("These are not saved files: pass what `to_wire` returned.") from error
        return files

    def __repr__(self) -> str:
        shown = [f"{path} ({human_size(size)})" for path, size in list(self._sizes.items())[:10]]
        more = [f"and {len(self) - 10} more"] if len(self) > 10 else []
        return mask(f"Files({', '.join(shown + more)})")

    def _repr_html_(self) -> str:
        if not self:
            return "<em>no files</em>"
        rows = "".join(
            f"<tr><td><code>{html.escape(mask(path))}</code></td><td>{html.escape(media_type(path, content))}</td>"
            f"<td>{human_size(self._sizes[path])}</td><td>{self.version(path)}</td></tr>"
            for path, content in self.items()
        )
        return (
            "<table><thead><tr><th>path</th><th>type</th><th>size</th><th>versions</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )

    def _copy(self) -> "Files":
        copy = Files()
        copy._versions, copy._sizes = dict(self._versions), dict(self._sizes)
        return copy

    def _append(self, path: str, content: Content) -> bool:
        """Adds a version in place if the content is new; only for a copy that nobody else has."""
        content = _normalised(path, content)
        if path in self._versions and self.versions(path)[-1] == content:
            return False
        size = byte_size(content)
        self._check_limits(path, content, size)
        self._versions[path] = *self._versions.get(path, ()), content
        self._sizes[path] = size
        return True

    def _check_limits(self, path: str, content: Content, size: int) -> None:
        kind, limit = ("text", MAX_TEXT_BYTES) if isinstance(content, str) else ("binary", MAX_BINARY_BYTES)
        if size > limit:
            raise FileError(
                f"{path!r} is too large ({human_size(size)}; the limit for {kind} files is {human_size(limit)}):"
                " split it or leave out data."
            )
        total = sum(self._sizes.values()) - self._sizes.get(path, 0) + size
        if total > MAX_TOTAL_BYTES:
            raise FileError(
                f"{path!r} ({human_size(size)}) would bring the files to {human_size(total)}"
                f" (the limit is {human_size(MAX_TOTAL_BYTES)}): delete some first."
            )
        if path in self._sizes:
            return
        if len(self._sizes) >= MAX_FILES:
            raise FileError(
                f"{path!r} would be file {MAX_FILES + 1} (the limit is {MAX_FILES}): delete some first."
            )
        for other in self._sizes:
            if other.startswith(f"{path}/") or path.startswith(f"{other}/"):
                raise FileError(
                    f"{path!r} and {other!r} cannot both exist: a name is a file or a folder, so rename one."
                )


def targets_of(files: Files, directory: str | os.PathLike[str], home: Path) -> dict[Path, bytes]:
    """What saving would write, by path; raises if it must not be written there. Relative paths start in `home`."""
    root = home / Path(directory).expanduser()
    check_place(root / "x", folder_of(directory, home))
    for path in files:
        _check_target(root, path, root / path)
    return {root / path: _encoded(content) for path, content in files.items()}


def write_files(files: Files, directory: str | os.PathLike[str], home: Path) -> None:
    """Writes the files, whatever they replace, and remembers that a run wrote them."""
    targets = targets_of(files, directory, home)
    for target, data in targets.items():
        write_atomically(target, data, within=home / Path(directory).expanduser(), shared=True)
    note_written(targets.values(), home)


def _normalised(path: str, content: Any) -> Content:
    if isinstance(content, str):
        return whole_text(content)
    if isinstance(content, bytes | bytearray | memoryview):
        return bytes(content)
    raise FileError(f"The content of {path!r} is a {type(content).__name__}: use text or bytes.")


def _encoded(content: Content) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _check_target(root: Path, path: str, target: Path) -> None:
    """Refuses targets that a model must not write: outside the root, hidden files, and existing notebooks."""
    try:
        check_place(target, root)
    except OSError:
        raise FileError(
            f"{path!r} would leave {str(root)!r} by a link: remove the link or save elsewhere."
        ) from None
    if any(name.startswith(".") for name in path.split("/")):
        raise FileError(
            f"{path!r} is hidden, and hidden files can change how tools behave: leave it out with"
            f" `files.delete({path!r})`, or write it yourself."
        )
    taken = [(parent, "file") for parent in target.parents if root in parent.parents and parent.is_file()]
    if target.is_dir():
        taken.append((target, "folder"))
    elif target.suffix.lower() == ".ipynb" and target.exists():
        taken.append((target, "notebook"))
    for place, kind in taken:
        raise FileError(f"{str(place)!r} is a {kind}: move it or save elsewhere.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one file: the fields of a `FileChanged` event."""

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
    """From the previous text, or from an empty file if there was none; None for binary and deleted files."""


class Workspace:
    """The current files of a run. `on_change` is called with each change, in order."""

    def __init__(self, files: Files, on_change: Callable[[Change], None] | None = None) -> None:
        self._files = files
        self._on_change = on_change
        self._lock = threading.RLock()

    @property
    def files(self) -> Files:
        return self._files

    def write(self, path: str, content: Content, call_id: str | None = None) -> Change:
        """Writes a file. Writing the content that it already has is no change and calls nothing."""
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
    """A file that existed before a run, as if it had just been created."""
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
