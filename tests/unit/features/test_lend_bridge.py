"""`agent-nb mcp` and the file by which it finds a notebook: with the official client, and a server of ours."""

import asyncio
import json
import os
import socket
import stat
import sys
import threading
from contextlib import asynccontextmanager

import pytest
from mcp import Client, Implementation, StdioServerParameters

from agent_nb._base import mcp
from agent_nb._base.mcp_server import McpServer
from agent_nb._base.threads import off_loop
from agent_nb.features.lend import bridge
from agent_nb.features.lend import lease as lease_file
from agent_nb.features.lend.lease import PREFIX, Lease, leases, machine, store
from tests.support.waiting import wait_for


class Notebook(McpServer):
    most_clients = 8
    answers = "a.ipynb"

    def __init__(self):
        super().__init__("notebook", [mcp.tool_entry("run_python", "Runs.", {"type": "object"})])
        self.begun, self.cancelled, self.gone = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def call(self, call):
        call.progress("it begins")
        self.begun.set()
        if call.arguments:
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()
        return mcp.tool_result(f"{self.answers} for {call.client.name}")

    def left(self, client):
        self.gone.set()


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    return tmp_path / "runtime"


def lease_of(server, notebook="/notes/a.ipynb", **fields):
    about = {
        "name": "lent",
        "notebook": notebook,
        "url": server.url,
        "token": server.token,
        "machine": machine(),
    }
    return Lease(**about | fields)


@asynccontextmanager
async def lent(notebook="/notes/a.ipynb"):
    async with Notebook() as server:
        server.answers = os.path.basename(notebook)
        path = store(lease_of(server, notebook))
        try:
            yield server
        finally:
            path.unlink(missing_ok=True)


@asynccontextmanager
async def client(runtime, *words, name="Ann", **options):
    """The official client, with the bridge as its child."""
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(runtime)}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "agent_nb", "mcp", *words], env=environment
    )
    async with Client(command, client_info=Implementation(name=name, version="1"), **options) as connected:
        yield connected


async def names(connected):
    return [tool.name for tool in (await connected.list_tools()).tools]


async def said(connected, tool="run_python", args=None, **options):
    return (await connected.call_tool(tool, args or {}, **options)).content[0].text


async def test_the_tools_of_a_notebook_with_progress_and_cancellation(runtime):
    told = []

    async def on_progress(step, total, message):
        told.append(message)

    async with lent() as server:
        async with client(runtime) as ann:
            assert ann.server_info.name == "notebook"
            assert "never edit its .ipynb" in ann.instructions
            assert await names(ann) == ["run_python"]
            assert await said(ann, progress_callback=on_progress) == "a.ipynb for Ann"
            assert told == ["it begins"]
            server.begun.clear()
            waiting = asyncio.ensure_future(ann.call_tool("run_python", {"long": True}))
            await asyncio.wait_for(server.begun.wait(), 60)
            waiting.cancel()
            await asyncio.wait_for(server.cancelled.wait(), 60)
            assert await said(ann) == "a.ipynb for Ann"
        await asyncio.wait_for(server.gone.wait(), 60)


async def test_it_answers_while_nothing_is_lent_and_says_when_that_changes(runtime):
    changes = asyncio.Queue()

    async def on_message(message):
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            changes.put_nowait(message)

    async with client(runtime, message_handler=on_message) as ann:
        assert await names(ann) == ["lent_notebooks"]
        assert "`%agent lend`" in await said(ann, "lent_notebooks")
        refused = await ann.call_tool("run_python", {})
        assert refused.is_error
        assert "No notebook is lent" in refused.content[0].text
        async with lent():
            await asyncio.wait_for(changes.get(), 60)
            assert await names(ann) == ["run_python"]
            assert await said(ann) == "a.ipynb for Ann"
        await asyncio.wait_for(changes.get(), 60)
        assert await names(ann) == ["lent_notebooks"]
        async with lent("/notes/again.ipynb"):  # as by a kernel that has restarted
            await asyncio.wait_for(changes.get(), 60)
            assert await said(ann) == "again.ipynb for Ann"


async def test_of_several_notebooks_the_user_names_one(runtime, tmp_path):
    paths = [str(tmp_path / name) for name in ("a.ipynb", "b.ipynb")]
    async with lent(paths[0]), lent(paths[1]):
        async with client(runtime) as ann:
            assert await names(ann) == ["lent_notebooks"]
            text = await said(ann, "lent_notebooks")
            assert all(path in text for path in paths)
            assert "agent-nb mcp NOTEBOOK" in text
        for word in (paths[1], "b.ipynb", "b"):
            async with client(runtime, word) as bob:
                assert await said(bob) == "b.ipynb for Ann"
        async with client(runtime, "c.ipynb") as carl:
            assert "c.ipynb is not lent. Lent are: a.ipynb and b.ipynb." in await said(carl, "lent_notebooks")


