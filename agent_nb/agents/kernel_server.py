"""Serves our tools to an agent: an MCP server on loopback for one run, with its own token."""

import asyncio
import base64
import contextlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Self

from agent_nb._base.constants import VERSION
from agent_nb._base.secrets import register
from agent_nb._base.wire import Json
from agent_nb.agents.mapping import SERVER, result_text
from agent_nb.messages import ToolResult, ToolSpec

MAX_BODY = 10_000_000
_PROTOCOL = "2025-06-18"
_STATUS = {200: "OK", 202: "Accepted", 400: "Bad Request", 401: "Unauthorized", 405: "Method Not Allowed"}

CallTool = Callable[[str, Json], Awaitable[ToolResult]]


class KernelServer:
    """The server; `async with` starts and stops it."""

    def __init__(self, tools: Sequence[ToolSpec], call: CallTool) -> None:
        self._tools, self._call = tools, call
        self._token = secrets.token_urlsafe(32)
        register(self._token)
        self._server: asyncio.Server | None = None
        self._handling: set[asyncio.Task[Any]] = set()

    @property
    def offer(self) -> Json:
        """Its entry in `mcpServers`."""
        assert self._server
        port = self._server.sockets[0].getsockname()[1]
        headers = [{"name": "Authorization", "value": f"Bearer {self._token}"}]
        return {"type": "http", "name": SERVER, "url": f"http://127.0.0.1:{port}/mcp", "headers": headers}

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=MAX_BODY)
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._server
        self._server.close()
        for task in self._handling:
            task.cancel()
        if self._handling:
            await asyncio.wait(self._handling, timeout=5)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._handling.add(task)
        try:
            while (request := await _read(reader)) is not None:
                status, answer = await self._answer_while_connected(request, reader)
                body = json.dumps(answer).encode() if answer is not None else b""
                head = (
                    f"HTTP/1.1 {status} {_STATUS[status]}\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n"
                )
                writer.write(head.encode() + body)
                await writer.drain()
        except (OSError, ValueError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the agent disconnected or sent an invalid request, or the run has ended
        finally:
            self._handling.discard(task)
            writer.close()

    async def _answer_while_connected(
        self, request: tuple[str, dict[str, str], bytes], reader: asyncio.StreamReader
    ) -> tuple[int, Json | None]:
        """Status and body of the response. The call is cancelled if the agent disconnects."""
        answering = asyncio.ensure_future(self._answer(*request))
        try:
            while not answering.done():
                await asyncio.wait({answering}, timeout=0.5)
                if reader.at_eof():
                    raise OSError("the connection was closed")
            return answering.result()
        finally:
            answering.cancel()

    async def _answer(self, method: str, headers: dict[str, str], body: bytes) -> tuple[int, Json | None]:
        if not hmac.compare_digest(
            headers.get("authorization", "").encode(), f"Bearer {self._token}".encode()
        ):
            return 401, None
        if method != "POST":
            return 405, None
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            return 400, None
        if not isinstance(message, dict):
            return 400, None
        if "id" not in message:
            return 202, None
        params = message.get("params")
        result = await self._result(str(message.get("method")), params if isinstance(params, dict) else {})
        if result is None:
            return 200, _reply(message, error={"code": -32601, "message": "Method not found"})
        return 200, _reply(message, result=result)

    async def _result(self, method: str, params: Json) -> Json | None:
        match method:
            case "initialize":
                info = {"name": SERVER, "version": VERSION}
                version = str(params.get("protocolVersion") or _PROTOCOL)
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
                args = params.get("arguments")
                result = await self._call(str(params.get("name")), args if isinstance(args, dict) else {})
                return {"content": _content(result), "isError": not result.ok}
        return None


def _reply(message: Json, **content: Any) -> Json:
    return {"jsonrpc": "2.0", "id": message["id"], **content}


def _content(result: ToolResult) -> list[Json]:
    images = [
        {"type": "image", "data": base64.b64encode(image.data).decode(), "mimeType": image.media_type}
        for image in result.images
    ]
    return [{"type": "text", "text": result_text(result.text)}, *images]


async def _read(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], bytes] | None:
    """Method, headers and body of the next request; None at the end. Raises `ValueError` if it is invalid."""
    with contextlib.suppress(asyncio.IncompleteReadError):
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length") or 0)
        if length > MAX_BODY or "transfer-encoding" in headers:
            raise ValueError("the request body is too long or has no Content-Length")
        return first.partition(" ")[0], headers, await reader.readexactly(length)
    return None
