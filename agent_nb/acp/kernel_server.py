"""Serves our tools to an agent: an MCP server on loopback for one run, with its own token."""

import asyncio
import contextlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Self

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from agent_nb._base.constants import VERSION
from agent_nb._base.secrets import register
from agent_nb._base.wire import Json, parse_json
from agent_nb.acp.mapping import SERVER, as_object, result_text
from agent_nb.core.messages import ToolResult, ToolSpec

MAX_BODY = 10_000_000
_NOT_FOUND = {"code": -32601, "message": "Method not found"}


class KernelServer:
    """The server; `async with` starts and stops it."""

    def __init__(self, tools: Sequence[ToolSpec], call: Callable[[str, Json], Awaitable[ToolResult]]) -> None:
        self._tools, self._call = tools, call
        self.authorization = f"Bearer {secrets.token_urlsafe(32)}"
        register(self.authorization.removeprefix("Bearer "))
        self.open_calls: set[asyncio.Future[Json | None]] = set()
        self.is_closed = False

    async def __aenter__(self) -> Self:
        application = Application([(".*", _Handler, {"server": self})], log_function=lambda handler: None)
        self._http = HTTPServer(application, max_body_size=MAX_BODY)
        sockets = bind_sockets(0, "127.0.0.1")
        self._http.add_sockets(sockets)
        headers = [{"name": "Authorization", "value": self.authorization}]
        url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/mcp"
        self.offer = {"type": "http", "name": SERVER, "url": url, "headers": headers}
        """Its entry in `mcpServers`."""
        return self

    def close(self) -> None:
        """Refuse further calls, and cancel those that run."""
        self.is_closed = True
        self._http.stop()
        for call in self.open_calls:
            call.cancel()

    async def __aexit__(self, *error: object) -> None:
        self.close()
        await self._http.close_all_connections()
        if self.open_calls:
            await asyncio.wait(self.open_calls, timeout=5)

    async def result(self, method: str, params: Json) -> Json | None:
        """The result of a request; None for an unknown method."""
        match method:
            case "initialize":
                info = {"name": SERVER, "version": VERSION}
                version = str(params.get("protocolVersion") or "2025-06-18")
                return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            case "ping":
                return {}
            case "tools/list":
                return {
                    "tools": [
                        {"name": tool.name, "description": tool.description, "inputSchema": tool.schema}
                        for tool in self._tools
                    ]
                }
            case "tools/call":
                result = await self._call(str(params.get("name")), as_object(params.get("arguments")))
                texts = [{"type": "text", "text": result_text(result.text)}]
                images = [
                    {"type": "image", "data": image.base64, "mimeType": image.media_type}
                    for image in result.images
                ]
                return {"content": [*texts, *images], "isError": not result.ok}
        return None


class _Handler(RequestHandler):
    def initialize(self, server: KernelServer) -> None:
        self._server = server
        self._answering: asyncio.Future[Json | None] | None = None

    def prepare(self) -> None:
        token = self.request.headers.get("Authorization", "")
        if not hmac.compare_digest(token.encode(), self._server.authorization.encode()):
            self.set_status(401)
            self.finish()
        elif self._server.is_closed:  # the connection was open before
            self.set_status(503)
            self.finish()

    async def post(self) -> None:
        message = parse_json(self.request.body)
        if not isinstance(message, dict):
            self.set_status(400)
        elif "id" not in message:
            self.set_status(202)
        else:
            work = self._server.result(str(message.get("method")), as_object(message.get("params")))
            self._answering = asyncio.ensure_future(work)
            self._server.open_calls.add(self._answering)
            self._answering.add_done_callback(self._server.open_calls.discard)
            with contextlib.suppress(asyncio.CancelledError):
                result = await self._answering
                content = {"error": _NOT_FOUND} if result is None else {"result": result}
                self.write({"jsonrpc": "2.0", "id": message["id"], **content})

    def on_connection_close(self) -> None:
        """Cancel the call if the agent disconnects or the run ends."""
        if self._answering:
            self._answering.cancel()
