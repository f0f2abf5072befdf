"""`%agent mcp`, which adds, lists, restarts and removes MCP servers, and `-t mcp:NAME`, which offers their tools."""

import contextlib
import os
import shlex
from collections.abc import Iterable, Sequence

from IPython.display import display

from agent_nb._base.constants import ACP
from agent_nb._base.table import Table
from agent_nb._base.text import did_you_mean, printable, sha256
from agent_nb.acp.known import AGENTS
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.core.messages import ToolSpec
from agent_nb.notebook.front_end import say
from agent_nb.notebook.session import Session
from agent_nb.providers import full_name
from agent_nb.tools import Tool
from agent_nb.tools.mcp.server import Server, check_installed, wait_for, wire_prefix
from agent_nb.tools.mcp.server_config import (
    FILE,
    ServerConfig,
    accepted_tools,
    description,
    is_allowed,
    read_project,
    remember,
    server_config,
)

PREFIX = "mcp:"
_FLAGS = {"-e": "=", "--env": "=", "-H": ":", "--header": ":"}
"""The options of `add`, each with the separator between name and value."""
USAGE = "add NAME COMMAND..., add NAME URL, restart NAME or remove NAME"


def mcp_command(session: Session, arguments: str) -> None:
    if not arguments:
        list_servers(session)
        return
    try:
        action, *operands = shlex.split(arguments, posix=os.name != "nt")
    except ValueError as error:
        raise ConfigError(f"The line cannot be read: {error}.") from None
    try:
        match action, operands:
            case "add", [name, *command] if command:
                _add(session, name, command)
            case "restart", [name]:
                _restart(session, name)
            case "remove", [name]:
                _remove(session, name)
            case _:
                raise ConfigError(f"`{session.command('mcp')}` takes {USAGE}, not {arguments!r}.")
    except KeyboardInterrupt:
        raise ConfigError("Interrupted, so no server was started.") from None


def list_servers(session: Session) -> None:
    problems = read_servers(session)
    rows = [
        (server.name, _state(server), server.config.shown, ", ".join(tool.shown for tool in server.listed))
        for server in session.servers.values()
    ]
    notes = [*problems] + [
        f"{server.name}: {note}" for server in session.servers.values() for note in server.notes
    ]
    none = f"No MCP servers. `{session.command('mcp add NAME COMMAND...')}` adds one."
    empty = "\n".join([none, *problems])
    display(Table(("server", "state", "started with", "tools"), rows, empty, "\n".join(notes)))


def read_servers(session: Session) -> list[str]:
    """Add the servers of the project's file to the session; return the problems in that file."""
    configs, problems = read_project(session.home)
    for name, server in list(session.servers.items()):
        if server.config.key and (name not in configs or configs[name].key != server.config.key):
            wait_for(server.stop())
            del session.servers[name]
    for name, config in configs.items():
        session.servers.setdefault(name, Server(config))
    return [*problems]


def is_server(name: str) -> bool:
    """Whether a value of `-t` names a server, as in `mcp:weather` or `mcp:weather/forecast`."""
    return name.startswith(PREFIX)


def absent_tools(names: Iterable[str]) -> list[Tool]:
    """Placeholders for the tools of the servers in `names`, which start only if no cassette matches."""

    def missing(args: object, context: object) -> None:
        raise AssertionError("a replay calls no server")

    tools = {}
    for name in filter(is_server, names):
        server, _, tool = name.removeprefix(PREFIX).partition("/")
        spec = ToolSpec(name=wire_prefix(server) + "tools", description="", schema={"type": "object"})
        tools[server] = Tool(spec=spec, run=missing, title=lambda args: "", origin=f"{PREFIX}{server}/{tool}")  # type: ignore[arg-type]
    return list(tools.values())


async def start_tools(session: Session, names: Sequence[str]) -> list[Tool]:
    """Start the servers in `names` that are not running; return the selected tools."""
    selected: dict[str, Tool] = {}
    for name in filter(is_server, names):
        server_name, _, tool_name = name.removeprefix(PREFIX).partition("/")
        server = _find(session, server_name)
        _allow(session, server)
        await server.start()
        _accept_changes(session, server)
        tools = {tool.origin.partition("/")[2]: tool for tool in server.tools}
        if tool_name and tool_name not in tools:
            raise ConfigError(_no_tool(server, tool_name))
        selected |= {tool.name: tool for tool in (tools.values() if not tool_name else [tools[tool_name]])}
    return list(selected.values())


def _allow(session: Session, server: Server) -> None:
    """Ask for consent before the first start of a server from the project's file."""
    config = server.config
    if not config.key:
        return
    if not session.is_attended():
        raise ConfigError(
            f"`{server.name}` is defined in {FILE}, and unattended notebooks cannot start it. Use a cassette."
        )
    if is_allowed(config):
        server.accepted = accepted_tools(config) | server.accepted
        return
    action = "connect to" if config.url else "start"
    if not _consents(session, config, f"{FILE} asks to {action} the MCP server `{server.name}`"):
        raise ConfigError(f"`{server.name}` was not started, because you did not allow it.")


