"""Reads and writes files atomically, locked against other processes, and never through links in untrusted folders.

`within` is the folder that a path must not leave: nothing on the path below it may be a link, because a downloaded
folder could redirect writes to any file of the user. None if the user typed the path.
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
"""Lock timeout in seconds; other notebooks hold a lock for milliseconds."""
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
FOLDER = ".agent_nb"
_FILE = "written"
_MAX_BYTES = 4_000_000
"""Size limit of the hash file, about 60,000 files; the oldest lines are dropped."""
_written: set[str] = set()
"""Hashes of the contents written by this process: a fallback if the folder is not writable."""


def folder_of(path: str | os.PathLike[str], home: Path) -> Path | None:
    """Return `within` for a path relative to `home`: their deepest common folder. None for an absolute path."""
    path = os.path.expanduser(path)
    if os.path.isabs(path) or os.path.splitdrive(path)[0]:
        return None
    return Path(os.path.commonpath([os.path.abspath(home), os.path.abspath(home / path)]))


def check_place(path: Path, within: Path | None) -> None:
    """Raise `OSError` if the path leaves the folder or a parent below the folder is a link. The file may be a link."""
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
    """Write a temporary file beside the target and rename it, so that a failed write keeps the old file.

    A link is replaced by the file, not followed. Pipes and devices are rejected, because renaming would replace them.
    Only the owner can read the file; with `shared` the umask applies as usual.
    """
    check_place(target, within)
    if target.exists() and not target.is_file() and not target.is_dir():
        raise FileExistsError(errno.EEXIST, "It exists and is not a file", str(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f".{target.name[:40]}.{secrets.token_hex(4)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK, 0o666 if shared else 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_new(target: Path, data: bytes, *, within: Path) -> None:
    """Write a file that does not exist yet, not even as a link; raises `FileExistsError` if it does."""
    check_place(target, within)
    if not os.path.lexists(target.parent):
        target.parent.mkdir(exist_ok=True)
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK, 0o666)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def append(target: Path, data: bytes, *, within: Path) -> None:
    """Append the data in one call, so that killing the kernel can truncate only the last line."""
    _check_file(target, within)
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND | NO_LINK, 0o644)
    with os.fdopen(handle, "ab", buffering=0) as stream:
        stream.write(data)


def read_file(path: Path, most: int, *, start: bool = False) -> bytes:
    """Return the content of a file in a folder that may be untrusted.

    Raises `OSError` for a pipe or device, which could block or never end, and for a file of more than `most` bytes.
    With `start`, returns the first `most` bytes of a longer file instead.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | _NO_WAIT), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "It is not a regular file", str(path))
        if len(data := stream.read(most + 1)) > most and not start:
            raise OSError(errno.EFBIG, f"It has more than {most:,} bytes", str(path))
        return data[:most]


def read_plain(path: Path, *, within: Path, last: int | None = None) -> bytes:
    """Return the content of a file, or its last bytes; raises `OSError` if it is a link or not a file."""
    _check_file(path, within)
    with os.fdopen(os.open(path, os.O_RDONLY | NO_LINK), "rb") as stream:
        if last is not None:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - last))
        return stream.read()


@contextlib.contextmanager
def locked(lock: Path, *, within: Path, seconds: float = -1) -> Iterator[None]:
    """Exclude other processes during the block; waits at most `seconds`. No-op in a browser, which has one process."""
    _check_file(lock, within)
    lock.parent.mkdir(parents=True, exist_ok=True)
    if IN_BROWSER:
        yield
        return
    from filelock import FileLock  # it truncates the lock file

    with FileLock(lock, timeout=seconds):
        yield


def _check_file(path: Path, within: Path) -> None:
    """Raise `OSError` unless the path is a regular file without other hard links, or does not exist."""
    check_place(path, within)
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(status.st_mode):
        raise _is_link(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, f"{path.name} is not a file", str(path))
    if status.st_nlink > 1:
        raise OSError(errno.EMLINK, f"{path.name} is a hard link: replace it with a copy", str(path))


def _is_link(path: Path) -> OSError:
    return OSError(
        errno.ELOOP, f"{path.name} is a link, and links are not followed here: replace it", str(path)
    )


def own_folder(home: Path) -> Path:
    """Return the package's folder beside a notebook, which version control ignores."""
    folder = home / FOLDER
    if not (folder / ".gitignore").exists():
        write_atomically(folder / ".gitignore", b"*\n", within=home, shared=True)
    return folder


def not_ours(targets: Mapping[Path, bytes], home: Path) -> list[Path]:
    """Return the paths whose existing content was not written by a run and would change."""
    digests = {path: _digest(path) for path, data in targets.items() if os.path.lexists(path)}
    foreign = [path for path, digest in digests.items() if digest not in _written | {sha256(targets[path])}]
    hashes: set[str] = set()
    with contextlib.suppress(OSError):
        hashes.update(read_plain(home / FOLDER / _FILE, within=home, last=_MAX_BYTES).decode().split())
    return [path for path in foreign if digests[path] not in hashes]


def note_written(contents: Iterable[bytes], home: Path) -> None:
    """Record the files that a run wrote, for this kernel and later ones."""
    digests = {sha256(content) for content in contents} - _written
    _written.update(digests)
    with contextlib.suppress(OSError):  # the next kernel asks
        append(own_folder(home) / _FILE, "".join(f"{digest}\n" for digest in digests).encode(), within=home)


def write_own(
    path: str | os.PathLike[str], data: bytes, *, overwrite: bool, shared: bool = True, home: Path = Path()
) -> Path:
    """Write a file at the user's path, relative to `home`.

    Raises `FileExistsError` instead of replacing a file not written by a run.
    """
    target = home / os.path.expanduser(path)
    if not overwrite and not_ours({target: data}, home) and (target.is_file() or target.is_symlink()):
        why = "Its content was not written by a run: delete it, or pass `overwrite=True` in Python"
        raise FileExistsError(errno.EEXIST, why, str(path))
    write_atomically(target, data, within=folder_of(path, home), shared=shared)
    note_written([data], home)
    return target


def _digest(path: Path) -> str:
    """Return the hash of a regular file; empty for anything else."""
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
