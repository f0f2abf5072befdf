"""An MCP server on loopback, over streamable HTTP: a token, JSON-RPC, progress and cancellation.

The small part of the protocol that tools need. A server with `clients` has sessions, one for each of its clients; one
without has a single client. A client that hangs up cancels its calls: their results could not reach it any more.
"""

import asyncio
import contextlib
import hmac
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from agent_nb._base import mcp
from agent_nb._base.secrets import register, safe_line
from agent_nb._base.wire import Json, as_object, parse_json

MAX_BODY = 10_000_000
MOST_CALLS = 16
"""Open calls of a client."""
RATE, BURST = 20.0, 200.0
"""Requests of a client: each second, and at once."""
IDLE_SECONDS = 60.0
"""After these a client without calls gives way to a new one, if there are too many."""
ALIVE_SECONDS = 10.0
"""Seconds between two signs of life in the answer to a long call."""
_STREAM = "text/event-stream"


@dataclass(eq=False)
class McpClient:
    """A client of the server: its session."""

    id: str
    name: str = ""
    version: str = ""
    calls: dict[str, asyncio.Task[Json]] = field(default_factory=dict)
    """Open calls, by their ids."""
    used_at: float = field(default_factory=time.monotonic)
    _budget: float = BURST

    def is_too_fast(self) -> bool:
        now = time.monotonic()
        self._budget = min(BURST, self._budget + (now - self.used_at) * RATE) - 1
        self.used_at = now
        return self._budget < 0


@dataclass(frozen=True, kw_only=True)
class Call:
    client: McpClient
    name: str
    arguments: Json
    progress: Callable[[str], None]
    """Tells the client, if it has asked, what the call does. Only on the loop of the server."""


