"""Finished runs on disk, under `.agent_nb/runs/`, so that nothing is lost when the kernel dies.

One file per run and one index of short lines, kept under a lock because several kernels may share a folder.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_nb._base.atomic import write_atomically
from agent_nb._base.secrets import mask
from agent_nb._base.wire import Json
from agent_nb.run import Run
from agent_nb.run.wire import saved_form

MOST_RUNS = 200
MOST_BYTES = 200_000_000
FOLDER = ".agent_nb"


class RunStore:
    """The saved runs of one working directory."""

    def __init__(self, home: Path) -> None:
        self.root = home / FOLDER
        self.folder = self.root / "runs"
        self._index = self.folder / "index.jsonl"

    def save(self, run: Run) -> Path:
        """Keeps a run; the oldest go when there are too many or they weigh too much."""
        self.folder.mkdir(parents=True, exist_ok=True)
        ignore = self.root / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
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
        with self._locked():
            write_atomically(target, data)
            others = [other for other in self._rows() if other["file"] != target.name]
            self._write_index(self._pruned([*others, row]))
        return target

    def rows(self) -> list[Json]:
        """The saved runs, newest last; only those whose file is still there."""
        return [row for row in self._rows() if (self.folder / row["file"]).exists()]

    def newest(self, name: str) -> Path | None:
        """The file of the last saved run of that name."""
        named = [row for row in self.rows() if row["name"] == name]
        return self.folder / named[-1]["file"] if named else None

    def _rows(self) -> list[Json]:
        try:
            lines = self._index.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        rows = []
        for line in lines:
            try:
                row = json.loads(line)
            except json.JSONDecodeError:  # a line cut short by a full disk: the others still count
                continue
            if isinstance(row, dict) and _is_file_name(row.get("file")) and "name" in row:
                rows.append(row)
        return rows

    def _pruned(self, rows: list[Json]) -> list[Json]:
        kept: list[Json] = []
        weight = 0
        for row in reversed(rows):
            size = row.get("bytes")
            weight += size if isinstance(size, int) else 0
            if kept and (len(kept) >= MOST_RUNS or weight > MOST_BYTES):
                (self.folder / row["file"]).unlink(missing_ok=True)
            else:
                kept.append(row)
        return kept[::-1]

    def _write_index(self, rows: list[Json]) -> None:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_atomically(self._index, text.encode())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock

        with FileLock(self.folder / ".lock", timeout=10):
            yield


def _is_file_name(value: object) -> bool:
    """Whether an index names a file of the folder itself: pruning deletes what the index names."""
    return (
        isinstance(value, str) and "\0" not in value and value == Path(value).name and value.endswith(".json")
    )
