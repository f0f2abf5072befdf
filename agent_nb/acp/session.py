"""Starts an agent and opens a session in which it asks for approval. Errors are one sentence with the remedy."""

import asyncio
import contextlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_nb._base.constants import VERSION
from agent_nb._base.log import log
from agent_nb._base.program import Program, ProgramError
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json, as_object, parse_json
from agent_nb.acp.folder import Folder
from agent_nb.acp.known import KnownAgent
from agent_nb.acp.mapping import objects_in, offered_models
from agent_nb.acp.offered import not_offered, showable, store_models
from agent_nb.core.errors import AgentError
from agent_nb.core.messages import Document, Image, Message, Text
from agent_nb.images.pdf import document_text
from agent_nb.providers.base import Request

if TYPE_CHECKING:
    from agent_nb.acp.kernel_server import KernelServer

METHOD_NOT_FOUND = -32601
_POLL = 0.2
"""Poll interval in seconds for the process's end: a child may keep the pipes open."""
START_LIMIT = 120.0
"""Start timeout in seconds. On a busy machine some agents need more than twenty."""
PROTOCOL = 1
AUTH_REQUIRED = (-32000, 401, 403)
_HISTORY_LIMIT = 100_000
"""Maximum characters of an earlier conversation in a prompt."""


class RpcError(AgentError):
    """The agent answered a request with an error."""

    def __init__(self, error: Any) -> None:
        fields = error if isinstance(error, dict) else {}
        self.code = fields.get("code")
        data = fields.get("data")
        details = data.get("details") or data.get("message") if isinstance(data, dict) else data
        texts = [str(text) for text in (fields.get("message"), details) if text]
        super().__init__(": ".join(dict.fromkeys(texts)) or "an error without a message")


class AgentLostError(AgentError):
    """The agent has ended, or its output is no longer valid."""