class McpServer:
    """The server; `async with` starts and stops it, in the running event loop. A subclass runs the calls."""

    instructions = ""
    """What the client's model reads about the tools."""
    most_clients = 0
    """How many clients with sessions there may be; 0 for one without."""

    def __init__(self, name: str, tools: Sequence[Json]) -> None:
        self._name, self._tools = name, tools
        self.token = secrets.token_urlsafe(32)
        register(self.token)
        self.clients: dict[str, McpClient] = {}
        self._only = McpClient("")
        self.is_closed = False

    async def call(self, call: Call) -> Json:
        """Run a tool; the result is that of `mcp.tool_result`."""
        raise NotImplementedError

    def left(self, client: McpClient) -> None:
        """Called when a client has left, or had to give way."""

    async def __aenter__(self) -> Self:
        application = Application([(".*", _Handler, {"server": self})], log_function=lambda handler: None)
        self._http = HTTPServer(application, max_body_size=MAX_BODY, body_timeout=30)
        sockets = bind_sockets(0, "127.0.0.1")
        self._http.add_sockets(sockets)
        self.port = sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()
        await self._http.close_all_connections()
        if calls := self._calls:
            await asyncio.wait(calls, timeout=5)

    @property
    def _calls(self) -> list[asyncio.Task[Json]]:
        return [call for client in (self._only, *self.clients.values()) for call in client.calls.values()]

    def close(self) -> None:
        """Refuse further calls, and cancel those that run."""
        self.is_closed = True
        self._http.stop()
        for call in self._calls:
            call.cancel()

    def refusal(self, headers: Any, host: str, *, needs_token: bool) -> int:
        """The status of a request that is not answered; 0 for others. A web page has an origin, or another host."""
        hosts = {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost")}
        if host not in hosts or headers.get("Origin", f"http://{host}") not in {
            f"http://{own}" for own in hosts
        }:
            return 403
        if needs_token and not hmac.compare_digest(
            headers.get("Authorization", "").encode(), f"Bearer {self.token}".encode()
        ):
            return 401
        return 503 if self.is_closed else 0  # the connection was open before

    def client_of(self, headers: Any) -> McpClient | None:
        return self.clients.get(headers.get(mcp.SESSION, "")) if self.most_clients else self._only

    def enter(self, params: Json) -> McpClient | None:
        """A client that introduces itself; None if there are too many. The one that has been idle longest gives way."""
        if not self.most_clients:
            return self._only
        if len(self.clients) >= self.most_clients:
            idle = [client for client in self.clients.values() if not client.calls]
            oldest = min(idle, key=lambda client: client.used_at, default=None)
            if oldest is None or time.monotonic() - oldest.used_at < IDLE_SECONDS:
                return None
            self.leave(oldest)
        about = as_object(params.get("clientInfo"))
        name, version = (safe_line(str(about.get(key) or ""), 60) for key in ("name", "version"))
        client = McpClient(secrets.token_urlsafe(24), name or "a client", version)
        self.clients[client.id] = client
        return client

    def leave(self, client: McpClient) -> None:
        if self.clients.pop(client.id, None):
            for call in client.calls.values():
                call.cancel()
            self.left(client)

    async def result(
        self, client: McpClient, method: str, params: Json, progress: Callable[[str], None]
    ) -> Json | None:
        """The result of a request; None for an unknown method."""
        match method:
            case "initialize":
                return mcp.introduction(self._name, params, self.instructions)
            case "ping":
                return {}
            case "tools/list":
                return {"tools": [*self._tools]}
            case "tools/call":
                name, arguments = str(params.get("name")), as_object(params.get("arguments"))
                return await self.call(Call(client=client, name=name, arguments=arguments, progress=progress))
        return None


class _Handler(RequestHandler):
    def initialize(self, server: McpServer) -> None:
        self._server = server
        self._answering: asyncio.Task[Json] | None = None

    def prepare(self) -> None:
        is_challenge = self.request.method == "GET" and mcp.CHALLENGE in self.request.headers
        if status := self._server.refusal(
            self.request.headers, self.request.host, needs_token=not is_challenge
        ):
            self._refuse(status)

    def _refuse(
        self, status: int, number: Any = None, text: str = "", code: int = mcp.INVALID_REQUEST
    ) -> None:
        self.set_status(status)
        self.finish(mcp.rpc_error(number, code, text) if text else None)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        self.finish()

    def get(self) -> None:
        """Prove that this server has the token. There is no stream of messages that are not asked for."""
        challenge = self.request.headers.get(mcp.CHALLENGE)
        if challenge is None:
            self._refuse(405)
        else:
            self.finish(mcp.proof(self._server.token, challenge))

    async def post(self) -> None:
        message = parse_json(self.request.body)
        if not isinstance(message, dict):
            self._refuse(400, None, "This is not one JSON-RPC message.", mcp.PARSE_ERROR)
            return
        number, method, params = message.get("id"), message.get("method"), as_object(message.get("params"))
        client = self._server.client_of(self.request.headers)
        if method == "initialize" and (client := self._server.enter(params)) is None:
            self._refuse(429, number, "There are too many clients.", mcp.REFUSED)
        elif client is None:
            self._refuse_stranger(number)
        elif client.is_too_fast():
            self._refuse(429, number, "There are too many requests: wait a second.", mcp.REFUSED)
        elif number is None or not isinstance(method, str):
            self._note(client, str(method), params)
        elif not isinstance(number, str | int) or json.dumps(number) in client.calls:
            self._refuse(400, None, "The id of a request is a text or a number, and new.")
        elif len(client.calls) >= MOST_CALLS:
            self._refuse(429, number, f"At most {MOST_CALLS} calls may be open.", mcp.REFUSED)
        else:
            await self._answer(client, number, method, params)

    def delete(self) -> None:
        """A client that leaves."""
        if (client := self._server.client_of(self.request.headers)) is None:
            self._refuse_stranger(None)
        else:
            self._server.leave(client)
            self._refuse(204)

    def _refuse_stranger(self, number: Any) -> None:
        unknown = mcp.SESSION in self.request.headers
        text = "This session has ended: initialize again." if unknown else "Initialize first."
        self._refuse(404 if unknown else 400, number, text)

    def _note(self, client: McpClient, method: str, params: Json) -> None:
        """A notification, or the answer to a request that was never made."""
        call = client.calls.get(json.dumps(params.get("requestId")))
        if method == "notifications/cancelled" and call:
            call.cancel()
        self._refuse(202)

    async def _answer(self, client: McpClient, number: str | int, method: str, params: Json) -> None:
        if method == "initialize" and client.id:
            self.set_header(mcp.SESSION, client.id)
        streams = method == "tools/call" and _STREAM in self.request.headers.get("Accept", "")
        if streams:
            self.set_header("Content-Type", _STREAM)
            self.set_header("Cache-Control", "no-store")
            await self._send(": \n\n")
        token = as_object(params.get("_meta")).get("progressToken")
        progress = partial(self._progress, token) if streams and token is not None else lambda text: None
        work = self._server.result(client, method, params, progress)
        key, self._answering = json.dumps(number), asyncio.ensure_future(self._content(work))
        client.calls[key] = self._answering
        try:
            while streams and not (await asyncio.wait([self._answering], timeout=ALIVE_SECONDS))[0]:
                await self._send(": \n\n")
            answer = mcp.rpc(id=number, **await self._answering)
            self.write(_event(answer) if streams else answer)
        except asyncio.CancelledError:
            if not self._answering.cancelled():
                raise
        finally:
            del client.calls[key]

    async def _content(self, work: Awaitable[Json | None]) -> Json:
        result = await work
        if result is None:
            return {"error": {"code": mcp.METHOD_NOT_FOUND, "message": "Method not found"}}
        return {"result": result}

    async def _send(self, text: str) -> None:
        with contextlib.suppress(StreamClosedError):
            self.write(text)
            await self.flush()

    def _progress(self, token: Any, text: str) -> None:
        self._steps = getattr(self, "_steps", 0) + 1
        params = {"progressToken": token, "progress": self._steps, "message": text}
        sending = asyncio.ensure_future(
            self._send(_event(mcp.rpc(method="notifications/progress", params=params)))
        )
        sending.add_done_callback(lambda _: None)

    def on_connection_close(self) -> None:
        """Cancel the call if the client hangs up or the server ends."""
        if self._answering:
            self._answering.cancel()


def _event(message: Json) -> str:
    return f"event: message\ndata: {json.dumps(message)}\n\n"