def _consents(session: Session, config: ServerConfig, question: str) -> bool:
    """Ask whether the program may be started from now on, and remember a yes."""
    answer = session.confirm(
        f"{question}:{description(config)}\nIt can do on this machine what you can. Allow it from now on?"
    )
    if answer:
        remember(config, {})
    return answer


def allow_agents(session: Session, models: Iterable[str]) -> None:
    """Ask for consent to custom commands of outside agents: a notebook from someone else may set one."""
    for name in dict.fromkeys(full_name(model).partition("/")[0] for model in models):
        vendor, _, agent_name = name.partition(":")
        agent = AGENTS.get(agent_name) if vendor == ACP else None
        if agent is None or not agent.is_own:
            continue
        question = f"The cell starts the outside agent `{printable(name, keep='')}`"
        config = ServerConfig(name=name, command=agent.command, key=sha256(f"{name} {agent.command}"))
        allowed = is_allowed(config) or (session.is_attended() and _consents(session, config, question))
        if not allowed:
            raise ConfigError(f"`{name}` was not started: its command is new, and you have not allowed it.")


def _accept_changes(session: Session, server: Server) -> None:
    """Ask about tools that have changed; they are offered only if the user agrees."""
    if tools := server.changed:
        lines = [line for tool in tools for line in (f"`{tool.shown}`:", *server.change_of(tool).split("\n"))]
        changes = "".join(f"\n  {printable(line, keep='')}" for line in lines)
        question = f"The MCP server `{server.name}` has changed its tools:{changes}\nOffer them?"
        if session.is_attended() and session.confirm(question):
            server.accept()
        else:
            say("\n".join(server.refusals))
    if server.config.key and accepted_tools(server.config) != server.accepted:
        remember(server.config, server.accepted)


def _add(session: Session, name: str, arguments: Sequence[str]) -> None:
    check_installed()
    if not name.replace("-", "_").isidentifier():
        raise ConfigError(f"{name!r} is not a valid name. Use letters, digits, _ and -, such as `weather`.")
    env, headers, command = _read(arguments)
    server = Server(server_config(command, name=name, env=env, headers=headers, folder=session.home))
    if previous := session.servers.pop(name, None):
        wait_for(previous.stop())
    wait_for(server.start())
    session.servers[name] = server
    _print_started(server)


def _read(arguments: Sequence[str]) -> tuple[dict[str, str], dict[str, str], tuple[str, ...]]:
    """The environment, the headers and the command of `[-e NAME[=VALUE]] [-H 'Name: value'] COMMAND...`."""
    values: dict[str, dict[str, str]] = {"=": {}, ":": {}}
    remaining = list(arguments)
    while remaining and (mark := _FLAGS.get(remaining[0])):
        name, separator, value = (remaining[1] if len(remaining) > 1 else "").partition(mark)
        if not name.strip() or (mark == ":" and not separator):
            raise ConfigError(
                f"{remaining[0]} takes {'NAME or NAME=VALUE' if mark == '=' else repr('Name: value')}."
            )
        values[mark][name.strip()] = value.strip() if separator else f"${{{name.strip()}}}"
        remaining = remaining[2:]
    return values["="], values[":"], tuple(remaining[1:] if remaining[:1] == ["--"] else remaining)


def _restart(session: Session, name: str) -> None:
    server = _find(session, name)
    _allow(session, server)
    wait_for(server.stop())
    wait_for(server.start())
    _accept_changes(session, server)
    _print_started(server)


def _print_started(server: Server) -> None:
    tools = ", ".join(tool.shown for tool in server.listed) or "no tools"
    say(f"`{server.name}` is running: {tools}. Offer them to a model with `-t {PREFIX}{server.name}`.")
    for note in server.notes:
        say(note)


def _remove(session: Session, name: str) -> None:
    server = _find(session, name)
    wait_for(server.stop())
    if server.config.key:
        say(f"Stopped `{name}`. It is defined in {FILE}: remove it there.")
        return
    del session.servers[name]
    say(f"Removed `{name}`.")


def _state(server: Server) -> str:
    if server.state == "ended" and server.problem:
        return f"ended: {server.problem}"
    return server.state if is_allowed(server.config) else "not started; asks first"


def _find(session: Session, name: str) -> Server:
    problems = read_servers(session)
    if server := session.servers.get(name):
        return server
    add = session.command(f"mcp add {name or 'NAME'} COMMAND...")
    hint = did_you_mean(name, session.servers) or f"`{add}` adds one."
    raise ConfigError(" ".join([f"There is no MCP server {name!r}. {hint}", *problems]))


def _no_tool(server: Server, tool_name: str) -> str:
    names = [tool.name for tool in server.listed]
    if tool_name in names:
        return f"`{tool_name}` of the MCP server `{server.name}` has changed and was not accepted."
    hint = did_you_mean(tool_name, names) or f"It has {', '.join(names) or 'none'}."
    return f"The MCP server `{server.name}` has no tool {tool_name!r}. {hint}"


def stop_servers(session: Session) -> None:
    for server in session.servers.values():
        with contextlib.suppress(AgentError):
            wait_for(server.stop())
    session.servers.clear()
