"""Outside agents in a kernel: they are listed, and no process of one outlives its kernel."""

import json
import os
import signal
import sys

import pytest

from tests.support.agents import FAKE
from tests.support.kernels import start_kernel
from tests.support.processes import ended
from tests.support.waiting import wait_for

RUN = """
from agent_nb import Agent
from agent_nb.acp import known
known.set_own({{"mine": {command!r}}})
handle = Agent("acp:mine").start("Go.")
import asyncio
while not any(event.type == "text_delta" for event in handle.events):
    await asyncio.sleep(0.05)
"""


@pytest.mark.parametrize("end", ["shutdown", "killed"])
def test_an_agent_is_listed_and_ends_with_the_kernel_with_its_commands(tmp_path, end):
    log, script = tmp_path / "log.jsonl", tmp_path / "script.json"
    steps = [{"child": True}, {"environment": []}, {"say": "I work."}, {"hold": True}]
    script.write_text(json.dumps({"prompts": [steps], "log": str(log), "ignores_end": True}))
    command = [sys.executable, "-S", FAKE, str(script)]
    with start_kernel(tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache")) as kernel:
        assert "acp:claude" in kernel.run("%agent models").displays[0]["text/plain"]
        cell = kernel.run(RUN.format(command=command))
        assert cell.status == "ok", cell.errors
        pids = json.loads(kernel.value("[*__import__('agent_nb._base.program')._base.program._running]"))
        pids += [
            entry["child"] for entry in map(json.loads, log.read_text().splitlines()) if "child" in entry
        ]
        assert len(pids) == 2
        if end == "killed":
            os.kill(json.loads(kernel.value("__import__('os').getpid()")), signal.SIGKILL)
        else:
            kernel.client.shutdown()
        wait_for(lambda: all(map(ended, pids)))
