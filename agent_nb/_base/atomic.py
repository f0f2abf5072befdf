"""Reads and writes files whole or not at all, one process at a time, and never through a link that a folder came with.

`within` is the folder that a path must not leave: no name below it may be a link, or else a downloaded folder could
send what is written there to any file of the user. It is None for a path that is the user's own word.
"""

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.text import sha256

PATIENCE = 5.0
"""Seconds to wait for another notebook, which holds a lock for milliseconds."""
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def folder_of(given: str | os.PathLike[str], home: Path) -> Path | None:
    """The `within` of a path that starts in `home`: the last folder that both share. None for an absolute path."""
    path = os.path.expanduser(given)
    if os.path.isabs(path) or os.path.splitdrive(path)[0]:
        return None
    return Path(os.path.commonpath([os.path.abspath(home), os.path.abspath(home / path)]))


def check_place(path: Path, within: Path | None) -> None:
    """Raises `OSError` if the path leaves the folder, or leads through a link below it. The last name may be one."""
    if within is None:
        return
    root = Path(os.path.abspath(within))
    try:
        below = Path(os.path.abspath(path)).relative_to(root)
    except ValueError:
        raise OSError(errno.EPERM, f"it is outside {str(within)!r}", str(path)) from None
    if Path(os.path.realpath(path.parent)) != Path(os.path.realpath(root)) / below.parent:
        links = [root / name for name in below.parents if os.path.islink(root / name)]
        raise _is_link(links[-1] if links else path.parent)


def write_atomically(target: Path, data: bytes, *, within: Path | None, shared: bool = False) -> None:
    """Writes a temporary file beside the target and renames it, so that a failed write leaves the old file.

    A link is replaced by the file, not followed. Pipes and devices are refused, because renaming would replace them.
    Only the owner can read the file, unless it is `shared`: then the umask decides, as for any file.
    """
    check_place(target, within)
    if target.exists() and not target.is_file() and not target.is_dir():
        raise FileExistsError(errno.EEXIST, "It exists and is not a file", str(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f".{target.name[:40]}.{secrets.token_hex(4)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o666 if shared else 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def append(target: Path, data: bytes, *, within: Path) -> None:
    """Writes the data in one call, so that a kernel that is killed cuts short at most the last line."""
    _check_file(target, within)
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NO_LINK, 0o644)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)


def read_file(path: Path, most: int, *, start: bool = False) -> bytes:
    """The content of a file, or its start, in a folder that may come from anywhere.

    Raises `OSError` if it has more than `most` bytes or is a pipe or device, which could wait or go on for ever.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | _NO_WAIT), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "It is not a regular file", str(path))
        if len(data := stream.read(most + 1)) > most and not start:
            raise OSError(errno.EFBIG, f"It has more than {most:,} bytes", str(path))
        return data[:most]


def read_plain(path: Path, *, within: Path, last: int | None = None) -> bytes:
    """The content of a file, or its last bytes; raises `OSError` if it is a link, or not a file."""
    _check_file(path, within)
    with os.fdopen(os.open(path, os.O_RDONLY | _NO_LINK), "rb") as stream:
        if last is not None:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - last))
        return stream.read()


@contextlib.contextmanager
def locked(lock: Path, *, within: Path, seconds: float = -1) -> Iterator[None]:
    """Keeps other processes out of the block, which wait for at most this long. A browser tab has one process."""
    _check_file(lock, within)
    lock.parent.mkdir(parents=True, exist_ok=True)
    if IN_BROWSER:
        yield
        return
    from filelock import FileLock  # it empties the file that it locks

    with FileLock(lock, timeout=seconds):
        yield


def _check_file(path: Path, within: Path) -> None:
    """Raises `OSError` if the path leads to anything but a file of this one name, or to nothing yet."""
    check_place(path, within)
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise _is_link(path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, f"{path.name} is not a file", str(path))
    if found.st_nlink > 1:
        raise OSError(errno.EMLINK, f"{path.name} is a hard link: replace it with a copy", str(path))


def _is_link(path: Path) -> OSError:
    return OSError(
        errno.ELOOP, f"{path.name} is a link, and links are not followed here: replace it", str(path)
    )


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
