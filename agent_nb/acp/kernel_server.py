"""Serves our tools to an agent: an MCP server on loopback for one run, with its own token."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Self

from agent_nb._base.mcp import tool_entry, tool_result
from agent_nb._base.mcp_server import Call, McpServer
from agent_nb._base.wire import Json
from agent_nb.acp.mapping import SERVER
from agent_nb.core.messages import ToolResult, ToolSpec


class KernelServer(McpServer):
    """The server; `async with` starts and stops it."""

    def __init__(self, tools: Sequence[ToolSpec], run: Callable[[str, Json], Awaitable[ToolResult]]) -> None:
        super().__init__(SERVER, [tool_entry(tool.name, tool.description, tool.schema) for tool in tools])
        self._run = run
        self.authorization = f"Bearer {self.token}"

    async def call(self, call: Call) -> Json:
        result = await self._run(call.name, call.arguments)
        images = [(image.base64, image.media_type) for image in result.images]
        return tool_result(result.text, images, ok=result.ok)

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        headers = [{"name": "Authorization", "value": self.authorization}]
        self.offer = {"type": "http", "name": SERVER, "url": self.url, "headers": headers}
        """Its entry in `mcpServers`."""
        return self
