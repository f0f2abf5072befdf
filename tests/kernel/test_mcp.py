"""MCP servers in a real kernel: the question before a project's server, calls, Stop, and the kernel's end."""

import json
import os
import shlex
import sys
from pathlib import Path

from tests.kernel.test_docs import _AT_ONCE, blocks
from tests.support import ROOT
from tests.support.kernels import PATIENCE, Kernel, start_kernel
from tests.support.processes import ended
from tests.support.waiting import wait_for

BAD = str(ROOT / "tests/support/mcp_servers/bad.py")
LINE = "%%agent hero -m demo: --pace 0 --approve auto -t mcp:"
IN_PYTHON = f"""
import sys
from agent_nb import Agent, mcp_server, model
async with mcp_server(sys.executable, "-S", {BAD!r}, "none", name="block") as tools:
    agent = Agent(model("demo:", pace=0), tools=tools, approve="auto")
    both = [await agent.run("Work"), agent.run_sync("Work")]
print([event.summary for run in both for event in run.events if event.type == "tool_finished"])
"""


def allowed(kernel: Kernel, code: str) -> tuple[str, object]:
    """Runs a cell that asks once, and says yes; returns the question and the cell."""
    started = kernel.start(code, stdin=True)
    question = kernel.client.get_stdin_msg(timeout=PATIENCE)["content"]["prompt"]
    kernel.client.input("y")
    return question, kernel.finish(started)


def test_servers_in_a_kernel(tmp_path):
    entry = {"command": sys.executable, "args": ["-S", BAD, "none"]}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": entry}}))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with start_kernel(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "config"), PATH=path) as kernel:
        unattended = kernel.run(f"{LINE}theirs\nWork")
        assert "unattended notebooks cannot start it" in unattended.errors
        question, cell = allowed(kernel, f"{LINE}theirs\nWork")
        assert "asks to start the MCP server `theirs`" in question
        assert cell.status == "ok", cell.errors
        assert "'worked'" in kernel.value("[getattr(event, 'summary', '') for event in hero.events]")
        assert kernel.run(f"{LINE}theirs\nWork", stdin=True).status == "ok"
        cell = kernel.run(IN_PYTHON)
        assert cell.status == "ok", cell.errors
        assert cell.stdout == "['worked', 'worked']\n"
        assert not cell.stderr
        kernel.run(_AT_ONCE)
        for block in blocks(ROOT / "docs/how-to/mcp.md"):
            cell = kernel.run(block)
            assert cell.status == "ok", (block, cell.errors)
        assert "in UTC" in cell.result["text/plain"]
        added = kernel.run(f"%agent mcp add hung {shlex.join([sys.executable, '-S', str(BAD), 'stays'])}")
        assert added.status == "ok", added.errors
        pids = json.loads(kernel.value("[*__import__('agent_nb._base.program')._base.program._running]"))
        assert len(pids) == 3
        kernel.client.shutdown()
        wait_for(lambda: all(map(ended, pids)))
