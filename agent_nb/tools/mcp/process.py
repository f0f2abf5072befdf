"""Starts the command of a server and carries its messages: JSON lines on stdin and stdout.

Not the transport of the `mcp` package: that one reads lines of any length into memory, logs each one that is not JSON,
and does not say which process to end when this one exits.
"""

import asyncio
import atexit
import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from agent_nb._base.text import printable_line
from agent_nb.errors import ConfigError
from agent_nb.tools.mcp.server_config import ServerConfig

MAX_LINE = 32_000_000
"""Bytes of one message, such as a result with images."""
GRACE = 1.0
"""Seconds that a server has to end by itself when its stdin closes, and again after SIGTERM."""
_TAIL = 2_000

_running: dict[int, asyncio.subprocess.Process] = {}


class ServerProcess:
    """The process of a server, and what it leaves to say when it has ended."""

    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self._stderr = b""
        self.problem = ""
        self.exit_code: int | None = None
        self.ended: asyncio.Task[None] | None = None
        """Done when the server can send nothing more."""

    @property
    def last_line(self) -> str:
        lines = self._stderr.decode(errors="replace").strip().splitlines()
        return printable_line(lines[-1])[:300] if lines else ""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Any]:
        """A transport of the `mcp` package: starts the process, and ends it."""
        process = await self._start()
        _running[process.pid] = process
        to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        tasks = [
            asyncio.create_task(self._read(process, to_session)),
            asyncio.create_task(self._write(process, from_session, to_session)),
            asyncio.create_task(self._listen(process)),
        ]
        self.ended = tasks[0]
        try:
            yield from_server, to_server
        finally:
            for stream in (from_server, to_server):
                stream.close()
            await _end(process)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=GRACE)
            self.exit_code = process.returncode

    async def _start(self) -> asyncio.subprocess.Process:
        program, *arguments = self._config.command
        env = get_default_environment() | dict(self._config.env)
        is_path = Path(program).name != program
        found = shutil.which(
            str((self._config.folder or Path()) / program) if is_path else program, path=env.get("PATH")
        )
        if found is None:
            raise ConfigError(f"There is no program {program!r} to start it with.")
        try:
            return await asyncio.create_subprocess_exec(
                found,
                *arguments,
                env=env,
                cwd=self._config.folder,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=MAX_LINE,
                start_new_session=True,  # the interrupt of a terminal does not reach it
            )
        except (OSError, ValueError) as error:
            raise ConfigError(f"{program!r} cannot be started: {error}.") from None

    async def _read(self, process: asyncio.subprocess.Process, to_session: Any) -> None:
        """Passes messages on until the server ends. A line that is not a message is passed on as an exception."""
        assert process.stdout
        async with to_session:
            while True:
                try:
                    line = await process.stdout.readline()
                except ValueError:
                    self.problem = f"It sent a message of more than {MAX_LINE // 1_000_000} MB."
                    return
                if not line:
                    return
                try:
                    await to_session.send(_parsed(line))
                except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                    return

    async def _write(self, process: asyncio.subprocess.Process, messages: Any, to_session: Any) -> None:
        assert process.stdin
        try:
            async with messages:
                async for each in messages:
                    process.stdin.write(
                        each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                    )
                    await process.stdin.drain()
        except OSError:  # it has ended, or no longer reads
            await to_session.aclose()

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr
        while chunk := await process.stderr.read(4096):
            self._stderr = (self._stderr + chunk)[-_TAIL:]


def _parsed(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _end(process: asyncio.subprocess.Process) -> None:
    """Closes stdin, which asks a server to end; then ends it and what it started."""
    assert process.stdin
    process.stdin.close()
    try:
        for send in (None, signal.SIGTERM, _KILL):
            if send is not None:
                _signal(process.pid, send)
            if await _has_ended(process, GRACE):
                break
    finally:
        _signal(process.pid, _KILL)  # what the server has started may have outlived it
        _running.pop(process.pid, None)
        transport = getattr(process, "_transport", None)
        if transport is not None:
            transport.close()  # also if a child of the server holds the pipes open


async def _has_ended(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Not `process.wait()`, which also waits for the pipes, and a child of the server may hold those open."""
    end = time.monotonic() + seconds
    while process.returncode is None:
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.01)
    return True


_PID = os.getpid()
_KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            os.kill(pid, number)
        else:
            os.killpg(pid, number)


@atexit.register
def _end_all() -> None:
    """Ends the servers when this process exits; they have a moment to do so by themselves."""
    if os.getpid() != _PID:  # a fork, which shares the servers with its parent
        return
    for pid in _running:
        _signal(pid, signal.SIGTERM)
    end = time.monotonic() + GRACE / 2
    while time.monotonic() < end and any(process.returncode is None for process in list(_running.values())):
        time.sleep(0.01)
    for pid in list(_running):
        _signal(pid, _KILL)
