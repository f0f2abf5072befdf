"""A loopback server that speaks all protocols on real sockets and records the requests.

    async with WireServer() as server:
        server.plan(reply(Say("Hello.")))
        provider = model("anthropic:claude-opus-5-5", api_key="...", base_url=server.base_url("anthropic_messages"))

Requests without a plan are answered by `server.otherwise(request)`, or refused with 500.
Before that, a request that the vendor refuses is refused with the vendor's status and message (`rules`). The
test fails at its end unless it sets `server.may_refuse`. `WireServer(strict=False)` accepts every request.
"""

import asyncio
import contextlib
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from tests.support.wire import cors
from tests.support.wire.dialects import DIALECTS, model_of, protocol_of
from tests.support.wire.faults import with_fault
from tests.support.wire.images import read_body
from tests.support.wire.rules import Asked, Exchange, first_refusal
from tests.support.wire.steps import Cut, Hold, Pause, Reply, json_reply, problem


@dataclass(eq=False)
class Request:
    """A request, and how far its answer got."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    protocol: str
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the client's connection is gone."""
    holding: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the answer has reached a `Hold`."""
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by a test to end a `Hold`."""
    sent: int = 0
    """Events written so far."""
    finished: bool = False
    """The whole answer was written."""


class WireServer:
    """The server, on a port of its own. Use it as `async with`, or `with WireServer.in_thread()`."""

    def __init__(self, strict: bool = True) -> None:
        self.strict = strict
        self.may_refuse = False
        """Whether the test expects that requests are refused."""
        self.refusals: list[str] = []
        """The id of the rule and the message of each refused request."""
        self.requests: list[Request] = []
        self.otherwise: Callable[[Request], Reply] | None = None
        self.facts: dict[str, Any] = {}
        """What it tells about its model, by path. Those requests are in `told`, not among `requests`."""
        self.told: list[str] = []
        self.port = 0
        self.connections = 0
        self._arrivals: list[asyncio.Event] = []
        self._plans: deque[Reply] = deque()
        self._exchanges: dict[str, list[Exchange]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._transports: set[asyncio.Transport] = set()
        self._server: asyncio.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def plan(self, *replies: Reply) -> None:
        """The next answers, in order."""
        self._plans.extend(replies)

    def forget(self) -> None:
        """Drops the planned answers that were not used."""
        self._plans.clear()

    def let_go(self, request: Request) -> None:
        """Ends the `Hold` of an answer, from any thread."""
        assert self._loop
        self._loop.call_soon_threadsafe(request.let_go.set)

    def forget_exchanges(self) -> None:
        """Begins a new conversation for the rules that look at earlier requests."""
        self.requests.clear()
        self._exchanges.clear()

    @property
    def answering(self) -> set[asyncio.Task[None]]:
        """The tasks that send answers."""
        return set(self._tasks)

    @property
    def open_connections(self) -> int:
        return len(self._transports)

    @property
    def unused(self) -> int:
        return len(self._plans)

    async def arrival(self, number: int = 0) -> Request:
        """Waits for the request with that number."""
        arrived = asyncio.Event()
        self._arrivals.append(arrived)
        while len(self.requests) <= number:
            arrived.clear()
            await asyncio.wait_for(arrived.wait(), 20)
        return self.requests[number]

    def base_url(self, protocol: str) -> str:
        """What to pass as `base_url` for a protocol, a key of `APIS`."""
        return f"http://127.0.0.1:{self.port}{DIALECTS[protocol].root}"

    def as_anthropic(self, key: str = "sk-ant-test-key") -> dict[str, str]:
        """The environment of a program whose Anthropic is this server."""
        return {"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": self.base_url("anthropic_messages")}

    def as_openai(self, key: str = "sk-test-key") -> dict[str, str]:
        """The environment of a program whose OpenAI is this server: its SDK takes a second less to import."""
        return {"OPENAI_API_KEY": key, "OPENAI_BASE_URL": self.base_url("responses")}

    async def start(self, port: int = 0) -> None:
        loop = self._loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        for transport in list(self._transports):
            transport.abort()
        if self._server:
            self._server.close()
            await self._server.wait_closed()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, failed: object, *_: object) -> None:
        await self.stop()
        if not failed:
            self.check_refusals()

    def check_refusals(self) -> None:
        """Fails the test if a request was refused and the test does not expect that."""
        assert self.may_refuse or not self.refusals, self.refusals

    @classmethod
    @contextlib.contextmanager
    def in_thread(cls, strict: bool = True) -> Iterator[Self]:
        """The server on an event loop of its own thread, for code without a loop."""
        server, loop = cls(strict), asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()
        server.check_refusals()

    def answer_to(self, request: Request) -> Reply:
        self.requests.append(request)
        for arrived in self._arrivals:
            arrived.set()
        if self.strict and (refused := self._refusal(request)):
            return refused
        answer = self._planned(request)
        self._exchanges.setdefault(request.protocol, []).append(Exchange(request.body, answer))
        return answer

    def _refusal(self, request: Request) -> Reply | None:
        earlier = tuple(self._exchanges.get(request.protocol, ()))
        asked = Asked(model_of(request.path, request.body), request.body, earlier)
        found = first_refusal(request.protocol, asked)
        if found is None:
            return None
        rule, answer = found
        self.refusals.append(f"{rule.id}: {(answer.body or b'').decode()}")
        return answer

    def _planned(self, request: Request) -> Reply:
        if self._plans:
            return self._plans.popleft()
        if self.otherwise:
            return self.otherwise(request)
        return problem(500, "The test planned no answer to this request.", {"x-should-retry": "false"})


