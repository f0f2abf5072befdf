"""The tools of a server in runs: `mcp_server` and `Agent`, cassettes without the server."""

import importlib.util
import sys

import pytest

from agent_nb import Agent, ConfigError, mcp_server, replay
from agent_nb.core.errors import AgentError, CassetteError, InstallError
from agent_nb.core.events import ApprovalRequested, ToolFinished, ToolProgress, ToolReady
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.tools import Tool
from agent_nb.tools.mcp.server import ServerTools
from tests.support.scripts import of
from tests.unit.tools.mcp.conftest import SERVERS

PROMPT = "Count to two"


def script() -> list[list[object]]:
    return [[call("good__count", {"to": 2})], [text("Two.")]]


def shown(run):
    return [
        (type(event).__name__, getattr(event, "title", None), getattr(event, "text", None))
        for event in of(run, ToolReady, ApprovalRequested, ToolProgress, ToolFinished)
    ]


async def test_a_run_calls_the_server_and_replays_without_it(stdio_server, tmp_path):
    tape = tmp_path / "count.jsonl"
    tools = ServerTools(stdio_server)
    with ScriptedProvider(script()) as provider:
        agent = Agent(provider, tools=tools, approve=lambda call, args: True)
        run = await agent.recording(tape).run(PROMPT)
    (finished,) = of(run, ToolFinished)
    assert (finished.ok, finished.summary) == (True, "counted to 2")
    absent = Tool(spec=next(iter(tools)).spec, run=None, title=lambda args: "", origin="mcp:good")
    again = await Agent(replay(tape), tools=[absent]).run(PROMPT)
    assert shown(again) == shown(run)
    assert ("ToolProgress", None, "counting (2 of 2)") in shown(again)
    with pytest.raises(CassetteError, match="another tool"):
        await Agent(replay(tape), tools=[]).run(PROMPT)


def test_runs_in_several_loops_use_one_server(stdio_server):
    for _ in range(2):
        with ScriptedProvider(script()) as provider:
            run = Agent(provider, tools=ServerTools(stdio_server), approve="auto").run_sync(PROMPT)
        assert of(run, ToolFinished)[0].ok


async def test_the_block_starts_and_ends_the_server(alive):
    command = (sys.executable, "-S", str(SERVERS / "bad.py"), "none")
    with ScriptedProvider([[call("bad__work", {})], [text("Done.")]]) as provider:
        async with mcp_server(*command, name="bad") as tools:
            run = await Agent(provider, tools=tools, approve="auto").run("Work")
            assert alive()
    with ScriptedProvider([[call("bad__work", {})], [text("Done.")]]) as provider:
        late = await Agent(provider, tools=tools, approve="auto").run("Work")
    assert of(late, ToolFinished)[0].summary == "The MCP server `bad` has been ended."
    assert of(run, ToolFinished)[0].summary == "worked"
    assert not alive()


async def test_what_is_wrong_is_said_in_a_sentence():
    for command, settings, sentence in (
        ((), {}, "Name the command"),
        (("https://127.0.0.1:9/mcp", "more"), {}, "takes no arguments"),
        (("https://127.0.0.1:9/mcp",), {"env": {"A": "b"}}, "use `headers`"),
        (("no-such-program",), {}, "The program 'no-such-program' was not found"),
        (("http://127.0.0.1:9/mcp",), {}, "`127_0_0_1` could not be started. It cannot be reached"),
        (("x", "${NO_SUCH_VARIABLE}"), {}, "The variable NO_SUCH_VARIABLE is not set"),
    ):
        with pytest.raises(AgentError) as caught:
            async with mcp_server(*command, **settings):
                pass
        assert sentence in str(caught.value)
        assert "\n" not in str(caught.value)


async def test_without_the_package_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InstallError, match=r'pip install "agent-nb\[mcp\]"'):
        async with mcp_server("uvx", "mcp-server-fetch"):
            pass
    assert issubclass(InstallError, ConfigError)
