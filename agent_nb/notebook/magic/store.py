"""Saves finished runs under `.agent_nb/runs/`, so that they survive the kernel.

One file per run, and an index. Writing takes a lock, because several kernels can share a folder.
"""

import json
import re
import time
from pathlib import Path

from agent_nb._base.atomic import locked, write_atomically
from agent_nb._base.secrets import mask
from agent_nb._base.wire import Json
from agent_nb.errors import SavedRunError
from agent_nb.run import Run
from agent_nb.run.wire import saved_form

MAX_RUNS = 200
MAX_BYTES = 200_000_000
FOLDER = ".agent_nb"
_LEFTOVER = re.compile(r"\.(\d{8}-\d{6}-.*|index\.jsonl)\.\w{8}")
"""The names of the temporary files of `write_atomically` for runs and the index."""


class RunStore:
    """The saved runs of one working directory."""

    def __init__(self, home: Path) -> None:
        self.root = home / FOLDER
        self.folder = self.root / "runs"
        self._index = self.folder / "index.jsonl"

    def save(self, run: Run) -> Path:
        """Writes a run, and deletes the oldest ones if there are too many or they take too much space."""
        self.folder.mkdir(parents=True, exist_ok=True)
        ignore = self.root / ".gitignore"
        if not ignore.exists():
            write_atomically(ignore, b"*\n", mode=0o644)
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
            "prompt": mask(" ".join(run.prompt.split()))[:80],
            "bytes": len(data),
        }
        with locked(self.folder / ".lock", seconds=10):
            self._remove_leftovers()
            write_atomically(target, data)
            others = [other for other in self._rows() if other["file"] != target.name]
            self._write_index(self._pruned([*others, row]))
        return target

    def rows(self) -> list[Json]:
        """The saved runs whose file still exists, newest last; raises `SavedRunError` if they cannot be listed."""
        try:
            return [row for row in self._rows() if (self.folder / row["file"]).exists()]
        except OSError as error:
            raise SavedRunError(
                f"The saved runs in {self.folder} cannot be listed: {error.strerror}."
            ) from None

    def newest(self, name: str) -> Path | None:
        """The file of the newest run with that name."""
        files = [row["file"] for row in self.rows() if row["name"] == name]
        return self.folder / files[-1] if files else None

    def _rows(self) -> list[Json]:
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
        """Deletes what kernels that were killed while they saved have left. Under the lock nobody else is saving."""
        for path in self.folder.glob(".*"):
            if _LEFTOVER.fullmatch(path.name):
                path.unlink(missing_ok=True)

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
        write_atomically(self._index, text.encode("utf-8", "replace"))


def _is_file_name(value: object) -> bool:
    """Whether this names a file directly in the folder: pruning deletes the files that the index names."""
    return (
        isinstance(value, str) and "\0" not in value and value == Path(value).name and value.endswith(".json")
    )
