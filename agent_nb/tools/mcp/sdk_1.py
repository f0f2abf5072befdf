"""The client of `mcp` 1.24 and later, with the functions of `sdk_2.py`."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx
import mcp.shared.session
from mcp import ClientSession, types
from mcp import McpError as MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from agent_nb._base.constants import VERSION
from agent_nb._base.wire import Json

__all__ = ["MCPError", "streamable_http_client"]
LOGGERS = ("client", httpx.__name__, "mcp.client.streamable_http", "mcp.shared.session")
# It uses the root logger, whose functions set up logging for the whole kernel.
mcp.shared.session.logging = logging.getLogger("mcp.shared.session")


class OlderClient:
    def __init__(self, session: ClientSession, answer: types.InitializeResult) -> None:
        self._session = session
        self.version = str(answer.protocolVersion)
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.has_tools = answer.capabilities.tools is not None

    async def list_tools(self, cursor: str | None) -> tuple[list[types.Tool], str | None]:
        page = await self._session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        return page.tools, page.nextCursor

    async def call(self, name: str, args: Json, progress: Any) -> types.CallToolResult:
        work = asyncio.ensure_future(self._send(name, args, progress))
        try:  # the package does not end calls with the connection
            await asyncio.wait({work, self.closed}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            raise MCPError(types.ErrorData(code=types.CONNECTION_CLOSED, message="Connection closed"))
        finally:
            work.cancel()

    async def _send(self, name: str, args: Json, progress: Any) -> types.CallToolResult:
        params = types.CallToolRequestParams(name=name, arguments=args)
        request = types.ClientRequest(types.CallToolRequest(params=params))
        request_id = self._session._request_id
        try:
            return await self._session.send_request(request, types.CallToolResult, progress_callback=progress)
        except asyncio.CancelledError:  # the package does not tell the server
            await self._cancel(request_id)
            raise

    async def _cancel(self, request_id: int) -> None:
        params = types.CancelledNotificationParams(requestId=request_id)
        notification = types.ClientNotification(types.CancelledNotification(params=params))
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self._session.send_notification(notification)


@contextlib.asynccontextmanager
async def connected(transport: Any, on_message: Any) -> AsyncIterator[OlderClient]:
    info = types.Implementation(name="agent_nb", version=VERSION)
    async with (
        transport as (receive, send, *_),
        ClientSession(receive, send, message_handler=on_message, client_info=info) as session,
    ):
        client = OlderClient(session, await session.initialize())
        try:
            yield client
        finally:
            client.closed.set_result(None)


def parsed(line: bytes) -> SessionMessage:
    return SessionMessage(types.JSONRPCMessage.model_validate_json(line))


def check_tool(entry: Json, result: Json, version: str) -> None:
    if (entry.get("outputSchema") or {"type": "object"}).get("type") != "object":
        raise ValueError("not the schema of an object")
    types.ListToolsResult.model_validate({**result, "tools": [entry]})
