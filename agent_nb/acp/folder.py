"""An agent's working folder: the files of the run are written to it and read back.

The files on disk are authoritative: agents also change them with shell commands, which they do not report.
"""

import contextlib
import itertools
import os
import shutil
import stat
import sys
import time
from pathlib import Path

from agent_nb._base.atomic import check_place, read_file, write_atomically
from agent_nb.core.errors import ConfigError, FileError
from agent_nb.files import MAX_BINARY_BYTES, MAX_FILES, Content, Files, safe_path
from agent_nb.files.active import instructs_agents

MAX_ENTRIES = 5_000
"""Maximum number of directory entries that are scanned."""
_OLD = 7 * 24 * 3600
_SKIPPED = ("node_modules", "__pycache__")

Mark = tuple[int, int, int]
"""Detects file changes: inode, size and modification time."""


def cache_folder() -> Path:
    home = Path.home()
    default = home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or default) / "agent_nb" / "agents"


class Folder:
    """The folder of one run, readable only by the user."""

    def __init__(self, name: str) -> None:
        parent = cache_folder()
        try:
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"An agent needs its own folder, and {str(parent)!r} cannot be one: {error.strerror}. Set"
                " XDG_CACHE_HOME to a folder that you can write to."
            ) from None
        parent = Path(os.path.realpath(parent))
        _check_private(parent)
        _remove_old(parent)
        self.path = parent / name
        self.path.mkdir(mode=0o700)
        self.left_out: dict[str, str] = {}
        """Why files in the folder are not part of the run, by path."""
        self._marks: dict[str, Mark] = {}

    def write(self, files: Files) -> None:
        """Write changed files to the folder, and delete those that are no longer part of the run."""
        for path in [path for path in self._marks if path not in files]:
            with contextlib.suppress(OSError):
                check_place(self.path / path, self.path)
                (self.path / path).unlink(missing_ok=True)
            del self._marks[path]
        for path, content in files.items():
            if instructs_agents(path):
                continue
            data = content.encode() if isinstance(content, str) else content
            target = self.path / path
            if path in self._marks and self._read(path) == data:
                continue
            try:
                write_atomically(target, data, within=self.path)
                self._marks[path] = _mark(target.lstat())
            except OSError as error:
                self.left_out[path] = error.strerror or str(error)

    def changes(self) -> dict[str, Content | None]:
        """Files changed since they were written or last read; None if deleted."""
        marks, contents = dict[str, Mark](), dict[str, Content | None]()
        for path, mark in self._entries().items():
            if self._marks.get(path) == mark:
                marks[path] = mark
                continue
            data = self._read(path)
            if data is None:
                self.left_out[path] = "it is too large"
                continue
            marks[path] = mark
            contents[path] = _content(data)
        contents |= {path: None for path in self._marks if path not in marks}
        self._marks = marks
        return contents

    def relative(self, text: str) -> str:
        """Replace absolute paths into the folder with relative ones."""
        root = str(self.path)
        return text.replace(f"{root}/", "").replace(root, ".") if root in text else text

    def contains(self, path: str) -> bool:
        """Whether a path is in the folder after resolving links."""
        return Path(os.path.realpath(self.path / path)).is_relative_to(self.path)

    def remove(self) -> None:
        _remove(self.path)

    def _read(self, path: str) -> bytes | None:
        """The bytes of a file; None if it is too large or cannot be read."""
        target = self.path / path
        try:
            check_place(target, self.path)
            return None if target.is_symlink() else read_file(target, MAX_BINARY_BYTES)
        except OSError:
            return None

    def _earlier_files(self) -> dict[str, Mark]:
        """Earlier files that still exist; the limits on new files do not apply to them."""
        marks: dict[str, Mark] = {}
        for path in self._marks:
            with contextlib.suppress(OSError):
                check_place(self.path / path, self.path)
                state = (self.path / path).lstat()
                if not _problem(path, state, 0):
                    marks[path] = _mark(state)
        return marks

    def _entries(self) -> dict[str, Mark]:
        marks = self._earlier_files()
        folders, count = [self.path], 0
        while folders:
            with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
                for entry in sorted(entries, key=lambda item: item.name):
                    count += 1
                    if count > MAX_ENTRIES or entry.name.startswith(".") or entry.name in _SKIPPED:
                        continue
                    path = Path(entry.path).relative_to(self.path).as_posix()
                    state = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(state.st_mode):
                        folders.append(Path(entry.path))
                    elif path in marks:
                        continue
                    elif why := _problem(path, state, len(marks)):
                        self.left_out[path] = why
                    else:
                        marks[path] = _mark(state)
        return marks


def _check_private(folder: Path) -> None:
    """Raise `ConfigError` if other users could write to the folder, or replace it or one above it.

    In a folder with the sticky bit, such as the temporary one, only its owner can replace an entry.
    """
    for below, above in ((None, folder), *itertools.pairwise((folder, *folder.parents))):
        mode = above.stat().st_mode
        is_kept = below and mode & stat.S_ISVTX and below.stat().st_uid in (0, os.getuid())
        if mode & stat.S_IWOTH and not is_kept:
            raise ConfigError(
                f"An agent needs its own folder, and anyone can write to {str(above)!r}. Set XDG_CACHE_HOME"
                " to a folder below your home."
            )


def _problem(path: str, state: os.stat_result, count: int) -> str:
    """Why a file cannot be part of the run; empty if it can."""
    if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
        return "it is a link or not a regular file"
    if count >= MAX_FILES:
        return f"there are more than {MAX_FILES}"
    try:
        return "" if safe_path(path) == path else "its name has odd spaces"
    except FileError as error:
        return str(error)


def _mark(state: os.stat_result) -> Mark:
    return state.st_ino, state.st_size, state.st_mtime_ns


def _content(data: bytes) -> Content:
    try:
        return data.decode() if b"\0" not in data else data
    except UnicodeDecodeError:
        return data


def _remove(folder: Path) -> None:
    with contextlib.suppress(RecursionError):  # very deeply nested folders
        shutil.rmtree(folder, ignore_errors=True)


def _remove_old(parent: Path) -> None:
    """Remove folders left behind by killed kernels."""
    for folder in parent.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - folder.lstat().st_mtime > _OLD:
                _remove(folder)