class _Connection(asyncio.Protocol):
    """One client connection, which may carry several requests in turn."""

    def __init__(self, server: WireServer) -> None:
        self.server = server
        self.buffer = b""
        self.request: Request | None = None
        self.cors: dict[str, str] = {}
        self.can_write = asyncio.Event()
        self.can_write.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections += 1
        self.server._transports.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server._transports.discard(self.transport)
        self.can_write.set()
        if self.request:
            self.request.closed.set()

    def pause_writing(self) -> None:
        self.can_write.clear()

    def resume_writing(self) -> None:
        self.can_write.set()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, blank, rest = self.buffer.partition(b"\r\n\r\n")
        if not blank:
            return
        lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines[1:])
        }
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self.buffer = rest[length:]
        method, path, _ = lines[0].split(" ")
        protocol = protocol_of(path)
        if method == "OPTIONS":
            self.head(Reply(status=204, headers=cors.preflight(protocol, headers)), "", b"")
            return
        self.cors = cors.shared(protocol, headers)
        resource = path.partition("?")[0]
        if resource in self.server.facts or resource.endswith(("/models", "/api/show")):
            self.tell(resource)
            return
        body = read_body(headers, rest[:length])
        self.request = Request(path, headers, body, protocol)
        task = asyncio.ensure_future(self.answer(self.request))
        self.server._tasks.add(task)
        task.add_done_callback(self.server._tasks.discard)

    def tell(self, path: str) -> None:
        self.server.told.append(path)
        told = self.server.facts.get(path)
        reply = problem(404) if told is None else json_reply(told)
        self.head(reply, f"content-length: {len(reply.body or b'')}\r\n", reply.body or b"")

    async def answer(self, request: Request) -> None:
        reply = self.server.answer_to(request)
        if reply.silent:
            await self.hold(request)
        if reply.body is None and not request.protocol:
            reply = problem(404, f"No such path: {request.path}")
        if reply.body is not None:
            self.head(reply, f"content-length: {len(reply.body)}\r\n", reply.body)
            request.finished = True
            return
        dialect = DIALECTS[request.protocol](reply, model_of(request.path, request.body))
        kind = dialect.framing.content_type
        self.head(reply, f"content-type: {kind}\r\ntransfer-encoding: chunked\r\n", b"")
        for chunk in with_fault(dialect, reply.fault):
            if request.closed.is_set():
                return
            match chunk:
                case bytes():
                    await self.write(chunk, reply.split)
                    request.sent += 1
                    if reply.gap:
                        await asyncio.sleep(reply.gap)
                case Pause(seconds):
                    await asyncio.sleep(seconds)
                case Hold():
                    await self.hold(request)
                case Cut(how):
                    self.cut(how)
                    return
        self.transport.write(b"0\r\n\r\n")
        request.finished = True

    def head(self, reply: Reply, framing: str, body: bytes) -> None:
        lines = "".join(f"{name}: {value}\r\n" for name, value in {**self.cors, **reply.headers}.items())
        self.transport.write(f"HTTP/1.1 {reply.status} Answer\r\n{lines}{framing}\r\n".encode() + body)

    async def write(self, chunk: bytes, split: int) -> None:
        for start in range(0, len(chunk), split or len(chunk)):
            piece = chunk[start : start + (split or len(chunk))]
            self.transport.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            if not self.can_write.is_set():
                await self.can_write.wait()
            elif split:
                await asyncio.sleep(0)

    async def hold(self, request: Request) -> None:
        request.holding.set()
        waits = [asyncio.ensure_future(event.wait()) for event in (request.closed, request.let_go)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def cut(self, how: str) -> None:
        match how:
            case "eof":
                self.transport.write(b"0\r\n\r\n")
            case "fin":
                self.transport.close()
            case "rst":
                raw: socket.socket = self.transport.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.transport.abort()
