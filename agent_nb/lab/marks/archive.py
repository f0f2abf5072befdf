"""Opens a zip file that anybody may have made. Nothing is unpacked to disk, and everything that is read is bounded."""

import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from agent_nb._base.text import shortened
from agent_nb.errors import AgentError
from agent_nb.files import human_size
from agent_nb.lab.log import FILE
from agent_nb.lab.submission import MAX_LOG, MAX_NOTEBOOK, MAX_RUN, NOTEBOOK_SUFFIX, RUNS

MAX_ZIP = 150_000_000
MAX_TOTAL = 200_000_000
"""Bytes of all parts together, unpacked."""
MAX_ENTRIES = 1_000
MAX_READ = 1_000_000
"""Bytes that are read at once, and so the size of the list of contents."""
MAX_RATIO = 200
"""How much smaller a part may be packed, if it is large: text seldom gets below a fiftieth."""
MAX_VALUES = 1_500_000
"""Objects, lists and commas in JSON: each value takes many times its size in memory."""
_LARGE = 1_000_000
_DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)
"""Exceptions that reading a damaged zip file can raise."""


class BadSubmissionError(AgentError):
    """A submission that cannot be read, as one sentence."""


class Submission:
    """The parts of a submission."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._infos = {info.filename: info for info in _checked(archive.infolist())}
        self._folder, self._notebook = self._find_notebook()

    def notebook(self) -> bytes:
        return self._read(self._notebook, MAX_NOTEBOOK)

    def log(self) -> bytes:
        """The log; empty if there is none."""
        name = self._folder + FILE
        return self._read(name, MAX_LOG) if name in self._infos else b""

    def run_names(self) -> list[str]:
        """The runs, to be read one at a time."""
        start = self._folder + RUNS
        return sorted(name for name in self._infos if name.startswith(start) and name.endswith(".json"))

    def run(self, name: str) -> bytes:
        return self._read(name, MAX_RUN)

    def _find_notebook(self) -> tuple[str, str]:
        """The folder of the notebook, as somebody may have zipped a folder, and its name."""
        found = [name for name in self._infos if name.endswith(NOTEBOOK_SUFFIX) and not _is_hidden(name)]
        if len(found) != 1:
            raise BadSubmissionError(f"It has {len(found) or 'no'} notebooks; one is expected.")
        return found[0][: found[0].rfind("/") + 1], found[0]

    def _read(self, name: str, limit: int) -> bytes:
        parts, size = [], 0
        with self._archive.open(self._infos[name]) as stream:
            while part := stream.read(min(MAX_READ, limit)):
                size += len(part)
                if size > limit:  # the list of contents may say less than there is
                    raise BadSubmissionError(f"{_shown(name)} has more than {human_size(limit)}.")
                parts.append(part)
        data = b"".join(parts)
        if sum(data.count(sign) for sign in (b"{", b"[", b",")) > MAX_VALUES:
            raise BadSubmissionError(f"{_shown(name)} has too many values.")
        return data


@contextmanager
def opened(path: Path) -> Iterator[Submission]:
    """Opens a submission; raises `BadSubmissionError` for whatever is wrong with it."""
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise BadSubmissionError("It is not a file.")
        if size > MAX_ZIP:
            raise BadSubmissionError(f"It has {human_size(size)}; at most {human_size(MAX_ZIP)} are read.")
        with _BoundedFile(path) as file, zipfile.ZipFile(file) as archive:
            yield Submission(archive)
    except FileNotFoundError:
        raise BadSubmissionError("There is no such file.") from None
    except PermissionError as error:
        raise BadSubmissionError(f"It cannot be read: {error.strerror}.") from None
    except _DAMAGES:
        raise BadSubmissionError("The zip file is damaged.") from None


class _BoundedFile(io.FileIO):
    """A file that is read in small pieces only: a false list of contents can claim to be gigabytes long."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            size = os.fstat(self.fileno()).st_size - self.tell()
        if size > MAX_READ + zipfile.ZipExtFile.MIN_READ_SIZE:
            raise BadSubmissionError("Its list of contents is too long.")
        return super().read(size) or b""


def _checked(infos: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    if len(infos) > MAX_ENTRIES:
        raise BadSubmissionError(f"It has {len(infos)} parts; at most {MAX_ENTRIES} are read.")
    if len({info.filename for info in infos}) < len(infos):
        raise BadSubmissionError("It has two parts with the same name.")
    for info in infos:
        if problem := _problem(info):
            raise BadSubmissionError(f"{_shown(info.orig_filename)} {problem}.")
    total = sum(info.file_size for info in infos)
    if total > MAX_TOTAL:
        raise BadSubmissionError(
            f"Unpacked it would have {human_size(total)}; at most {human_size(MAX_TOTAL)} are read."
        )
    return infos


def _problem(info: zipfile.ZipInfo) -> str:
    """What is wrong with a part, after its name; empty if nothing is."""
    name = info.orig_filename
    if not all(each.isprintable() for each in name) or "\\" in name or len(name) > 500:
        return "is not a valid name"
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or ":" in name:
        return "leads out of the zip file"
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device"
    if info.flag_bits & 1:
        return "is encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is packed in an unusual way"
    if info.file_size > _LARGE and info.file_size > MAX_RATIO * max(info.compress_size, 1):
        return f"would unpack to {human_size(info.file_size)} from {human_size(info.compress_size)}"
    return ""


def _is_hidden(name: str) -> bool:
    """What systems and editors add: `__MACOSX/`, `.ipynb_checkpoints/`."""
    return any(part.startswith((".", "__")) for part in PurePosixPath(name).parts)


def _shown(name: str) -> str:
    return repr(shortened(name, 60))
