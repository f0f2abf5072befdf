"""Starts the command of a server and carries its messages: JSON lines on stdin and stdout.

Not the transport of the `mcp` package: that one reads lines of any length into memory, logs each one that is not JSON,
and does not say which process to end when this one exits.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from agent_nb._base import program
from agent_nb._base.program import Program, ProgramError
from agent_nb.errors import ConfigError
from agent_nb.tools.mcp.server_config import ServerConfig


class ServerProcess:
    """The process of a server, and what it leaves to say when it has ended."""

    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self._program: Program | None = None
        self.exit_code: int | None = None
        self.ended: asyncio.Task[None] | None = None
        """Done when the server can send nothing more."""

    @property
    def problem(self) -> str:
        """Why the connection was ended from this side."""
        return self._program.problem if self._program else ""

    @property
    def last_line(self) -> str:
        """The last line that the server wrote to stderr."""
        return self._program.last_line if self._program else ""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Any]:
        """A transport of the `mcp` package: starts the process, and ends it."""
        env = get_default_environment() | dict(self._config.env)
        try:
            server = await Program.start(self._config.command, env=env, folder=self._config.folder)
        except ProgramError as error:
            raise ConfigError(str(error)) from None
        self._program = server
        to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        tasks = [
            asyncio.create_task(_read(server, to_session)),
            asyncio.create_task(_write(server, from_session, to_session)),
        ]
        self.ended = tasks[0]
        try:
            yield from_server, to_server
        finally:
            for stream in (from_server, to_server):
                stream.close()
            await server.end()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=program.GRACE)
            self.exit_code = server.exit_code


async def _read(server: Program, to_session: Any) -> None:
    """Passes messages on until the server ends. A line that is not a message is passed on as an exception."""
    async with to_session:
        async for line in server.lines():
            try:
                await to_session.send(_parsed(line))
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                return


async def _write(server: Program, messages: Any, to_session: Any) -> None:
    try:
        async with messages:
            async for each in messages:
                sent = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                await server.write(sent.encode() + b"\n")
    except OSError:  # it has ended, or no longer reads
        await to_session.aclose()


def _parsed(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error
