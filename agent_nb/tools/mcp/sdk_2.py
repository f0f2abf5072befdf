"""The client of `mcp` 2, as `connection.py` uses it; `sdk_1.py` offers the same functions."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2 as httpx
import mcp
import mcp_types
from mcp import MCPError
from mcp.client.session import MessageHandlerFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from mcp_types.methods import validate_server_result
from pydantic import TypeAdapter

from agent_nb._base.constants import VERSION
from agent_nb._base.wire import Json
from agent_nb.core.errors import AgentError

__all__ = [
    "LOGGERS",
    "Client",
    "MCPError",
    "check_tool",
    "connected",
    "httpx",
    "parsed",
    "streamable_http_client",
]
LOGGERS = ("client", httpx.__name__, "mcp.client.streamable_http", "mcp.shared.jsonrpc_dispatcher")
"""Loggers that write URLs, which may contain a token."""
_ANSWER = TypeAdapter[mcp_types.CallToolResult | mcp_types.InputRequiredResult](
    mcp_types.CallToolResult | mcp_types.InputRequiredResult
)


class Client:
    def __init__(self, client: mcp.Client) -> None:
        self._client = client
        self.version = client.protocol_version
        """The version of the protocol."""
        self.has_tools = client.server_capabilities.tools is not None

    async def list_tools(self, cursor: str | None) -> tuple[list[mcp_types.Tool], str | None]:
        """One page of the server's tools, and the cursor of the next."""
        page = await self._client.list_tools(cursor=cursor)
        return page.tools, page.next_cursor

    async def call(self, name: str, args: Json, progress: ProgressFnT) -> mcp_types.CallToolResult:
        # Not `call_tool`, which imports `jsonschema` to validate the answer; that can take seconds.
        params = mcp_types.CallToolRequestParams(name=name, arguments=args)
        result = await self._client.session.send_request(
            mcp_types.CallToolRequest(params=params), _ANSWER, progress_callback=progress
        )
        if isinstance(result, mcp_types.InputRequiredResult):
            raise AgentError("It asks the user for input, which is not supported.")
        return result


@contextlib.asynccontextmanager
async def connected(transport: Any, on_message: MessageHandlerFnT) -> AsyncIterator[Client]:
    info = mcp_types.Implementation(name="agent_nb", version=VERSION)
    async with mcp.Client(transport, message_handler=on_message, client_info=info, cache=None) as client:
        yield Client(client)


def parsed(line: bytes) -> SessionMessage:
    """Raises `ValueError` if the line is not a message."""
    return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))


def check_tool(entry: Json, result: Json, version: str) -> None:
    """Raises `ValueError` if a tool list with this entry would be rejected."""
    validate_server_result("tools/list", version, {**result, "tools": [entry]})
    mcp_types.Tool.model_validate(entry, by_name=False)
