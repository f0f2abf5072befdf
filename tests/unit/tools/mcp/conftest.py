"""Servers for the tests: real ones of the `mcp` package, started once, and faulty ones."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_nb._base import program
from agent_nb.core.errors import AgentError, ToolError
from agent_nb.files import Files, Workspace
from agent_nb.tools import Toolbox, ToolContext
from agent_nb.tools.mcp.server import Server, submit
from agent_nb.tools.mcp.server_config import ServerConfig, server_config
from tests.support import ROOT

SERVERS = ROOT / "tests/support/mcp_servers"
PATIENCE = 60


def faulty(fault: str, *more: Path, timeout: float = 20.0, start_timeout: float = 20.0) -> Server:
    command = (sys.executable, "-S", str(SERVERS / "bad.py"), fault, *map(str, more))
    return Server(ServerConfig(name="bad", command=command, timeout=timeout, start_timeout=start_timeout))


async def call(server: Server, name: str = "work", progress: Any = lambda line: None, **args: Any) -> Any:
    """The output of a call, or its error."""
    box = Toolbox(server.tools)
    tool = next(tool for tool in box if tool.origin == f"mcp:{server.name}/{name}")
    try:
        return await box.run(tool, args, ToolContext(files=Workspace(Files()), progress=progress))
    except ToolError as error:
        return error


@pytest.fixture(scope="package")
def stdio_server() -> Iterator[Server]:
    server = Server(server_config((sys.executable, str(SERVERS / "good.py")), name="good"))
    submit(server.start()).result(PATIENCE)
    yield server
    submit(server.stop()).result(PATIENCE)


@pytest.fixture(scope="package")
def http_server() -> Iterator[Server]:
    command = [sys.executable, str(SERVERS / "good.py"), "http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as started:
        assert started.stdout
        server = Server(server_config((started.stdout.readline().strip(),), name="web"))
        submit(_reached(server)).result(PATIENCE)
        yield server
        submit(server.stop()).result(PATIENCE)
        started.kill()


async def _reached(server: Server) -> None:
    """Its port is printed before it listens."""
    for _ in range(200):
        try:
            await server.start()
        except AgentError:
            await asyncio.sleep(0.05)
        else:
            return
    await server.start()


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that do not end by themselves are ended soon."""
    monkeypatch.setattr(program, "GRACE", 0.1)


async def until(condition: Callable[[], object]) -> None:
    """Waits until a server's message has arrived."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - it arrives on another thread
            await asyncio.sleep(0.01)


@pytest.fixture
def alive() -> Callable[[], set[int]]:
    """The processes of servers that this test has started and that have not ended."""
    before = set(program._running)
    return lambda: set(program._running) - before
