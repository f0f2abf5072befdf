"""The virtual file system of a run: `Files`, an immutable value, and `Workspace`, which tools write to."""

import base64
import bisect
import io
import mimetypes
import os
import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import agent_nb.core.events as ev
from agent_nb._base.atomic import check_place, folder_of, not_ours, note_written, write_atomically
from agent_nb._base.secrets import mask
from agent_nb._base.table import Table
from agent_nb._base.text import slices, whole_text
from agent_nb._base.wire import Json
from agent_nb.core.errors import FileError
from agent_nb.core.event_list import last_turn
from agent_nb.files.diffs import LineChange, compare, unified_diff

MAX_PATH_BYTES = 200

_DRIVE = re.compile(r"[A-Za-z]:")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# The tables of `mimetypes` differ between systems and Python versions.
_MEDIA_TYPES = {
    ".css": "text/css",
    ".csv": "text/csv",
    ".gif": "image/gif",
    ".htm": "text/html",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript",
    ".json": "application/json",
    ".jsx": "text/javascript",
    ".md": "text/markdown",
    ".mjs": "text/javascript",
    ".png": "image/png",
    ".py": "text/x-python",
    ".svg": "image/svg+xml",
    ".ts": "text/typescript",
    ".tsx": "text/typescript",
    ".txt": "text/plain",
    ".vue": "text/x-vue",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
}
MAX_READ_BYTES = 256_000_000
"""Total limit for the versions of a loaded file: a few bytes can repeat a large text many times."""
Content = str | bytes
MAX_TEXT_BYTES = 5_000_000
MAX_BINARY_BYTES = 20_000_000
MAX_TOTAL_BYTES = 50_000_000
MAX_FILES = 200


def safe_path(path: str) -> str:
    """Normalise a path or raise a FileError: `./a//b.css` and `a\\b.css` become `a/b.css`."""
    if not isinstance(path, str) or not path.strip():
        raise FileError("A file needs a path: use a relative one such as 'index.html'.")
    if _UNPRINTABLE.search(path):
        raise FileError(
            f"The path {path[:80]!r} contains control characters: use letters, digits, '-', '_', '.' and '/'."
        )
    if len(path.encode()) > MAX_PATH_BYTES:
        raise FileError(f"The path {path[:40]!r}... is too long: use at most {MAX_PATH_BYTES} bytes.")
    slashed = path.strip().replace("\\", "/")
    segments = [name for segment in slashed.split("/") if (name := segment.strip()) not in ("", ".")]
    if slashed.startswith("/") or _DRIVE.match(slashed) or (segments and segments[0].startswith("~")):
        raise FileError(
            f"The path {path!r} is absolute: use a path relative to the project, such as 'index.html'."
        )
    if ":" in slashed:
        raise FileError(f"The path {path!r} has a colon: use '-' instead.")
    if slashed.endswith("/"):
        raise FileError(
            f"The path {path!r} is a folder: name a file in it, and the folder is created with the file."
        )
    if ".." in segments:
        raise FileError(f"The path {path!r} is outside the project: use a path without '..'.")
    if not segments:
        raise FileError(f"The path {path!r} names no file: use a relative one such as 'index.html'.")
    return "/".join(segments)


def entry_of(paths: Iterable[str]) -> str | None:
    """The path of the page: `index.html`, or else the first HTML file, or None."""
    pages = [path for path in paths if path.lower().endswith((".html", ".htm"))]
    return "index.html" if "index.html" in pages else next(iter(pages), None)


def media_type(path: str, content: str | bytes | None = "") -> str:
    """Return the media type for the suffix. The fallback is plain text for text and octet stream for bytes."""
    suffix = os.path.splitext(path)[1].lower()
    fallback = "application/octet-stream" if isinstance(content, bytes) else "text/plain"
    return _MEDIA_TYPES.get(suffix) or mimetypes.guess_type(path)[0] or fallback


def byte_size(content: Content | None) -> int:
    if not isinstance(content, str) or content.isascii():
        return len(content or b"")
    return sum(len(part.encode("utf-8", "surrogatepass")) for part in slices(content))


