"""A connection to one server. A single task opens and closes it, because anyio scopes are bound to their task.

Everything here runs on the shared event loop of all connections; see `server.submit`.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import ObjectReceiveStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from agent_nb._base import program
from agent_nb._base.log import Masking
from agent_nb._base.program import GRACE, Program, ProgramError
from agent_nb._base.secrets import beginning
from agent_nb._base.text import printable_line
from agent_nb._base.wire import Json
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.tools.mcp.server_config import ServerConfig

if TYPE_CHECKING or find_spec("mcp_types"):  # new in version 2
    from agent_nb.tools.mcp import sdk_2 as sdk
else:
    from agent_nb.tools.mcp import sdk_1 as sdk

if TYPE_CHECKING:
    import mcp_types
    from mcp.shared.dispatcher import ProgressFnT

MAX_ANSWER = 32_000_000
MAX_UNASKED = 5_000
"""Unsolicited messages that a server may send between two answers before it is ended."""
MAX_PAGES = 50
MAX_TOOLS = 500
_RELIST_LIMIT = 5.0
_RELIST_PAUSE = 0.2
"""Seconds between requests for the tool list, which a server may change often."""
_ANY: Json = {"type": "object", "additionalProperties": True}


async def _read(server: Program, to_session: Any) -> None:
    """Forward messages until the server ends. An invalid line is forwarded as an exception."""
    async with to_session:
        async for line in server.lines():
            message: SessionMessage | Exception
            try:
                message = sdk.parsed(line)
            except ValueError as error:
                message = error
            try:
                await to_session.send(message)
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                return


async def _write(server: Program, messages: Any, to_session: Any) -> None:
    try:
        async with messages:
            async for message in messages:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await server.write(line.encode() + b"\n")
    except OSError:  # it has exited or closed stdin
        await to_session.aclose()


for _name in ("mcp", "client"):  # "client" is also a logger of the `mcp` package
    logging.getLogger(_name).addHandler(logging.NullHandler())  # else warnings appear in the notebook
for _name in sdk.LOGGERS:
    logging.getLogger(_name).addFilter(Masking())


async def _limit_length(response: sdk.httpx.Response) -> None:
    """Limit the size of an answer, which the `mcp` package would read whole."""
    if "event-stream" not in response.headers.get("content-type", ""):
        assert isinstance(response.stream, sdk.httpx.AsyncByteStream)
        response.stream = _LimitedStream(response.stream)


class _LimitedStream(sdk.httpx.AsyncByteStream):
    def __init__(self, stream: sdk.httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for chunk in self._stream:
            length += len(chunk)
            if length > MAX_ANSWER:
                raise AgentError(f"The response is larger than {MAX_ANSWER // 1_000_000} MB.")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class ConnectionLostError(AgentError):
    """The server ended or can no longer be used; the message is the reason."""


class Connection:
    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self._client: sdk.Client | None = None
        self._program: Program | None = None
        """The process of a server that was started by its command."""
        self._reading: asyncio.Task[None] | None = None
        """Finishes when the process's output ends."""
        self._unasked = 0
        self._stop = asyncio.Event()
        self._is_stale = False
        """Whether the tool list may have changed since the last request."""
        self._listing: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._repair = ToolListRepair(lambda: self._client.version if self._client else "")
        self.listing: tuple[mcp_types.Tool, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.problem = ""
        self._task = asyncio.create_task(self._supervise())

    @property
    def is_open(self) -> bool:
        return self._client is not None and not self._task.done() and not self._stop.is_set()

    async def open(self) -> None:
        """Wait until the server has listed its tools; raises `ConnectionLostError` if it does not."""
        limit = self._config.start_timeout
        try:
            await asyncio.wait({self._opened, self._task}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._stop.set()  # the task ends the process
            raise
        if self.is_open and self._opened.done():
            return
        if not self._task.done():
            last_line = self._program.last_line if self._program else ""
            output = f" It wrote: {last_line}" if last_line else ""
            self.problem = self.problem or f"It did not answer within {limit:g} seconds.{output}"
        await self.close()
        raise ConnectionLostError(self.problem or "It ended.")

    def list_again(self) -> "asyncio.Task[None]":
        self._is_stale = True
        if self._listing is None or self._listing.done():
            self._listing = asyncio.create_task(self._read_list())
        return self._listing

    async def up_to_date(self) -> None:
        """Wait for a new tool list, at most `_RELIST_LIMIT` seconds."""
        await asyncio.wait({self.list_again()}, timeout=_RELIST_LIMIT)

    async def call(
        self, name: str, args: dict[str, Any], progress: "ProgressFnT"
    ) -> "mcp_types.CallToolResult":
        """Call a tool. Cancellation is forwarded to the server and leaves the connection open."""
        if self._client is None or not self.is_open:
            raise ConnectionLostError(self.problem or "It has ended.")
        try:
            return await self._client.call(name, args, progress)
        except sdk.MCPError as error:
            if _is_closed(error) or not self.is_open:
                await self.close()
                raise ConnectionLostError(self.problem or "It ended during the call.") from None
            raise
        finally:
            self._unasked = 0

    async def close(self) -> None:
        self._stop.set()
        await asyncio.wait({self._task}, timeout=3 * GRACE + 1)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=GRACE)

    async def _supervise(self) -> None:
        try:
            await self._serve()
        except BaseException as error:  # an anyio exception group, or a cancellation
            self.problem = self.problem or describe(error)
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
        finally:
            self._client = None
            self._opened.cancel()
            if self._program:
                self.problem = self._program.problem or self.problem or _ending(self._program)

    async def _serve(self) -> None:
        """Open the connection, wait until it ends or `close` is called, and close it."""
        opening = asyncio.current_task()
        stopping = asyncio.create_task(self._stop.wait())
        stopping.add_done_callback(lambda _: opening and not self._opened.done() and opening.cancel())
        try:
            async with contextlib.AsyncExitStack() as stack:
                transport = self._repair.over(self._transport(stack))
                client = self._client = await stack.enter_async_context(
                    sdk.connected(transport, self._on_message)
                )
                await self._list(client)
                if not self._opened.done():
                    self._opened.set_result(None)
                ends = {stopping, self._reading} if self._reading else {stopping}
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()

    async def _read_list(self) -> None:
        while self._is_stale and self._client is not None and self.is_open:
            self._is_stale = False
            with contextlib.suppress(Exception):  # keep the previous list
                await self._list(self._client)
            if self._is_stale:
                await asyncio.sleep(_RELIST_PAUSE)

    async def _on_message(self, message: Any) -> None:
        self._unasked += 1
        if self._unasked > MAX_UNASKED and not self._stop.is_set():
            self.problem = f"It sent more than {MAX_UNASKED:,} unsolicited messages."
            self._stop.set()
        if isinstance(message, AgentError):  # from `_LimitedStream`; version 1 does not fail the call itself
            self.problem = str(message)
            self._stop.set()
        if getattr(_content(message), "method", "") == "notifications/tools/list_changed":
            self.list_again()

    async def _check_session(self, response: sdk.httpx.Response) -> None:
        """Detect a lost session: a server that has restarted answers every request with 404."""
        has_session = "mcp-session-id" in response.request.headers
        if response.status_code == 404 and has_session and not self._stop.is_set():
            self.problem = "It has ended the session."
            self._stop.set()

    async def _list(self, client: "sdk.Client") -> None:
        self._repair.notes.clear()
        tools: list[mcp_types.Tool] = []
        cursor = None
        for _ in range(MAX_PAGES if client.has_tools else 0):
            page, cursor = await client.list_tools(cursor)
            tools += page
            if not cursor or len(tools) >= MAX_TOOLS:
                break
        if (listing := tuple(tools[:MAX_TOOLS])) != self.listing:
            self.listing = listing
        self.notes = tuple(self._repair.notes)

    def _transport(self, stack: contextlib.AsyncExitStack) -> Any:
        expanded = self._config.expanded()
        if expanded.url:
            http = sdk.httpx.AsyncClient(
                headers=dict(expanded.headers),
                timeout=sdk.httpx.Timeout(30.0, read=self._config.timeout + 30),
                event_hooks={"response": [_limit_length, self._check_session]},
            )
            stack.push_async_callback(http.aclose)
            return sdk.streamable_http_client(expanded.url, http_client=http)
        return self._started(expanded)

    @contextlib.asynccontextmanager
    async def _started(self, config: ServerConfig) -> AsyncIterator[Any]:
        """Start the server's process, yield a transport for the `mcp` package, and end the process.

        Replaces the package's own transport, which reads lines of any length into memory, logs every line that is not
        JSON, and does not expose the process.
        """
        env = get_default_environment() | dict(config.env)
        try:
            server = self._program = await Program.start(config.command, env=env, folder=config.folder)
        except ProgramError as error:
            raise ConfigError(str(error)) from None
        to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        reading = self._reading = asyncio.create_task(_read(server, to_session))
        writing = asyncio.create_task(_write(server, from_session, to_session))
        try:
            yield from_server, to_server
        finally:
            for stream in (from_server, to_server):
                stream.close()
            await server.end()
            for task in (reading, writing):
                task.cancel()
            await asyncio.wait((reading, writing), timeout=program.GRACE)


def _content(message: Any) -> Any:
    """Unwrap a message: version 1 of the package wraps each one in a model of its own."""
    return getattr(message, "root", message)


def _is_closed(error: sdk.MCPError) -> bool:
    """Whether the connection has closed. Servers use the same code for other errors."""
    return error.error.code == -32000 and error.error.message == "Connection closed"


def describe(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    match error:
        case ValidationError():
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            text = f"It sent something that is not valid MCP: {place}: {first['msg']}"
        case sdk.MCPError() if _is_closed(error):
            text = ""
        case AgentError() | sdk.MCPError():
            text = str(error)
        case asyncio.CancelledError():
            text = ""
        case sdk.httpx.HTTPError():
            text = f"It cannot be reached: {error or type(error).__name__}"
        case _:
            text = f"{type(error).__name__}: {error}".removesuffix(": ")
    text = beginning(printable_line(text), 300)
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


def _ending(server: Program) -> str:
    code = f" with code {server.exit_code}" if server.exit_code and server.exit_code > 0 else ""
    return f"It ended{code}{f': {server.last_line}' if server.last_line else '.'}"


class ToolListRepair:
    """Repairs tool lists on a transport and notes the omitted entries.

    For one invalid entry, the `mcp` package would reject the whole list.
    """

    def __init__(self, version: Callable[[], str]) -> None:
        self.notes: list[str] = []
        self._version = version

    @contextlib.asynccontextmanager
    async def over(self, transport: Any) -> AsyncIterator[Any]:
        """Wrap a transport so that its tool lists are repaired."""
        async with transport as (receive, write, *_):
            yield _ServerStream(receive, self._message), write

    def _message(self, item: Any) -> Any:
        result = getattr(_content(getattr(item, "message", None)), "result", None) or {}
        if isinstance(result.get("tools"), list) and "content" not in result:
            entries = [self._entry(raw, result) for raw in result["tools"]]
            result["tools"] = [entry for entry in entries if entry is not None]
        return item

    def _entry(self, raw: Any, result: Json) -> Json | None:
        entry: Json = raw if isinstance(raw, dict) else {}
        name, schema = entry.get("name"), entry.get("inputSchema")
        if not isinstance(name, str) or not name:
            self.notes.append("A tool without a name is left out.")
            return None
        if isinstance(schema, dict) and schema.get("type") in (None, ["object", "null"], ["null", "object"]):
            schema = {**schema, "type": "object"}  # an object is implied
            entry = {**entry, "inputSchema": schema}
        if self._is_valid(entry, result):
            return entry
        usable = schema if isinstance(schema, dict) and schema.get("type") == "object" else _ANY
        entry = {"name": name, "description": str(entry.get("description") or ""), "inputSchema": usable}
        display_name = printable_line(name)[:60]
        if self._is_valid(entry, result):
            self.notes.append(
                f"Part of the server's description of `{display_name}` is invalid and left out."
            )
            return entry
        self.notes.append(f"`{display_name}` is left out: the server's description of it is invalid.")
        return None

    def _is_valid(self, entry: Json, result: Json) -> bool:
        try:
            sdk.check_tool(entry, result, self._version())
        except ValueError:
            return False
        return True


class _ServerStream(ObjectReceiveStream[Any]):
    """A stream that changes its items on receipt."""

    def __init__(self, stream: Any, change: Callable[[Any], Any]) -> None:
        self._stream, self._change = stream, change

    async def receive(self) -> Any:
        return self._change(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
