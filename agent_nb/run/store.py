"""Saves finished runs under `.agent_nb/runs/`, so that they survive the kernel.

One file per run, and an index of what a list shows of them. The files decide which runs there are: one that the
index lacks, because the kernel was killed before it was written, is listed all the same. Writing takes a lock,
because several kernels can share a folder.
"""

import contextlib
import json
import math
import re
import time
from collections.abc import Iterable
from pathlib import Path

from agent_nb._base.atomic import locked, read_plain, write_atomically
from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.secrets import masked_line
from agent_nb._base.wire import Json
from agent_nb.errors import SavedRunError
from agent_nb.run import Run
from agent_nb.run.record import FORMAT, saved_form

MAX_RUNS = 200
MAX_BYTES = 200_000_000
FOLDER = ".agent_nb"
_LEFTOVER = re.compile(r"\.(\d{8}-\d{6}-.*|index\.jsonl)\.\w{8}")
"""The names of the temporary files of `write_atomically` for runs and the index."""
_STILL_WRITTEN = 60
"""Seconds for which another browser tab may be writing a temporary file."""
_RUN_FILE = re.compile(r"(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)\d\d-(.+)-[^-]+\.json")
_STAMP = len("20260101-120000")
_HEAD = 16_384
"""Bytes at the beginning of a run's file, which hold its prompt, model and reason unless the prompt is longer."""
_HEAD_FIELD = re.compile(r'"(prompt|model|reason)": ("[^"\\]*(?:\\.[^"\\]*)*")')


class RunStore:
    """The saved runs of one working directory."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.root = home / FOLDER
        self.folder = self.root / "runs"
        self._index = self.folder / "index.jsonl"

    def save(self, run: Run) -> Path:
        """Writes a run, and deletes the oldest ones if there are too many or they take too much space."""
        ignore = self.root / ".gitignore"
        if not ignore.exists():
            write_atomically(ignore, b"*\n", within=self._home, mode=0o644)
        stamp = time.strftime("%Y%m%d-%H%M%S")
        target = self.folder / f"{stamp}-{run.name}-{run.id}.json"
        data = saved_form(run)
        row: Json = {
            "file": target.name,
            "name": run.name,
            "when": time.strftime("%Y-%m-%d %H:%M"),
            "model": run.model,
            "reason": run.reason,
            "cost": run.cost,
            "prompt": _one_line(run.prompt),
            "bytes": len(data),
        }
        with locked(self.folder / ".lock", within=self._home, seconds=10):
            self._remove_leftovers()
            write_atomically(target, data, within=self._home)
            others = [other for other in self._rows() if other["file"] != target.name]
            rows = self._pruned([*others, row])
            with contextlib.suppress(OSError):  # such as a full disk: the run is saved all the same
                self._write_index(rows)
        return target

    def rows(self) -> list[Json]:
        """The saved runs whose file still exists, newest last; raises `SavedRunError` if they cannot be listed."""
        try:
            return self._rows()
        except OSError as error:
            raise SavedRunError(
                f"The saved runs in {self.folder} cannot be listed: {error.strerror}."
            ) from None

    def newest(self, name: str) -> Path | None:
        """The file of the newest run with that name."""
        files = [row["file"] for row in self.rows() if row["name"] == name]
        return self.folder / files[-1] if files else None

    def read(self, row: Json) -> bytes:
        """The file of a saved run; raises `OSError` if it cannot be read, or is a link."""
        return read_plain(self.folder / row["file"], within=self._home)

    def _rows(self) -> list[Json]:
        indexed = self._indexed()
        files = {path.name for path in self.folder.glob("*.json")}
        rows = [row for row in indexed if row["file"] in files]
        unlisted = files - {row["file"] for row in rows}
        return _merged(rows, [row for file in sorted(unlisted) if (row := self._row_of(file))])

    def _row_of(self, file: str) -> Json | None:
        """What a list shows of a run that the index lacks, without reading all of its file; None if it is no run."""
        named = _RUN_FILE.fullmatch(file)
        if not named:
            return None
        try:
            with (self.folder / file).open("rb") as stream:
                head = stream.read(_HEAD).decode("utf-8", "replace")
            size = (self.folder / file).stat().st_size
        except OSError:  # another kernel has pruned it
            return None
        if not head.startswith(f'{{"format": "{FORMAT}"'):
            return None
        year, month, day, hour, minute, name = named.groups()
        when = f"{year}-{month}-{day} {hour}:{minute}"
        return {"file": file, "name": name, "when": when, **_head_fields(head), "bytes": size}

    def _indexed(self) -> list[Json]:
        try:
            lines = self._index.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        rows = []
        for line in lines:
            try:
                row = json.loads(line)
            except json.JSONDecodeError:  # such as a line cut short by a full disk
                continue
            if isinstance(row, dict) and _is_file_name(row.get("file")) and "name" in row:
                rows.append(row)
        return rows

    def _remove_leftovers(self) -> None:
        """Deletes what kernels that were killed while they saved have left.

        Under the lock nobody else is saving. Browser tabs have no lock, so a recent file may be one that another
        tab is still writing.
        """
        limit = time.time() - _STILL_WRITTEN if IN_BROWSER else math.inf
        for path in self.folder.glob(".*"):
            with contextlib.suppress(FileNotFoundError):  # the other tab has renamed it
                if _LEFTOVER.fullmatch(path.name) and path.stat().st_mtime < limit:
                    path.unlink()

    def _pruned(self, rows: list[Json]) -> list[Json]:
        kept: list[Json] = []
        total = 0
        for row in reversed(rows):
            size = row.get("bytes")
            total += size if isinstance(size, int) else 0
            if kept and (len(kept) >= MAX_RUNS or total > MAX_BYTES):
                (self.folder / row["file"]).unlink(missing_ok=True)
            else:
                kept.append(row)
        return kept[::-1]

    def _write_index(self, rows: list[Json]) -> None:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_atomically(self._index, text.encode("utf-8", "replace"), within=self._home)


def _head_fields(head: str) -> Json:
    """The prompt, model and reason at the beginning of a run's file, as far as they are there."""
    found: Json = {}
    with contextlib.suppress(ValueError):  # a damaged file; loading it says so
        for key, text in _HEAD_FIELD.findall(head):
            found.setdefault(key, json.loads(text))
    if "prompt" in found:
        found["prompt"] = _one_line(found["prompt"])
    return found


def _one_line(prompt: str) -> str:
    return masked_line(prompt)[:80]


def _merged(rows: list[Json], unlisted: Iterable[Json]) -> list[Json]:
    """The rows with those that the index lacks, each behind the last one that is not younger.

    The order of the index stays: it is that in which runs were saved, also when the clock was set back.
    """
    for row in unlisted:
        stamp = row["file"][:_STAMP]
        place = len(rows)
        while place and rows[place - 1]["file"][:_STAMP] > stamp:
            place -= 1
        rows.insert(place, row)
    return rows


def _is_file_name(value: object) -> bool:
    """Whether this names a file directly in the folder: pruning deletes the files that the index names."""
    return (
        isinstance(value, str) and "\0" not in value and value == Path(value).name and value.endswith(".json")
    )


def run_id(row: Json) -> str:
    """The run's id, from the name of its file."""
    return Path(row["file"]).stem.rpartition("-")[2]