def to_wire(versions: Iterable[Content | None], shown: Callable[[str], str] = str) -> list[Json | None]:
    """Return all versions as JSON, with texts mapped by `shown`. A text is stored as a diff if that is shorter."""
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
                raise ValueError("A version reuses more characters than the one before has.")
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
    # A part that `shown` does not change inside the whole text may look like a secret on its own.
    if 2 * len(new) > len(text) or shown(new) != new:
        return {"text": text}
    return {"keep": [start, end], "text": new}


def _common(same: Callable[[int], bool], most: int) -> int:
    return bisect.bisect_left(range(most), True, key=lambda count: not same(count + 1))


def human_size(size: int) -> str:
    """Format as `512 bytes`, `6.4 kB` or `50 MB`."""
    if size < 1000:
        return "1 byte" if size == 1 else f"{size} bytes"
    scaled, unit = (size / 1000, "kB") if size < 999_500 else (size / 1_000_000, "MB")
    return f"{scaled:.1f} {unit}" if scaled < 9.95 else f"{scaled:.0f} {unit}"


def count_lines(text: str) -> int:
    """Count lines like an editor: a trailing newline does not start another line."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def zipped(contents: Mapping[str, Content]) -> bytes:
    """Return a zip archive of the files in order. Equal files give equal bytes."""
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

    Equality compares the current content, not the versions.
    """

    __slots__ = ("_sizes", "_unfinished", "_versions")

    def __init__(self, contents: Mapping[str, Content] | None = None) -> None:
        self._versions: dict[str, tuple[Content | None, ...]] = {}
        self._sizes: dict[str, int] = {}
        self._unfinished: frozenset[str] = frozenset()
        if isinstance(contents, Files):
            self._versions, self._sizes = contents._versions, contents._sizes
            self._unfinished = contents._unfinished
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
    def unfinished(self) -> Collection[str]:
        """The paths of files whose latest version a run left unfinished."""
        return self._unfinished

    def size_text(self, path: str) -> str:
        """The size for people, with the state: `1.2 kB, unfinished`."""
        return human_size(self._sizes[path]) + (", unfinished" if path in self._unfinished else "")

    @property
    def paths(self) -> Collection[str]:
        """The paths of all current and deleted files."""
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
        """Return the unified diff of two versions, by index in `versions`; the file is empty before the first."""
        versions = None, *self._versions[path]
        old, new = (index + (index >= 0) for index in (old, new))
        try:
            before, after = versions[old], versions[new]
        except IndexError:
            raise FileError(f"{path!r} has {self.version(path)} version(s): ask for one of those.") from None
        if isinstance(before, bytes) or isinstance(after, bytes):
            return "" if before == after else f"Binary files a/{path} and b/{path} differ\n"
        return unified_diff(before or "", after or "", path)

    def write(self, path: str, content: Content, *, unfinished: bool = False) -> "Files":
        """Return a copy with a new version of the file, or this value if the content is unchanged."""
        files = self._copy()
        return files if files._append(safe_path(path), content, unfinished) else self

    def delete(self, path: str) -> "Files":
        """Return a copy without the file; its versions are kept."""
        path = safe_path(path)
        if path not in self._sizes:
            raise FileError(f"There is no file {path!r} to delete.")
        files = self._copy()
        files._versions[path] += (None,)
        del files._sizes[path]
        files._unfinished -= {path}
        return files

    def back_to(self, versions: Mapping[str, int]) -> "Files":
        """Return the files at these versions, without any others."""
        files = Files()
        for path, number in versions.items():
            files._versions[path] = self._versions[path][:number]
            if (latest := files._versions[path][-1]) is not None:
                files._sizes[path] = byte_size(latest)
        current = {path for path, number in versions.items() if number == self.version(path)}
        files._unfinished = self._unfinished & current
        return files

    def save(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> list[Path]:
        """Write all files below `directory`, or none if any cannot be written. Each is written atomically.

        Files that were not written by a run, or that you have edited, are replaced only with `overwrite`.
        """
        home = Path.cwd()
        for target in () if overwrite else not_ours(targets_of(self, directory, home), home):
            raise FileError(
                f"{str(target)!r} has content not written by a run: pass `overwrite=True`, or save elsewhere."
            )
        write_files(self, directory, home)
        return [Path(os.path.expanduser(directory)) / path for path in self]

    def zip(self) -> bytes:
        """Return the files as a zip archive. Equal files give equal bytes."""
        return zipped(self)

    def to_wire(self, shown: Callable[[str], str] = str) -> Json:
        """Return all versions as JSON: `{"text": ...}`, `{"base64": ...}`, or null where the file was deleted."""
        deleted = [path for path in self._versions if path not in self._sizes]
        # Deleted files first, so that `from_wire` keeps the order of the others.
        wire: Json = {path: to_wire(self.versions(path), shown) for path in (*deleted, *self._sizes)}
        for path in self._unfinished:
            wire[path][-1]["unfinished"] = True
        return wire

    @classmethod
    def from_wire(cls, data: Json) -> "Files":
        """Reverse `to_wire`. Paths and limits are checked as in `write`, because the data may be untrusted."""
        try:
            marked = {path for path, wires in data.items() if (wires[-1] or {}).get("unfinished")}
            return cls.of_versions({path: from_wire(wires) for path, wires in data.items()}, marked)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise FileError("These are not saved files: pass what `to_wire` returned.") from error

    @classmethod
    def of_versions(
        cls, versions: Mapping[str, Sequence[Content | None]], unfinished: Collection[str] = ()
    ) -> "Files":
        """Return files with these versions, checked as in `write`."""
        files = cls()
        for path, contents in versions.items():
            if contents[-1] is not None:
                files._append(safe_path(path), contents[-1])
            files._versions[safe_path(path)] = tuple(contents)
        files._unfinished = frozenset(unfinished).intersection(files)
        return files

    def __repr__(self) -> str:
        entries = [f"{path} ({self.size_text(path)})" for path in list(self)[:10]]
        omitted = [f"and {len(self) - 10} more"] if len(self) > 10 else []
        return mask(f"Files({', '.join(entries + omitted)})")

    def _repr_html_(self) -> str:
        rows = [
            (path, media_type(path, content), self.size_text(path), self.version(path))
            for path, content in self.items()
        ]
        return Table(("path", "type", "size", "versions"), rows, "no files")._repr_html_()

    def _copy(self) -> "Files":
        copy = Files()
        copy._versions, copy._sizes = dict(self._versions), dict(self._sizes)
        copy._unfinished = self._unfinished
        return copy

    def _append(self, path: str, content: Content, unfinished: bool = False) -> bool:
        """Add a version in place if the content is new; only for an unshared copy."""
        content = _normalised(path, content)
        if path in self._versions and self.versions(path)[-1] == content:
            return False
        size = byte_size(content)
        self._check_limits(path, content, size)
        self._versions[path] = *self._versions.get(path, ()), content
        self._sizes[path] = size
        self._unfinished = self._unfinished | {path} if unfinished else self._unfinished - {path}
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
        for existing in self._sizes:
            if existing.startswith(f"{path}/") or path.startswith(f"{existing}/"):
                raise FileError(
                    f"{path!r} and {existing!r} cannot both exist: a name is a file or a folder, so rename one."
                )


def targets_of(files: Files, directory: str | os.PathLike[str], home: Path) -> dict[Path, bytes]:
    """Return the contents to write by target path; raises if a target is not allowed. Paths are relative to `home`."""
    root = home / os.path.expanduser(directory)
    check_place(root / "x", folder_of(directory, home))
    for path in files:
        _check_target(root, path, root / path)
    return {root / path: _encoded(content) for path, content in files.items()}


def write_files(files: Files, directory: str | os.PathLike[str], home: Path) -> None:
    """Write the files, replacing existing ones, and record that a run wrote them."""
    targets = targets_of(files, directory, home)
    for target, data in targets.items():
        write_atomically(target, data, within=home / os.path.expanduser(directory), shared=True)
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
    """Reject targets that a model must not write: outside the root, hidden files, and existing notebooks."""
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
    conflicts = [(parent, "file") for parent in target.parents if root in parent.parents and parent.is_file()]
    if target.is_dir():
        conflicts.append((target, "folder"))
    elif target.suffix.lower() == ".ipynb" and target.exists():
        conflicts.append((target, "notebook"))
    for place, kind in conflicts:
        raise FileError(f"{str(place)!r} is a {kind}: move it or save elsewhere.")


class Workspace:
    """The current files of a run. `on_change` is called with each change, in order. For the thread of the run alone."""

    def __init__(self, files: Files, on_change: Callable[[ev.Change], None] | None = None) -> None:
        self._files = files
        self._on_change = on_change

    @property
    def files(self) -> Files:
        return self._files

    def write(self, path: str, content: Content, call_id: str | None = None) -> ev.Change:
        """Write a file. Writing its current content is a no-op."""
        return self._change(safe_path(path), lambda files: files.write(path, content), call_id)

    def write_unfinished(self, path: str, text: str) -> ev.Change:
        return self._change(safe_path(path), lambda files: files.write(path, text, unfinished=True), None)

    def delete(self, path: str, call_id: str | None = None) -> ev.Change:
        return self._change(safe_path(path), lambda files: files.delete(path), call_id)

    def _change(self, path: str, step: Callable[[Files], Files], call_id: str | None) -> ev.Change:
        before, after = self._files, step(self._files)
        change = _describe(path, before, after, call_id)
        self._files = after
        if after is not before and self._on_change is not None:
            self._on_change(change)
        return change


def change_summary(change: ev.Change) -> str:
    """Format as `6.4 kB, 120 lines` for a new file, or `+12 -3`."""
    if change.action == "created":
        return f"{human_size(change.size)}, {'1 line' if change.added == 1 else f'{change.added} lines'}"
    return f"+{change.added} -{change.removed}"


def starting_change(files: Files, path: str) -> ev.Change:
    """Return the change that would create a file that existed before the run."""
    return _describe(path, Files(), files, None)


def _describe(path: str, before: Files, after: Files, call_id: str | None) -> ev.Change:
    old, new = before.get(path), after.get(path)
    action: ev.FileAction = "deleted" if new is None else "created" if old is None else "edited"
    lines: LineChange | None = None
    if not isinstance(new, bytes):
        lines = compare(old if isinstance(old, str) else "", new or "")
    return ev.Change(
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
        unfinished=path in after.unfinished,
    )


def unfinished_files(events: Sequence[ev.Event], files: Files) -> dict[str, str]:
    """Return the partial text of files whose call was cut off in the last turn, by path."""
    turn = last_turn(events)
    # `STOPPED` is the result of a call that the end of the run cut off.
    over = {
        event.call_id
        for event in turn.of(ev.FileChanged, ev.ToolFinished)
        if isinstance(event, ev.FileChanged) or event.code != "STOPPED"
    }
    pieces: dict[str, list[str]] = {}
    for event in turn.of(ev.FileDelta):
        if event.call_id in over:
            continue
        if event.offset == 0:
            pieces.pop("", None)
            pieces[event.path] = []
        pieces.setdefault(event.path, []).append(event.text)  # a file may start with any event
    contents = {path: "".join(texts) for path, texts in pieces.items()}
    if unnamed := contents.pop("", None):
        kept_as = next((path for path, content in files.items() if content == unnamed), "")
        is_page = unnamed.lstrip()[:1] in ("", "<") and "index.html" not in {*files, *contents}
        contents[kept_as or ("index.html" if is_page else "untitled")] = unnamed
    return contents


def lost_files(events: Sequence[ev.Event], files: Files) -> dict[str, str]:
    contents = list(files.values())
    return {path: text for path, text in unfinished_files(events, files).items() if text not in contents}
