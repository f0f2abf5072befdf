"""The server of a notebook that is lent, in a thread of its own: it answers while a cell runs."""

import asyncio
from typing import Any

from agent_nb._base.mcp import tool_entry
from agent_nb._base.mcp_server import Call, McpClient, McpServer
from agent_nb._base.threads import background_loop
from agent_nb._base.wire import Json
from agent_nb.features.lend.bridge import INSTRUCTIONS, NAME
from agent_nb.features.lend.desk import Desk
from agent_nb.plugins import Host

WAIT = 1.0
"""Seconds after which a client is told what its call waits for."""


class LentServer(McpServer):
    instructions = INSTRUCTIONS
    most_clients = 8

    def __init__(self, desk: Desk, host: Host) -> None:
        super().__init__(
            NAME, [tool_entry(tool.name, tool.description, tool.schema) for tool in desk.run.tools]
        )
        self._desk, self._host = desk, host
        self._kernel, self._own = asyncio.get_running_loop(), background_loop("lend")

    async def open(self) -> None:
        await self._on_own_loop(self.__aenter__())

    async def end(self) -> None:
        await self._on_own_loop(self.__aexit__())

    async def _on_own_loop(self, work: Any) -> None:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._own))

    async def call(self, call: Call) -> Json:
        """Run a call on the kernel's loop, which may be busy with a cell."""
        has_begun = False

        def say(text: str) -> None:
            self._own.call_soon_threadsafe(call.progress, text)

        async def work() -> Json:
            nonlocal has_begun
            has_begun = True
            title = f"{call.client.name} {call.client.version}".strip()
            return await self._desk.call(call.client.id, title, call.name, call.arguments, say)

        result = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), self._kernel))
        try:
            while not (await asyncio.wait([result], timeout=WAIT))[0] and not has_begun:
                call.progress(f"the notebook is running cell [{self._host.cell_number}]")
            return await result
        finally:
            result.cancel()

    def left(self, client: McpClient) -> None:
        self._kernel.call_soon_threadsafe(self._desk.leave, client.id)
