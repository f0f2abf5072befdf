"""Claude Code and Codex as they are work in a notebook that is lent, against the server of the tests."""

import json
import os
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.agents.real import CACHE, environment
from tests.support.kernels import start_kernel
from tests.support.wire import Call, Event, Say, WireServer, reply

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(not (CACHE / "installed.json").exists(), reason="`make test-agents` installs them"),
]
PROMPT = "Append to rows in the notebook."
COMMANDS = {
    "claude": ["claude", "-p", PROMPT, "--allowedTools", "mcp__notebook"],
    "codex": [
        *("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT)
    ],
}
WAITS = {"claude": Call("WaitForMcpServers", {}), "codex": Call("exec_command", {"cmd": "sleep 3"})}
"""What the model of each calls while the bridge is not there yet."""


class Models:
    """Their model: it waits for our tools, calls `run_python` twice, and reports."""

    def __init__(self):
        self.turns = {"claude": 0, "codex": 0}

    def answer(self, request):
        agent = "claude" if "messages" in request.path else "codex"
        text = json.dumps(request.body)
        if "mcp__notebook" not in json.dumps(request.body.get("tools", [])):
            return reply(WAITS[agent] if WAITS[agent].name in text else Say("A title."))
        self.turns[agent] += 1
        if self.turns[agent] > 2:
            return reply(Say("Done."))
        code = f"rows.append({agent!r}); mine = {agent!r}" if self.turns[agent] == 1 else "print(mine, rows)"
        return reply(self._call(agent, code))

    def _call(self, agent, code):
        if agent == "claude":
            return Call("mcp__notebook__run_python", {"code": code})
        call = {"type": "function_call", "id": f"f{self.turns[agent]}", "call_id": f"c{self.turns[agent]}"}
        name = {"namespace": "mcp__notebook", "name": "run_python", "arguments": json.dumps({"code": code})}
        return Event({"type": "response.output_item.done", "item": {**call, **name}})


def test_both_add_the_printed_line_and_work_at_once_in_their_branches(tmp_path):
    home, models = tmp_path / "user", Models()
    home.mkdir()
    with WireServer.in_thread() as server:
        server.strict, server.otherwise = False, models.answer
        variables = environment(server, home)
        with start_kernel(tmp_path, PATH=variables["PATH"]) as kernel:
            kernel.run("rows = [1]")
            printed = kernel.run("%agent lend --approve run_python=auto").stdout
            lines = [line.partition(": ")[2] for line in printed.splitlines() if " mcp add " in line]
            assert [line.split()[0] for line in lines] == ["claude", "codex"]

            def run(command):
                done = subprocess.run(
                    command,
                    env={**os.environ, **variables},
                    cwd=home,
                    capture_output=True,
                    text=True,
                    stdin=subprocess.DEVNULL,
                    timeout=300,
                    check=False,
                )
                assert done.returncode == 0, done.stdout + done.stderr
                return done.stdout

            for line in lines:
                run(shlex.split(line))
            with ThreadPoolExecutor() as pool:
                said = [*pool.map(run, COMMANDS.values())]
            assert all("Done." in text for text in said)
            assert kernel.value("rows, 'mine' in globals()") == "([1], False)"
            kernel.run("%agent lend --off")
            models_of_run = kernel.value("sorted(each.model for each in lent.variants)")
            results = kernel.value("[use.result.text for each in lent.variants for use in each.tool_uses]")
    assert models_of_run == "['client:claude-code 2.1.197', 'client:codex-mcp-client 0.169.0']"
    assert "claude [1, 'claude']" in results
    assert "codex [1, 'codex']" in results
