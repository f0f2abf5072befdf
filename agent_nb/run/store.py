"""Saves runs under `.agent_nb/runs/`, so that they survive the kernel.

One file per run. The number at the beginning of its name is the order in which their files were begun, even if the
clock was set back. A run in progress has a `.part.run.jsonl`. A lock is taken, because several kernels can share a
folder.
"""

import contextlib
import gzip
import math
import os
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent_nb._base.atomic import FOLDER, NO_LINK, locked, own_folder, read_plain, write_atomically
from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.program import process_start
from agent_nb._base.secrets import MaskedJson
from agent_nb._base.wire import Json
from agent_nb.core.errors import SavedRunError
from agent_nb.run import Run
from agent_nb.run.record import RunRecord
from agent_nb.run.run_lines import PACKED, SUFFIX
from agent_nb.run.run_reader import MAX_UNPACKED, read_header, unpacked
from agent_nb.run.run_writer import dump_lines, run_file

MAX_RUNS = 200
MOST_PLAIN = 500_000
"""Maximum size of a file that is not compressed."""
MAX_BYTES = 200_000_000
_LEFTOVER = re.compile(r"\.\d{6}-.*\.\w{8}")
"""Names of temporary files that `write_atomically` creates for runs."""
_STILL_WRITTEN = 60
"""Maximum age in seconds of a temporary file that another browser tab may still be writing."""
_RUN_FILE = re.compile(
    r"(\d{6})-(?:(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)\d\d-)?(.+)-([^-.]+)(\.part)?"
    + re.escape(SUFFIX)
    + rf"({re.escape(PACKED)})?",
    re.ASCII,
)
PART = ".part"
RUNNING = "running"
_LAST = "999999-"
_HEAD = 2_048


class RunStore:
    def __init__(self, home: Path) -> None:
        self._home = home
        self.root = home / FOLDER
        self.folder = self.root / "runs"

    def begin(self, name: str, lines: Sequence[MaskedJson], part: Path | None = None) -> Path:
        """Write the file of a run in progress: a new one, or `part` again."""
        own_folder(self._home)
        with self._locked() as rows:
            part = part or self.folder / f"{_next_number(rows)}-{name}{PART}{SUFFIX}"
            write_atomically(part, dump_lines(lines), within=self._home)
        return part

    def append(self, part: Path, lines: Sequence[MaskedJson]) -> None:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_APPEND | NO_LINK), "ab") as stream:
            stream.write(dump_lines(lines))

    def save(self, run: Run) -> Path:
        """Write a run in the place of its part, and delete the oldest ones beyond the limits on count and size."""
        own_folder(self._home)
        data, packed = run_file(run), ""
        if MOST_PLAIN < len(data) <= MAX_UNPACKED:
            data, packed = gzip.compress(data, mtime=0), PACKED
        with self._locked() as rows:
            part = next((row["file"] for row in rows if _is_same(row, run) and row["is_part"]), "")
            name = f"{time.strftime('%Y%m%d-%H%M%S')}-{run.name}-{run.id}{SUFFIX}{packed}"
            target = self.folder / f"{part[:6] or _next_number(rows)}-{name}"
            write_atomically(self.folder / part if part else target, data, within=self._home)
            if part:
                (self.folder / part).rename(target)
            self._prune(run, rows, target)
        return target

    @contextlib.contextmanager
    def _locked(self) -> Iterator[list[Json]]:
        """Exclude other kernels; yield the rows."""
        with locked(self.folder / ".lock", within=self._home, seconds=10):
            self._remove_leftovers()
            rows = self._rows()
            if rows and rows[-1]["file"].startswith(_LAST):
                self._renumber(rows)
            yield rows

    def rows(self) -> list[Json]:
        """The saved runs, with what killed kernels left, without those in progress."""
        try:
            return [row for row in self._rows() if row["reason"] != RUNNING]
        except OSError as error:
            raise SavedRunError(
                f"The saved runs in {self.folder} cannot be listed: {error.strerror}."
            ) from None

    def newest(self, name: str) -> Path | None:
        files = [row["file"] for row in self.rows() if row["name"] == name]
        return self.folder / files[-1] if files else None

    def read(self, row: Json) -> bytes:
        return unpacked(read_plain(self.folder / row["file"], within=self._home))

    def _rows(self) -> list[Json]:
        try:
            files = sorted(path.name for path in self.folder.iterdir())
        except FileNotFoundError:
            return []
        return [row for file in files if (row := self._row(file))]

    def _row(self, file: str) -> Json | None:
        """The list entry of a run, read from the start of its file; None if it is not a run."""
        match = _RUN_FILE.fullmatch(file)
        head = read_header(self.folder / file, _HEAD) if match else None
        if match is None or head is None:
            return None
        try:
            status = (self.folder / file).stat()
        except FileNotFoundError:  # pruned by another kernel
            return None
        *date, name, _, part, _ = match.groups()
        when = "{1}-{2}-{3} {4}:{5}".format(*date)
        if not date[1]:
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(status.st_mtime))
        fields = {key: str(head.get(key, "")) for key in ("model", "reason")}
        if part and _is_alive(head, status.st_mtime):
            fields["reason"] = RUNNING
        return {
            "file": file,
            "name": name,
            "when": when,
            **fields,
            "bytes": status.st_size,
            "is_part": bool(part),
        }

    def _remove_leftovers(self) -> None:
        """Delete temporary files left by kernels that were killed while saving.

        The lock ensures that no other kernel is saving. Browser tabs have no lock, so another tab may still be
        writing a recent file.
        """
        limit = time.time() - _STILL_WRITTEN if IN_BROWSER else math.inf
        for path in self.folder.glob(".*"):
            with contextlib.suppress(FileNotFoundError):  # renamed by the other tab
                if _LEFTOVER.fullmatch(path.name) and path.stat().st_mtime < limit:
                    path.unlink()

    def _renumber(self, rows: list[Json]) -> None:
        """Number the runs from 1: no number is left after a file with the last one, which may come from elsewhere."""
        for number, row in enumerate(rows, 1):
            file = f"{number:06}{row['file'][6:]}"
            (self.folder / row["file"]).rename(self.folder / file)
            row["file"] = file

    def _prune(self, run: Run, rows: list[Json], target: Path) -> None:
        """Delete the oldest runs beyond the limits, and an earlier file of the run just saved."""
        count, size = 1, target.stat().st_size
        for row in reversed(rows):
            if row["reason"] == RUNNING or row["file"] == target.name:
                continue
            if _is_same(row, run) or count >= MAX_RUNS or size + row["bytes"] > MAX_BYTES:
                (self.folder / row["file"]).unlink(missing_ok=True)
            else:
                count, size = count + 1, size + row["bytes"]


def run_id(row: Json) -> str:
    return str(row["file"]).removesuffix(PACKED).removesuffix(SUFFIX).removesuffix(PART).rpartition("-")[2]


def _is_same(row: Json, run: RunRecord) -> bool:
    return (row["name"], run_id(row)) == (run.name, run.id)


def _next_number(rows: list[Json]) -> str:
    return f"{int(rows[-1]['file'][:6]) + 1 if rows else 1:06}"


def _is_alive(header: Json, changed: float) -> bool:
    """Whether the kernel that writes a run still runs, as far as can be known."""
    pid, process = header.get("pid"), header.get("process")
    if isinstance(pid, int) and process and process_start(pid) == process:
        return True
    return abs(time.time() - changed) < _STILL_WRITTEN and process_start(os.getpid()) == ""
