"""Writes files whole or not at all, and one process at a time."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agent_nb._base.host import IN_BROWSER


def write_atomically(target: Path, data: bytes, mode: int | None = None) -> None:
    """Writes a temporary file beside the target and renames it, so that a failed write leaves the old file.

    Without `mode` only the owner can read the file. Pipes and devices are refused: renaming would replace them.
    """
    if target.exists() and not target.is_file() and not target.is_dir():
        raise FileExistsError(errno.EEXIST, "It exists and is not a file", str(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def locked(lock: Path, seconds: float = -1) -> Iterator[None]:
    """Keeps other processes out of the block, which wait for at most this long. A browser tab has one process."""
    if IN_BROWSER:
        yield
        return
    from filelock import FileLock

    with FileLock(lock, timeout=seconds):
        yield
