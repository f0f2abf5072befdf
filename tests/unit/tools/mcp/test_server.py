"""Servers of the `mcp` package over both transports."""

import asyncio

import pytest

from agent_nb import Agent
from agent_nb.core.errors import InstallError, ToolError
from agent_nb.tools.mcp.server import ServerTools, check_installed
from tests.unit.tools.mcp.conftest import PATIENCE, call, until


@pytest.fixture(params=["stdio_server", "http_server"])
def server(request):
    return request.getfixturevalue(request.param)


async def test_a_call_gives_what_the_server_answers(server):
    assert (await call(server, "add", a=1, b=2)).text == "3"
    image = await call(server, "draw")
    assert image.images[0].media_type == "image/png"
    assert "image/png" in image.outputs[0]
    note = await call(server, "read")
    assert note.text == "[resource note://1]\na note"
    assert note.outputs == ({"text/plain": "note://1\n\na note"},)
    failed = await call(server, "fail")
    assert isinstance(failed, ToolError)
    assert server.state == "running"
    sums = await asyncio.gather(*(call(server, "add", a=number, b=1) for number in range(5)))
    assert [output.text for output in sums] == ["1", "2", "3", "4", "5"]


async def test_progress_is_shown(server):
    lines = []
    assert (await call(server, "count", lines.append, to=2)).text == "counted to 2"
    assert lines == ["counting (1 of 2)", "counting (2 of 2)"]


async def test_cancelling_a_call_tells_the_server_and_keeps_it(server):
    before = server._connection
    work = asyncio.create_task(call(server, "wait"))
    await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):
        while "wait" not in (await call(server, "running")).text:
            pass
        work.cancel()
        await asyncio.wait({work})
        assert work.cancelled()
        while "wait" in (await call(server, "running")).text:
            pass
    assert server._connection is before


async def test_a_changed_list_is_used_by_the_next_run(server):
    agent, learned = Agent("demo:", tools=ServerTools(server)), f"{server.name}__learned"
    assert learned not in [spec.name for spec in agent.prepare("Learn").tools]
    assert (await call(server, "learn")).text == "learned"
    await until(lambda: any(tool.name == "learned" for tool in server.listed))
    assert learned in [spec.name for spec in agent.prepare("Learn").tools]
    assert (await call(server, "learned")).text == "new"


async def test_tools_ask_and_show_hints_without_believing_them(stdio_server):
    add = next(tool for tool in stdio_server.tools if tool.name == "good__add")
    assert add.approval == "ask"
    assert add.identical_only
    assert "only reads; nobody has checked that" in add.spec.description
    assert add.title({}) == "good: add"


async def test_a_server_gets_few_variables(stdio_server):
    names = (await call(stdio_server, "environment")).text.split()
    assert "PATH" in names
    assert [name for name in names if name.startswith(("PYTEST", "PYTHONPATH"))] == []


def test_an_older_mcp_is_named(tmp_path, monkeypatch):
    (tmp_path / "mcp-1.9.4.dist-info").mkdir()
    (tmp_path / "mcp-1.9.4.dist-info" / "METADATA").write_text("Name: mcp\nVersion: 1.9.4\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InstallError, match=r"need `mcp` 1\.24 or newer, and 1\.9\.4 is installed"):
        check_installed()
