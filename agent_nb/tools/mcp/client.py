"""`mcp_server`: the tools of an MCP server for an `Agent`, for as long as a block lasts."""

import contextlib
from collections.abc import AsyncIterator, Collection, Mapping
from pathlib import Path

from agent_nb.tools.mcp.config import server_config
from agent_nb.tools.mcp.server import Server
from agent_nb.tools.toolbox import Toolbox


class ServerTools(Toolbox):
    """The tools of one server. Each run offers those that the server lists when the run begins."""

    def __init__(self, server: Server) -> None:
        super().__init__(server.tools)
        self.server = server

    def offered(self, available: Collection[str]) -> Toolbox:
        now = Toolbox(self.server.tools)
        self._tools, self._validators = now._tools, now._validators
        return now

    @property
    def notes(self) -> list[str]:
        """What was changed so that models can call the tools, and which of them are not offered."""
        return self.server.notes

    def accept(self) -> None:
        """Offers tools again whose description or schema the server has changed."""
        self.server.accept()


@contextlib.asynccontextmanager
async def mcp_server(
    *command: str,
    name: str | None = None,
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
) -> AsyncIterator[ServerTools]:
    """Starts an MCP server, or connects to one by its URL, and ends it after the block.

        async with mcp_server("uvx", "mcp-server-fetch") as tools:
            run = await Agent("anthropic:", tools=tools).run("What is new on example.com?")

    The command gets few environment variables and those in `env`; `headers` are for a URL. `${VAR}` is replaced by
    the value of that variable. Every call asks the person first.
    """
    config = server_config(
        command, name=name, env=env, headers=headers, folder=Path(folder) if folder else None
    )
    server = Server(config)
    await server.start()
    try:
        yield ServerTools(server)
    finally:
        await server.stop()
