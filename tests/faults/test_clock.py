"""The clock of the machine is set back during a run and between runs.

The clock is that of a real kernel, shifted below Python by a small library (`tests/support/clock.c`).
"""

import shutil
import struct
import subprocess
import sys

import pytest

from agent_nb import load
from agent_nb.run.store import RunStore
from tests.support import ROOT
from tests.support.fault_table import TABLE
from tests.support.kernels import start_kernel

COMPILER = shutil.which("cc")
YEAR = 365 * 24 * 3600

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(sys.platform != "linux", reason="uses LD_PRELOAD"),
    pytest.mark.skipif(not COMPILER, reason="needs a C compiler"),
]


@pytest.fixture
def clock(tmp_path):
    """Sets the clock of the kernels by that many seconds."""
    assert COMPILER
    library, file = tmp_path / "clock.so", tmp_path / "shift"
    source = ROOT / "tests" / "support" / "clock.c"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, source], check=True)

    def shift(seconds: int) -> dict[str, str]:
        # Written in place: the kernel has the file mapped.
        with file.open("r+b" if file.exists() else "wb") as stream:
            stream.write(struct.pack("q", seconds))
        return {"LD_PRELOAD": str(library), "CLOCK_SHIFT": str(file)}

    return shift


def test_a_clock_that_is_set_back_changes_no_run(clock, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    with start_kernel(home, **clock(0)) as kernel:
        kernel.run("import time\nbegan = time.time()")
        assert kernel.run("%%agent hero -m demo: --pace 0 --plain\nA form").status == "ok"
        first = kernel.value("hero.id")
        running = kernel.start("%%agent hero -m demo: --pace 1 --record\nAnother form", stdin=True)
        kernel.until(running, lambda cell: cell.displays)  # the first frame
        clock(-YEAR)
        assert kernel.finish(running).status == "ok"
        assert kernel.value("time.time() < began") == "True"
        assert kernel.value("hero.reason") == "'end_turn'"
        assert kernel.value("[e.at for e in hero.events] == sorted(e.at for e in hero.events)") == "True"
        assert kernel.value("0 < hero.seconds < 600") == "True"
        during = kernel.value("hero.id")
        clock(-2 * YEAR)
        assert kernel.run("%%agent hero -m demo: --pace 0 --plain\nA third form").status == "ok"
        after = kernel.value("hero.id")
        kernel.run("del hero\n%agent load hero")
        assert kernel.value("hero.id") == after
        assert "replayed" in kernel.run("%%agent hero --plain --replay\nAnother form").stdout
    store = RunStore(home)
    runs = [load(store.folder / row["file"]) for row in store.rows()]
    assert [repr(run.id) for run in runs][:3] == [first, during, after]
    assert [run.reason for run in runs] == ["end_turn"] * 4
    stamps = [row["when"] for row in store.rows()]
    assert stamps[0] > stamps[1] > stamps[2]
    TABLE.add("clock", "set back", "recovered")
