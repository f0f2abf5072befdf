"""Kernels killed (SIGKILL) at random moments of a run: what had been shown a while before can be loaded."""

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from agent_nb import load
from agent_nb.engine.saving import HELD
from agent_nb.run.run_reader import KERNEL_ENDED
from agent_nb.run.store import RunStore
from tests.support.fault_table import TABLE
from tests.support.kernels import start_kernel

SEED = 20261119
BEFORE = 2.0
"""Seconds: a run is written once a second, and the machine may be busy."""
WATCH = """
import json, os, time
from agent_nb.engine.journal import OBSERVERS
log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def observe(event):
    entry = [time.monotonic(), event.type, len(getattr(event, "text", ""))]
    os.write(log, json.dumps(entry).encode() + b"\\n")
OBSERVERS.append(lambda: observe)
"""
pytestmark = pytest.mark.skipif(os.name != "posix", reason="uses SIGKILL")


def kill_at(home: Path, moment: float) -> bool:
    """Kill a kernel that long after the first event of a run; whether the run had begun to be written."""
    home.mkdir()
    with start_kernel(home) as kernel:
        kernel.run(WATCH)
        kernel.start("%%agent hero -m demo: --pace 1\nA form")
        while not (home / "log").read_bytes():
            time.sleep(0.02)
        time.sleep(moment)
        end = time.monotonic()
        os.kill(kernel.manager.provisioner.pid, signal.SIGKILL)
        kernel.manager.provisioner.process.wait()
    shown = [json.loads(line) for line in (home / "log").read_text().splitlines()]
    shown = [(kind, length) for at, kind, length in shown if at < end - BEFORE]
    store = RunStore(home)
    rows = store.rows()
    if not rows:
        assert not shown, "nothing is saved"
        return False
    file = store.folder / rows[-1]["file"]
    lines = [json.loads(line) for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]
    written = sum(len(line.get("pace", "xx")) // 2 for line in lines if "seq" in line)
    missing = shown[written:]
    assert {kind for kind, _ in missing if not kind.endswith("_delta")} <= {"usage_updated"}
    assert sum(length for _, length in missing[1:]) < HELD
    run = load(file)
    assert (run.reason, run.error) in (("interrupted", KERNEL_ENDED), ("end_turn", None))
    assert len(run.events) >= written
    assert all((run.to_html(), run.to_markdown(), repr(run)))
    return True


def test_a_sample_of_kills(tmp_path):
    assert [kill_at(tmp_path / f"{moment}", moment) for moment in (2.6, 4.1)] == [True, True]
    with start_kernel(tmp_path / "4.1") as kernel:
        assert "interrupted" in repr(kernel.run("%agent runs"))
        kernel.run("%agent load hero")
        assert kernel.value("hero.reason, hero.error") == repr(("interrupted", KERNEL_ENDED))
        again = kernel.run("%%agent hero2 -m demo: --pace 0 --plain --from hero\nMake it blue")
        assert again.status == "ok", again.errors


@pytest.mark.faults
def test_a_hundred_kills(tmp_path):
    moments = random.Random(SEED)
    written = 0
    for number in range(100):
        written += kill_at(tmp_path / f"{number}", moments.uniform(0, 6))
        TABLE.add("kernel", "killed in a run", "recovered")
    TABLE.figures["killed_runs"] = {"moments": 100, "seed": SEED, "with_a_file": written}
