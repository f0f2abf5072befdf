"""Kernels killed (SIGKILL) at random moments, while they run, record and save one run after the other."""

import asyncio
import os
import random
import signal

import pytest

from agent_nb import Agent, load, replay
from agent_nb.run.store import RunStore
from tests.support.fault_table import TABLE
from tests.support.kernels import Kernel, start_kernel

MOMENTS = 30
SEED = 20261115
PROMPT = "A form"
LOOP = """
shell = get_ipython()
for number in range(10_000):
    line = f"run{number % 7} -m demo: --pace 0 --plain --record --save site"
    shell.run_cell_magic("agent", line, "A form")
"""

pytestmark = [pytest.mark.faults, pytest.mark.skipif(os.name != "posix", reason="uses SIGKILL")]


def kill(kernel: Kernel) -> None:
    os.kill(kernel.manager.provisioner.pid, signal.SIGKILL)


async def test_what_killed_kernels_saved_is_whole(tmp_path):
    moments, store = random.Random(SEED), RunStore(tmp_path)
    facts = {"moments": MOMENTS, "seed": SEED, "saved_runs_loaded": 0, "left_over": 0}
    for _ in range(MOMENTS):
        with start_kernel(tmp_path) as kernel:
            running = kernel.start(LOOP)
            kernel.until(running, lambda cell: cell.stdout or cell.displays)
            await asyncio.sleep(moments.uniform(0, 1))  # the moment is what is tested
            kill(kernel)
        facts["left_over"] += len([path for path in store.folder.glob(".*") if path.name != ".lock"])
        await check(tmp_path, store, facts)
        TABLE.add("kernel", "killed", "recovered")
    assert store.rows()
    with start_kernel(tmp_path) as kernel:
        assert kernel.run("%agent runs").status == "ok"
        assert kernel.run("%agent load run0").status == "ok"
        assert kernel.value("run0.reason") in ("'end_turn'", "'interrupted'")
        after = kernel.run("%%agent last -m demo: --pace 0 --plain\nA form")
        assert "could not be saved" not in after.stdout
    assert not [path.name for path in store.folder.glob(".*") if path.name != ".lock"]
    TABLE.figures["killed"] = facts


async def check(home, store: RunStore, facts: dict[str, int]) -> None:
    """Every file with the name of a whole one is whole, every other loads as interrupted, and every run is listed."""
    listed = {row["file"] for row in store.rows()}
    for path in store.folder.glob("*.jsonl"):
        run = load(path)
        assert run.reason == ("interrupted" if ".part." in path.name else "end_turn")
        assert run.reason == "interrupted" or run.files["index.html"].endswith("</html>\n")
        facts["saved_runs_loaded"] += 1
        assert path.name in listed
    for tape in (home / "cassettes").glob("*.jsonl"):
        assert (await Agent(replay(tape, pace=0)).run(PROMPT)).reason == "end_turn"
    for page in (home / "site").glob("*.html"):
        assert page.read_text(encoding="utf-8").endswith("</html>\n")
