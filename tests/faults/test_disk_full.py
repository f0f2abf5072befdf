"""A disk that is really full under `.agent_nb/`: a small file system of its own, mounted for the test."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_nb import load
from agent_nb.run.run_lines import SUFFIX
from agent_nb.run.store import PART, RunStore
from tests.support.fault_table import TABLE
from tests.support.kernels import start_kernel

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can mount a tmpfs"),
]
RUNS = 40
FULL = "The run could not be saved in .agent_nb: No space left on device."
CELL = "%%agent run{} -m demo: --pace 0 --plain\nA form"


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(file: Path) -> None:
    """Writes until the disk is full."""
    with contextlib.suppress(OSError), file.open("wb", buffering=0) as stream:
        while True:
            stream.write(b"x" * 4096)


def loaded(store: RunStore) -> list[str]:
    """The names of the runs that are listed, each of which loads."""
    return [load(store.folder / row["file"]).name for row in store.rows()]


def test_a_full_disk_costs_only_what_is_not_saved(tmp_path):
    store, folder = RunStore(tmp_path), tmp_path / ".agent_nb"
    with small_disk(folder, "512k"), start_kernel(tmp_path) as kernel:
        fill(folder / "filler")
        assert FULL in kernel.run(CELL.format("_first")).stdout
        (folder / "filler").unlink()
        full = 0
        for number in range(RUNS):
            cell = kernel.run(CELL.format(number))
            assert cell.status == "ok", cell.errors
            assert kernel.value(f"run{number}.reason") == "'end_turn'"
            names = loaded(store)
            assert len(names) == len(
                [path for path in store.folder.glob(f"*{SUFFIX}") if PART not in path.name]
            ), "a file that is not listed"
            if f"run{number}" in names:
                assert not full, "saved on a full disk"
                TABLE.add("disk", "full", "recovered")
            else:
                full += 1
                assert FULL in cell.stdout
                TABLE.add("disk", "full", "failed_cleanly")
            if full == 3:
                break
        assert full == 3
        assert (folder / ".gitignore").read_text() == "*\n"
        subprocess.run(["mount", "-o", "remount,size=4m", folder], check=True)
        assert "could not be saved" not in kernel.run(CELL.format(99)).stdout
        assert loaded(store)[-1] == "run99"
        assert not [path.name for path in store.folder.glob(".*") if path.name != ".lock"]
        TABLE.add("disk", "room again", "recovered")
