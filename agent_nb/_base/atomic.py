"""Writes files whole or not at all."""

import errno
import os
import tempfile
from pathlib import Path


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