async def test_a_session_that_has_ended_is_opened_again(runtime):
    async with lent() as server, client(runtime) as ann:
        assert await said(ann) == "a.ipynb for Ann"
        for each in [*server.clients.values()]:
            server.leave(each)
        assert await said(ann) == "a.ipynb for Ann"


def test_the_file_is_the_users_alone_and_goes_with_its_server(runtime, monkeypatch):
    monkeypatch.setattr(lease_file, "_PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        lease = Lease(name="lent", notebook="/a.ipynb", url=url, token="t" * 43, machine=machine())
        path = store(lease)
        if os.name == "posix":
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert leases() == [lease]
        assert not lease.is_genuine()  # it listens, and does not know the token
    assert leases() == []
    assert not path.exists()


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
async def test_a_file_that_others_can_write_leads_nowhere(runtime):
    async with lent() as server:
        [path] = runtime.iterdir()
        for mode in (0o602, 0o640, 0o604):
            path.chmod(mode)
            assert await off_loop(leases) == []
        path.chmod(0o600)
        assert await off_loop(leases) == [lease_of(server)]
        path.rename(runtime / "elsewhere")
        path.symlink_to(runtime / "elsewhere")
        assert await off_loop(leases) == []


async def test_files_that_are_damaged_or_of_other_machines_are_left_alone(runtime):
    async with lent() as server:
        good = json.loads(next(runtime.iterdir()).read_text())
        damaged = [
            "",
            "[]",
            "{" * 100_000,
            json.dumps({**good, "token": 7}),
            json.dumps({**good, "url": "http://evil.example/mcp"}),
            json.dumps({**good, "url": "http://127.0.0.1:99999/mcp"}),
            json.dumps({**good, "machine": "another"}),
        ]
        for number, content in enumerate(damaged):
            path = runtime / f"{PREFIX}{number}.json"
            path.touch(mode=0o600)
            path.write_text(content)
        (runtime / f"{PREFIX}folder.json").mkdir()
        assert await off_loop(leases) == [lease_of(server)]
        assert len([*runtime.iterdir()]) == len(damaged) + 2


async def test_another_program_at_the_port_of_a_kernel_that_was_killed_gets_no_token(runtime):
    received = []

    async def answer(reader, writer):
        received.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n" + b"0" * 64)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as other:
        url = f"http://127.0.0.1:{other.sockets[0].getsockname()[1]}/mcp"
        store(Lease(name="lent", notebook="", url=url, token="secret-of-the-lease", machine=machine()))
        async with client(runtime) as ann:
            refused = await ann.call_tool("run_python", {})
            assert refused.is_error
            assert "no longer lent" in refused.content[0].text
    assert received
    assert not any(b"secret-of-the-lease" in request or b"POST" in request for request in received)


def test_lines_that_are_no_messages_are_refused_and_others_answered(runtime, monkeypatch):
    monkeypatch.setattr(bridge, "MAX_LINE", 1_000)
    ours, theirs = socket.socketpair()
    with (
        ours,
        theirs,
        ours.makefile("rwb") as pipe,
        theirs.makefile("rb") as source,
        theirs.makefile("wb") as out,
    ):
        running = threading.Thread(target=bridge.Bridge("", source, out).run)
        running.start()
        pipe.write(b"{\n" + b"[1]\n" + b"x" * 5_000 + b"\n" + b'{"id":1}\n')
        pipe.write(b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
        pipe.flush()
        answers = [json.loads(pipe.readline()) for _ in range(3)]
        while answers[-1].get("id") != 2:
            assert answers[-1]["error"]["code"] == mcp.PARSE_ERROR
            answers.append(json.loads(pipe.readline()))
        ours.shutdown(socket.SHUT_WR)
        running.join(60)
        assert not running.is_alive()


def test_the_names_of_notebooks_are_short_lines(runtime):
    about = {"name": "lent", "url": "http://127.0.0.1:1/mcp", "token": "t", "machine": "m"}
    title = Lease(notebook="/a\n\x1b[31m" + "b" * 500, **about).title
    assert title.isprintable()
    assert len(title) <= 100


def test_a_kernel_that_was_killed_is_noticed(runtime):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    path = lease_file.store(
        Lease(name="lent", notebook="", url=f"http://127.0.0.1:{port}/mcp", token="t", machine=machine())
    )
    wait_for(lambda: leases() == [] and not path.exists())
