"""What runs wrote to disk, as hashes in `.agent_nb`. Only a file with such content is replaced without asking."""

import contextlib
import errno
import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from agent_nb._base.atomic import append, folder_of, read_plain, write_atomically
from agent_nb._base.text import sha256

FOLDER = ".agent_nb"
_FILE = "written"
_MAX_BYTES = 4_000_000
"""Of the file of hashes, whose oldest lines are forgotten: 60,000 files."""
_written: set[str] = set()
"""The hashes of this process, which holds them also where the folder cannot be written."""


def own_folder(home: Path) -> Path:
    """Our folder beside a notebook, which version control ignores."""
    folder = home / FOLDER
    if not (folder / ".gitignore").exists():
        write_atomically(folder / ".gitignore", b"*\n", within=home, shared=True)
    return folder


def not_ours(targets: Mapping[Path, bytes], home: Path) -> list[Path]:
    """The targets that would replace something that no run wrote. A file with the same content is left out."""
    digests = {path: _digest(path) for path, data in targets.items() if os.path.lexists(path)}
    others = [path for path, digest in digests.items() if digest not in _written | {sha256(targets[path])}]
    known: set[str] = set()
    with contextlib.suppress(OSError):
        known.update(read_plain(home / FOLDER / _FILE, within=home, last=_MAX_BYTES).decode().split())
    return [path for path in others if digests[path] not in known]


def note_written(contents: Iterable[bytes], home: Path) -> None:
    """Remembers what a run wrote, also for the next kernel."""
    new = {sha256(content) for content in contents} - _written
    _written.update(new)
    with contextlib.suppress(OSError):  # the next kernel asks
        append(own_folder(home) / _FILE, "".join(f"{digest}\n" for digest in new).encode(), within=home)


def write_own(path: str | os.PathLike[str], data: bytes, *, overwrite: bool, shared: bool = True) -> Path:
    """Writes a file where the user's code says; raises `FileExistsError` rather than replace what no run wrote."""
    home, target = Path.cwd(), Path(path)
    if not overwrite and not_ours({target: data}, home) and (target.is_file() or target.is_symlink()):
        why = "It holds what no run wrote, so pass `overwrite=True` to replace it"
        raise FileExistsError(errno.EEXIST, why, str(path))
    write_atomically(target, data, within=folder_of(path, home), shared=shared)
    note_written([data], home)
    return target


def _digest(path: Path) -> str:
    """The hash of a file; empty for anything else, which no run writes."""
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