class AgentConnection:
    """JSON-RPC with an agent's process, one message per line, in order.

    Replaces the protocol's SDK, which hangs if the agent writes much to stderr, handles updates out of order, ends
    at a line that is JSON but not an object, drops fields outside its schema, and takes seconds to import.
    """

    def __init__(self, agent: KnownAgent, program: Program) -> None:
        self._agent, self._program = agent, program
        self.incoming: asyncio.Queue[Json | Exception] = asyncio.Queue()
        """Requests and notifications of the agent, answers to `send_request`, and finally the error that ended it."""
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0
        self._error: AgentLostError | None = None
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._watch())]

    async def request(self, method: str, params: Json) -> Any:
        """Send a request and wait for its result; raise `RpcError` or `AgentLostError`."""
        number = self._last_id + 1
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            await self.send_request(method, params)
            return await answer
        finally:
            del self._answers[number]

    async def send_request(self, method: str, params: Json) -> int:
        """Send a request whose answer arrives among the other messages; return its id."""
        self._last_id = number = self._last_id + 1
        await self._send({"id": number, "method": method, "params": params})
        return number

    async def cancel(self, session: str) -> None:
        await self._send({"method": "session/cancel", "params": {"sessionId": session}})

    async def answer(self, request: Json, result: Any = None, *, refused: str = "") -> None:
        """Answer a request of the agent; a no-op if it has ended."""
        content = {"error": {"code": METHOD_NOT_FOUND, "message": refused}} if refused else {"result": result}
        with contextlib.suppress(AgentLostError):
            await self._send({"id": request["id"], **content})

    async def close(self) -> None:
        """End the agent and its child processes."""
        for task in self._tasks:
            task.cancel()
        await self._program.end()

    def failure(self, error: Exception) -> AgentError:
        """The error as one sentence with the remedy."""
        agent, last_line = self._agent, self._program.last_line
        output = f" It wrote: {last_line}" if last_line else ""
        if isinstance(error, TimeoutError):
            text = f"did not start within {START_LIMIT:g} seconds.{output}"
        elif isinstance(error, RpcError) and error.code in AUTH_REQUIRED:
            keys = f", or set {agent.keys[0]}" if agent.keys else ""
            login = f" Run `{agent.login}` in a terminal to log in{keys}." if agent.login else ""
            text = f"is not logged in: {str(error).rstrip('.')}.{login}"
        elif isinstance(error, RpcError):
            text = f"failed: {str(error).rstrip('.')}."
        else:
            text = f"has ended. {error}{output}"
        return AgentError(f"{agent.title} {text}")

    async def _send(self, message: Json) -> None:
        if self._error:
            raise self._error
        try:
            await self._program.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        except OSError:
            self._lose("It no longer reads its input.")
            raise self._error or AgentLostError from None

    async def _read(self) -> None:
        async for line in self._program.lines():
            message = parse_json(line)
            if not isinstance(message, dict) or isinstance(message.get("id"), list | dict):
                log.debug("an agent sent a line that is not a message: %.200r", line)
            elif "method" not in message and message.get("id") in self._answers:
                self._settle(self._answers[message["id"]], message)
            else:
                self.incoming.put_nowait(message)
            await asyncio.sleep(0)  # buffered lines would block the event loop
        await self._program.wait()
        self._lose(self._program.problem)

    def _settle(self, answer: "asyncio.Future[Any]", message: Json) -> None:
        if answer.done():
            return
        if "error" in message:
            answer.set_exception(RpcError(message["error"]))
        else:
            answer.set_result(message.get("result"))

    async def _watch(self) -> None:
        while self._program.exit_code is None:  # noqa: ASYNC110 - there is nothing to wait for
            await asyncio.sleep(_POLL)
        await self._program.wait()  # reads its remaining output
        self._lose("")

    def _lose(self, problem: str) -> None:
        if self._error:
            return
        code = self._program.exit_code
        default = "It closed its output." if code is None else f"It ended with code {code}."
        self._error = AgentLostError(problem or default)
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(self._error)
        self.incoming.put_nowait(self._error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    agent: KnownAgent
    folder: Path
    server: "KernelServer | None" = None
    """The MCP server that is offered to the agent."""
    wants_tools: bool = False
    """Whether the user requested its tools."""
    auto: bool = False
    """Whether everything is approved."""
    model: str = ""
    """Empty for the agent's default."""
    effort: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSession:
    """An open session of a running agent."""

    agent: KnownAgent
    connection: AgentConnection
    id: str
    title: str
    """The agent's name and reported version."""
    older: str
    """Advice to update an old version; empty if the version is recent."""
    takes_images: bool
    sends_ids: bool
    """Whether the agent gives ids to the model's text, so that text without an id is its own."""
    models: Mapping[str, str]
    """The models it offers, by id with their names."""

    async def prompt(self, request: Request) -> int:
        """Send a prompt and return its id. The answer with this id arrives after all updates."""
        blocks = await off_loop(self._blocks, request)
        return await self.connection.send_request("session/prompt", {"sessionId": self.id, "prompt": blocks})

    def _blocks(self, request: Request) -> list[Json]:
        *history, question = request.messages
        # Agents may ignore files that are not text.
        documents = [document_text(part) for part in question.parts if isinstance(part, Document)]
        texts = [request.system, conversation_text(history), question.text, *documents]
        blocks: list[Json] = [{"type": "text", "text": "\n\n".join(filter(None, texts))}]
        images = [part for part in question.parts if isinstance(part, Image)]
        if images and not self.takes_images:
            raise AgentError(f"{self.agent.title} does not accept images. Leave them out.")
        blocks += [{"type": "image", "mimeType": image.media_type, "data": image.base64} for image in images]
        return blocks


def conversation_text(history: Sequence[Message]) -> str:
    """An earlier conversation as text, because the agent cannot continue its session."""
    names = {"user": "User", "assistant": "You"}
    lines = [
        f"{names[message.role]}: {text}"
        for message in history
        if message.role in names
        and (text := "\n".join(part.text for part in message.parts if isinstance(part, Text)).strip())
    ]
    if not lines:
        return ""
    return "The conversation so far:\n\n" + "\n\n".join(lines)[-_HISTORY_LIMIT:] + "\n\nThe request now:"


async def ask_models(agent: KnownAgent) -> Mapping[str, str]:
    """Start the agent to ask which models it offers, by id with their names."""
    folder = Folder(f"models-{secrets.token_hex(4)}")
    try:
        session = await open_session(Start(agent=agent, folder=folder.path))
        await session.connection.close()
        return session.models
    finally:
        folder.remove()


async def open_session(start: Start) -> AgentSession:
    """Start the agent; raise `AgentError` if it cannot open a session in which it asks for approval."""
    agent = start.agent
    env = agent.environment(with_tools=start.server is not None)
    try:
        program = await Program.start(agent.command, env=env, folder=start.folder)
    except ProgramError as error:
        raise AgentError(f"{agent.title} could not be started. {error}") from None
    connection = AgentConnection(agent, program)
    try:
        async with asyncio.timeout(START_LIMIT):
            return await _initialize(start, connection)
    except BaseException as error:
        if start.server:
            start.server.close()
        await asyncio.shield(connection.close())
        if isinstance(error, TimeoutError | RpcError | AgentLostError):
            raise connection.failure(error) from None
        raise


async def _initialize(start: Start, connection: AgentConnection) -> AgentSession:
    agent = start.agent
    capabilities = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    client = {"name": "agent_nb", "title": "agent_nb", "version": VERSION}
    about = as_object(
        await connection.request(
            "initialize",
            {"protocolVersion": PROTOCOL, "clientInfo": client, "clientCapabilities": capabilities},
        )
    )
    if (protocol := about.get("protocolVersion")) != PROTOCOL:
        raise AgentError(
            f"{agent.title} uses version {protocol} of the protocol, not {PROTOCOL}. {agent.install}"
        )
    info, offers = as_object(about.get("agentInfo")), as_object(about.get("agentCapabilities"))
    takes_servers = as_object(offers.get("mcpCapabilities")).get("http")
    servers = [start.server.offer] if start.server and takes_servers else []
    if start.wants_tools and not servers:
        raise AgentError(f"{agent.title} accepts no tools from the notebook. Leave out `-t`.")
    params: Json = {"cwd": str(start.folder), "mcpServers": servers}
    response = as_object(await connection.request("session/new", params))
    session = str(response.get("sessionId") or "")
    option, models = offered_models(response)
    await off_loop(store_models, agent.name, models)
    options = response.get("configOptions")
    if start.model:
        if start.model not in models:
            raise not_offered(agent, start.model, models)
        options = await _set_model(start, connection, session, option) or options
    # After the model is set: an agent may then change its mode and its efforts.
    await _choose_mode(start, connection, session, as_object(response.get("modes")))
    if start.effort:
        await _choose_effort(start, connection, session, options)
    version = str(info.get("version") or "")
    return AgentSession(
        agent=agent,
        connection=connection,
        id=session,
        title=f"{agent.title} {version}".strip(),
        older=agent.older_than_tested(version),
        takes_images=bool(as_object(offers.get("promptCapabilities")).get("image")),
        sends_ids=str(info.get("name")).startswith("@agentclientprotocol/"),
        models=showable(models),
    )


async def _set_model(start: Start, connection: AgentConnection, session: str, option: str) -> Any:
    """Set the model, by the option with this id if there is one; return the options for this model if known."""
    if not option:
        await connection.request("session/set_model", {"sessionId": session, "modelId": start.model})
        return None
    choice = {"sessionId": session, "configId": option, "value": start.model}
    return as_object(await connection.request("session/set_config_option", choice)).get("configOptions")


async def _choose_mode(start: Start, connection: AgentConnection, session: str, modes: Json) -> None:
    """Set the mode in which the agent asks for approval; raise `AgentError` if there is none."""
    agent = start.agent
    available = [str(mode.get("id")) for mode in objects_in(modes.get("availableModes"))]
    candidates = [mode for mode in (*(agent.auto_modes if start.auto else ()), agent.mode) if mode]
    mode = next((mode for mode in candidates if mode in available), None)
    if candidates and mode is None:
        raise AgentError(
            f"{agent.title} has no mode {candidates[-1]!r}, in which it asks before it acts. It was tested with"
            f" {agent.tested}: {agent.install}"
        )
    if mode and (start.model or mode != modes.get("currentModeId")):
        await connection.request("session/set_mode", {"sessionId": session, "modeId": mode})


async def _choose_effort(start: Start, connection: AgentConnection, session: str, options: Any) -> None:
    rows = (option for option in objects_in(options) if option.get("category") == "thought_level")
    setting = next(rows, {})
    values = [value.get("value") for value in objects_in(setting.get("options"))]
    if start.effort not in values:
        available = f" It has {', '.join(map(str, values))}." if values else ""
        raise AgentError(f"{start.agent.title} has no effort {start.effort!r}.{available}")
    choice = {"sessionId": session, "configId": setting["id"], "value": start.effort}
    await connection.request("session/set_config_option", choice)
