"""A kernel that ends in the middle of a run ends quietly."""

import subprocess
import sys

import pytest

from tests.support.kernels import Kernel, KernelManager, quiet_environment
from tests.support.waiting import PATIENCE

UNFINISHED = "%%agent {} -m demo: --background --pace 1\nA form"


@pytest.mark.wide
def test_a_kernel_with_unfinished_runs_restarts_and_ends_quietly(tmp_path):
    log = tmp_path / "kernel.log"
    manager = KernelManager(kernel_name="python3")
    with log.open("wb") as sink:
        manager.start_kernel(cwd=str(tmp_path), env=quiet_environment(tmp_path), stdout=sink, stderr=sink)
        client = manager.client()
        client.start_channels()
        kernel = Kernel(manager, client)
        for again in (False, True):
            if again:
                manager.restart_kernel()
            client.wait_for_ready(timeout=PATIENCE)
            for cell in ("%load_ext agent_nb", *map(UNFINISHED.format, ("one", "two"))):
                assert kernel.run(cell, stdin=True).status == "ok"
        client.stop_channels()
        manager.shutdown_kernel()
    text = log.read_text(errors="replace")
    assert "Task was destroyed" not in text
    assert "never awaited" not in text
    assert "Traceback" not in text


def test_a_script_with_an_unfinished_run_ends_quietly(tmp_path):
    script = (
        "import asyncio\nfrom agent_nb import Agent\n"
        "async def main():\n    asyncio.get_running_loop().slow_callback_duration = 60\n"
        "    Agent('demo:').start('A form')\n    await asyncio.sleep(0.1)\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-X", "dev", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, timeout=PATIENCE)
    assert "agent_nb" not in done.stderr
    assert "destroyed" not in done.stderr
