"""An MCP server that starts on first use and restarts once after it has ended.

The public methods may be called from any event loop. The private coroutines run on the shared loop of all connections,
in a separate thread: connections outlive cells and their loops, which `run_sync` and synchronous code end or block.
"""

import asyncio
import base64
import binascii
import contextlib
import difflib
import importlib.util
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from agent_nb._base.secrets import safe_line, shortened
from agent_nb._base.text import printable_line, sha256, showable_text
from agent_nb._base.threads import background_loop, has_threads, in_thread
from agent_nb._base.wire import Json
from agent_nb.core.errors import AgentError, ConfigError, InstallError, ToolError
from agent_nb.core.events import MimeBundle
from agent_nb.core.messages import Image, ToolSpec
from agent_nb.images.convert import to_image
from agent_nb.tools.base import Tool, ToolContext, ToolOutput
from agent_nb.tools.mcp.server_config import ServerConfig, server_config
from agent_nb.tools.schema import compile_schema
from agent_nb.tools.toolbox import Toolbox

if TYPE_CHECKING:  # importing `mcp` takes most of a second
    from mcp.shared.dispatcher import ProgressFnT

    from agent_nb.tools.mcp.connection import Connection

LOWEST = (1, 24)
"""The lowest version of `mcp`, also in `pyproject.toml`: the first with `streamable_http_client`."""
MAX_NAME = 64
MAX_DESCRIPTION = 4_000
MAX_SCHEMA = 50_000
MAX_IMAGES = 8
MAX_STORED = 10_000
"""Maximum characters of an accepted entry to store for a later comparison."""
MAX_SHOWN = 20_000
"""Maximum characters of a resource on the card."""
_MAX_ERROR = 2_000
PROGRESS_PAUSE = 0.1
"""Minimum seconds between progress lines; lines in between are dropped."""
_ANY: Json = {"type": "object", "properties": {}, "additionalProperties": True}
_HINTS = (
    ("readOnlyHint", "only reads"),
    ("destructiveHint", "may destroy data"),
    ("idempotentHint", "has the same effect if repeated"),
    ("openWorldHint", "reaches the outside world"),
)
ServerState = Literal["not started", "starting", "running", "ended"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    name: str
    """The name on the server; `spec.name` is the name for the model."""
    spec: ToolSpec
    label: str
    entry: str
    """The server's entry as JSON: what the user accepts. A very long one is replaced by its hash where it is stored."""
    output_schema: Json | None = None
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return _short(self.name)

    @property
    def digest(self) -> str:
        return self.entry if len(self.entry) <= MAX_STORED else sha256(self.entry)


def listed_tools(server: str, listing: Iterable[Json]) -> list[ListedTool]:
    """Return the tools of a server from the `tools` of its `tools/list` answer."""
    tools: dict[str, ListedTool] = {}
    used_names: set[str] = set()
    for raw in listing:
        name = str(raw.get("name", ""))
        if name in tools:
            note = f"The server lists `{_short(name)}` twice; the first one is used."
            tools[name] = replace(tools[name], notes=(*tools[name].notes, note))
            continue
        tool = _listed(server, name, raw, used_names)
        used_names.add(tool.spec.name)
        tools[name] = tool
    return list(tools.values())


def _listed(server: str, name: str, raw: Json, used_names: set[str]) -> ListedTool:
    wire_name, renamed = _wire_name(server, name, used_names)
    schema, replaced = _usable_schema(name, raw.get("inputSchema"))
    annotations = raw.get("annotations") or {}
    title = raw.get("title") or annotations.get("title") or name
    entry = {key: raw.get(key) for key in ("name", "title", "description", "inputSchema", "annotations")}
    return ListedTool(
        name=name,
        spec=ToolSpec(
            name=wire_name, description=_description(server, raw, annotations, title), schema=schema
        ),
        label=_short(f"{server}: {printable_line(str(title))}", 80),
        entry=json.dumps(entry, sort_keys=True, indent=1, ensure_ascii=False),
        output_schema=raw.get("outputSchema"),
        notes=tuple(note for note in (renamed, replaced) if note),
    )


def wire_prefix(server: str) -> str:
    return f"{re.sub(r'[^a-zA-Z0-9_-]', '_', server)[:24]}__"


def _wire_name(server: str, name: str, used_names: set[str]) -> tuple[str, str]:
    """Return a unique name such as `weather__forecast`, and a note for the user if it was changed."""
    full_name = wire_prefix(server) + name
    mapped = re.sub(r"[^a-zA-Z0-9_-]", "_", full_name)
    reason = "has other characters" if mapped != full_name else ""
    if len(mapped) > MAX_NAME or mapped in used_names:
        reason = "is too long" if len(mapped) > MAX_NAME else "is taken"
        mapped = f"{mapped[: MAX_NAME - 7]}_{sha256(name)[:6]}"
    note = f"`{_short(name)}` is called `{mapped}` for the model: its name {reason}." if reason else ""
    return mapped, note


def _usable_schema(name: str, schema: Any) -> tuple[Json, str]:
    """Return the schema, or one that accepts any object and the reason."""
    problem = ""
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        problem = "is not that of an object"
    elif len(json.dumps(schema)) > MAX_SCHEMA:
        problem = f"has more than {MAX_SCHEMA:,} characters"
    else:
        try:
            compile_schema(schema)
        except ToolError as error:
            problem = printable_line(f"is invalid: {error.__cause__}")
    if problem:
        return _ANY, f"The schema of `{_short(name)}` {problem[:200].rstrip('.')}. The model does not get it."
    return {**schema, "type": "object", "properties": schema.get("properties", {})}, ""


def _description(server: str, raw: Json, annotations: Json, title: str) -> str:
    text = shortened(showable_text(str(raw.get("description") or title)).strip(), MAX_DESCRIPTION)
    hints = [words for key, words in _HINTS if annotations.get(key) is True]
    claim = f" The server says that it {' and '.join(hints)}; nobody has checked that." if hints else ""
    return f"{text}\n(A tool of the MCP server `{server}`.{claim})"


def _short(text: str, limit: int = 60) -> str:
    return safe_line(text, limit)


def submit(work: Coroutine[Any, Any, T]) -> "Future[T]":
    """Run a coroutine on the connections' loop. Cancelling the future cancels the coroutine."""
    return asyncio.run_coroutine_threadsafe(work, background_loop("mcp"))


async def on_thread(work: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine on the connections' loop, from any other loop."""
    return await asyncio.wrap_future(submit(work))


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the connections' loop and block until it is done. An interrupt cancels it."""
    future = submit(work)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


class Server:
    """One server and its tools. `start` and tool calls may come from any event loop."""

    def __init__(self, config: ServerConfig) -> None:
        self.config, self.name = config, config.name
        self.problem = ""
        """Why the server is not running, as a sentence; empty if it runs or was never started."""
        self.accepted: dict[str, str] = {}
        """Digests of the tools that the user has accepted, by name on the server."""
        self._listed: tuple[ListedTool, ...] = ()
        self._raw: object = None
        self._connection: Connection | None = None
        self._lock: asyncio.Lock | None = None
        self._starting = self._stopped = False
        self._suspect = False
        """Whether a call timed out and none has succeeded since."""
        self._may_restart = True
        self._calls = 0

    @property
    def state(self) -> ServerState:
        if self._starting:
            return "starting"
        if self._connection is None:
            return "ended" if self.problem else "not started"
        return "running" if self._connection.is_open else "ended"

    @property
    def listed(self) -> tuple[ListedTool, ...]:
        connection = self._connection
        if connection is not None and connection.is_open and connection.listing is not self._raw:
            self._read_listing(connection)
        return self._listed

    @property
    def changed(self) -> list[ListedTool]:
        return [tool for tool in self.listed if self.accepted.get(tool.name, tool.digest) != tool.digest]

    @property
    def tools(self) -> list[Tool]:
        """The tools to offer, without those that have changed since they were accepted."""
        changed_names = {tool.name for tool in self.changed}
        return [self._tool(tool) for tool in self.listed if tool.name not in changed_names]

    @property
    def notes(self) -> list[str]:
        """Notes about the tools for the user."""
        notes = [note for tool in self.listed for note in tool.notes]
        notes += self._connection.notes if self._connection else ()
        return [*notes, *self.refusals]

    @property
    def refusals(self) -> list[str]:
        """Which tools are not offered, for the user."""
        why = "is not offered: the server has changed its description or schema."
        return [f"`{tool.shown}` {why}" for tool in self.changed]

    def change_of(self, tool: ListedTool) -> str:
        """The change of a tool since it was accepted, as a diff; the whole entry if that is not known."""
        accepted, now = self.accepted[tool.name], tool.entry.split("\n")
        before = accepted.split("\n") if accepted.startswith("{") else []
        return "\n".join([*difflib.unified_diff(before, now, n=1, lineterm="")][2:])

    def accept(self) -> None:
        """Accept all tools in their current version."""
        self.accepted = {tool.name: tool.digest for tool in self.listed}

    async def start(self) -> None:
        """Start the server if it is not running; raises `AgentError` if it cannot start."""
        check_installed()
        connection = await on_thread(self._connected(restart=True))
        await on_thread(connection.up_to_date())

    async def stop(self) -> None:
        """End the server. Only `start` restarts it, so that a late call leaves no process behind."""
        self._stopped = True
        if self._lock is not None:
            await on_thread(self._end())

    async def _end(self) -> None:
        assert self._lock is not None
        async with self._lock:
            await self._close()

    def _tool(self, listed: ListedTool) -> Tool:
        async def run(args: Json, context: ToolContext) -> ToolOutput:
            result = await on_thread(self._call(listed, args, context.progress))
            return await in_thread(lambda: to_output(self.name, result, listed.output_schema))

        return Tool(
            spec=listed.spec,
            run=run,
            title=lambda args: listed.label,
            approval="ask",
            identical_only=True,
            origin=f"mcp:{self.name}/{listed.name}",
            timeout=None,  # `_call` has its own timeout, after which the server is restarted
        )

    async def _call(self, listed: ListedTool, args: Json, progress: Callable[[str], None]) -> Json:
        from agent_nb.tools.mcp.connection import ConnectionLostError, describe

        connection = await self._connected()
        now = {tool.name: tool.digest for tool in self._listed}
        if now.get(listed.name) != listed.digest:
            raise ToolError(
                f"The MCP server `{self.name}` has changed or removed `{listed.name}` since this run began.",
                hint="Go on without it.",
            )
        work = asyncio.create_task(connection.call(listed.name, args, _progress_lines(progress)))
        await self._wait(work)
        try:
            result = work.result()
        except ConnectionLostError as error:
            self.problem = str(error)
            raise self._failure("has ended during the call.", str(error)) from None
        except Exception as error:  # the package raises arbitrary errors for an invalid answer
            raise self._failure("answered with an error.", describe(error)) from None
        self._may_restart, self._suspect = True, False
        connection.list_again()  # a call, such as a login, may have changed the list
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def _wait(self, work: "asyncio.Task[Any]") -> None:
        """Wait for the answer to a call, and cancel the call after its timeout."""
        work.add_done_callback(lambda task: task.cancelled() or task.exception())  # else asyncio logs it
        self._calls += 1
        try:
            await asyncio.wait({work}, timeout=self.config.timeout)
        finally:
            self._calls -= 1
            work.cancel()  # no-op if it is done
        if not work.done():
            self._suspect = True
            raise ToolError(
                f"The MCP server `{self.name}` did not answer within {self.config.timeout:g} seconds.",
                code="TIMEOUT",
                hint="Ask it for less. The next call may start it again.",
            )

    async def _connected(self, *, restart: bool = False) -> "Connection":
        """Return the open connection, or open one. A server that ended again is not restarted unless the user asks."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        async with self._lock:
            if self._stopped and not restart:
                raise self._failure("has been ended.", "")
            self._stopped = False
            hangs = self._suspect and not self._calls  # other calls may still be answered
            if self._connection and self._connection.is_open and not hangs:
                return self._connection
            if self._connection or self.problem:
                if not self._may_restart and not restart:
                    raise self._failure("has ended, also after it was started again.", self.problem)
                self._may_restart = False
                await self._close()
            return await self._open()

    async def _open(self) -> "Connection":
        from agent_nb.tools.mcp.connection import Connection

        self._starting = True
        try:
            connection = Connection(self.config)
            await connection.open()
        except AgentError as error:
            self.problem = str(error)
            raise self._failure("could not be started.", self.problem) from None
        finally:
            self._starting = False
        self._connection, self._suspect, self.problem = connection, False, ""
        self._read_listing(connection)
        return connection

    async def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def _read_listing(self, connection: "Connection") -> None:
        self._raw = listing = connection.listing
        raw = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listing]
        self._listed = tuple(listed_tools(self.name, raw))
        for tool in self._listed:
            self.accepted.setdefault(tool.name, tool.digest)

    def _failure(self, action: str, why: str) -> AgentError:
        return AgentError(f"The MCP server `{self.name}` {action} {why}".strip())


class ServerTools(Toolbox):
    """The tools of one server. Each run offers the tools listed when it starts."""

    def __init__(self, server: Server) -> None:
        super().__init__(server.tools)
        self.server = server

    def offered(self, available: Collection[str], *, lean: bool = False) -> Toolbox:
        now = Toolbox(self.server.tools)
        self._tools, self._validators = now._tools, now._validators
        return now

    @property
    def notes(self) -> list[str]:
        """Changes made so that models can call the tools, and the tools that are not offered."""
        return self.server.notes

    def accept(self) -> None:
        """Accept changed descriptions and schemas, so that these tools are offered again."""
        self.server.accept()


@contextlib.asynccontextmanager
async def mcp_server(
    *command: str,
    name: str | None = None,
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
) -> AsyncIterator[ServerTools]:
    """Start an MCP server, or connect to one by URL, and end it after the block.

        async with mcp_server("uvx", "mcp-server-fetch") as tools:
            run = await Agent("anthropic:", tools=tools).run("What is new on example.com?")

    The command receives a minimal environment plus `env`; `headers` apply to a URL. `${VAR}` is replaced by the
    value of that environment variable. Every call asks the user first.
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


def check_installed() -> None:
    if not has_threads():
        raise ConfigError(
            "MCP servers are not available here: they need threads, which Python in a browser lacks."
        )
    if importlib.util.find_spec("mcp") is None:
        raise InstallError('MCP servers need the package `mcp`: `pip install "agent-nb[mcp]"`.')
    installed = version("mcp")
    major, minor = installed.split(".")[:2]
    if (int(major), int(minor)) < LOWEST:
        raise InstallError(
            f"MCP servers need `mcp` {LOWEST[0]}.{LOWEST[1]} or newer, and {installed} is installed:"
            ' `%pip install -U "agent-nb[mcp]"`, then restart the kernel.'
        )


def _progress_lines(report: Callable[[str], None]) -> "ProgressFnT":
    last, ended = 0.0, False

    async def show(progress: float, total: float | None, message: str | None) -> None:
        nonlocal last, ended
        now, ends = time.monotonic(), total is not None and progress >= total and not ended
        if now - last < PROGRESS_PAUSE and not ends:
            return
        last, ended = now, ended or ends
        amount = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        report(f"{message} ({amount})"[:300] if message else amount)

    return show


def to_output(server: str, result: Json, schema: Json | None = None) -> ToolOutput:
    """Convert a `tools/call` answer. Raises `ToolError` if the call failed or violates the server's output schema."""
    parts = _Parts(server)
    for block in result.get("content") or ():
        parts.add(block)
    structured = result.get("structuredContent")
    if structured is not None and not parts.texts:
        parts.texts.append(json.dumps(structured, ensure_ascii=False))
    text = "\n".join(parts.texts)
    if result.get("isError"):
        raise ToolError(text[:_MAX_ERROR] or f"The MCP server `{server}` says that the call failed.")
    if schema is not None:
        _check(server, structured, schema)
    return ToolOutput(text=text or "done", images=tuple(parts.images), outputs=tuple(parts.outputs))


def _check(server: str, structured: Any, schema: Json) -> None:
    try:
        validate = compile_schema(schema)
    except ToolError:  # an invalid schema is ignored
        return
    try:
        validate(structured)
    except ToolError as error:
        broken = error.message.replace("The arguments", "It")
        raise ToolError(f"The MCP server `{server}` broke its own output schema: {broken}") from None


class _Parts:
    def __init__(self, server: str) -> None:
        self._server = server
        self.texts: list[str] = []
        self.images: list[Image] = []
        self.outputs: list[MimeBundle] = []

    def add(self, block: Json) -> None:
        match block:
            case {"type": "text", "text": str(text)}:
                self.texts.append(text)
            case {"type": "image", "data": str(data)}:
                self._add_image(data, f"{self._server}-{len(self.images) + 1}")
            case {"type": "audio", "data": str(data)}:
                self.texts.append(_left_out(f"audio, {block.get('mimeType', '')}", data))
            case {"type": "resource", "resource": {"uri": uri, "text": str(text)}}:
                self.texts.append(f"[resource {uri}]\n{text}")
                self.outputs.append({"text/plain": f"{uri}\n\n{text[:MAX_SHOWN]}"})
            case {"type": "resource", "resource": {"uri": uri, "blob": str(data), **resource}}:
                kind = str(resource.get("mimeType") or "")
                if kind.startswith("image/"):
                    self._add_image(data, str(uri))
                else:
                    self.texts.append(_left_out(f"resource {uri}, {kind or 'binary'}", data))
            case {"type": "resource_link", "uri": uri}:
                name = block.get("title") or block.get("name") or ""
                self.texts.append(f"[link to the resource {uri} {name}".rstrip() + "]")
            case _:
                self.texts.append(f"[content of type {str(block.get('type'))[:40]}, which is not supported]")

    def _add_image(self, data: str, name: str) -> None:
        if len(self.images) >= MAX_IMAGES:
            self.texts.append(f"[a further image, left out: at most {MAX_IMAGES} are sent]")
            return
        try:
            image = to_image(base64.b64decode(data, validate=True), name[:80])
        except (binascii.Error, ConfigError) as error:
            self.texts.append(f"[an image that cannot be read: {error}]")
            return
        self.images.append(image)
        self.texts.append(f"[{image.name}]")
        self.outputs.append({image.media_type: image.base64})


def _left_out(kind: str, data: Any) -> str:
    return f"[{kind}, {len(data) * 3 // 4:,} bytes, left out]"
