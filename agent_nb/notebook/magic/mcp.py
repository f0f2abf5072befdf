"""`%agent mcp`: adds, lists, restarts and removes MCP servers; and `-t mcp:NAME`, which offers their tools."""

import contextlib
import os
import shlex
from collections.abc import Iterable, Sequence

from IPython.core.error import UsageError
from IPython.display import display

from agent_nb._base.constants import ACP
from agent_nb._base.secrets import safe_text
from agent_nb._base.table import Table
from agent_nb._base.text import did_you_mean, printable, sha256
from agent_nb.agents.known import AGENTS
from agent_nb.errors import AgentError
from agent_nb.messages import ToolSpec
from agent_nb.notebook.asking import confirm
from agent_nb.notebook.front_end import is_attended
from agent_nb.notebook.session import Session
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
"""The options of `add`, with what separates a name from its value."""
USAGE = "add NAME COMMAND..., add NAME URL, restart NAME or remove NAME"


def mcp_command(session: Session, rest: str) -> None:
    if not rest:
        list_servers(session)
        return
    try:
        action, *arguments = shlex.split(rest, posix=os.name != "nt")
    except ValueError as error:
        raise UsageError(f"The line cannot be read: {error}.") from None
    try:
        match action, arguments:
            case "add", [name, *command] if command:
                _add(session, name, command)
            case "restart", [name]:
                _restart(session, name)
            case "remove", [name]:
                _remove(session, name)
            case _:
                raise UsageError(f"`{session.command('mcp')}` takes {USAGE}, not {safe_text(rest)!r}.")
    except KeyboardInterrupt:
        raise UsageError("Interrupted, so no server was started.") from None


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
    """Adds the servers of the project's file to the session; returns what is wrong with that file."""
    configs, problems = read_project(session.home)
    for name, server in list(session.servers.items()):
        if server.config.key and (name not in configs or configs[name].key != server.config.key):
            wait_for(server.stop())
            del session.servers[name]
    for name, config in configs.items():
        session.servers.setdefault(name, Server(config))
    return [safe_text(problem) for problem in problems]


def is_server(name: str) -> bool:
    """Whether a value of `-t` names a server, as in `mcp:weather` or `mcp:weather/forecast`."""
    return name.startswith(PREFIX)


def absent_tools(names: Iterable[str]) -> list[Tool]:
    """Stands for the tools of these servers while it is not known whether a cassette has them."""

    def missing(args: object, context: object) -> None:
        raise AssertionError("a replay calls no server")

    found = {}
    for name in names:
        server, _, tool = name.removeprefix(PREFIX).partition("/")
        spec = ToolSpec(name=wire_prefix(server) + "tools", description="", schema={"type": "object"})
        found[server] = Tool(spec=spec, run=missing, title=lambda args: "", origin=f"{PREFIX}{server}/{tool}")  # type: ignore[arg-type]
    return list(found.values())


async def start_tools(session: Session, names: Sequence[str]) -> list[Tool]:
    """Starts the named servers that are not running; returns the tools that are named."""
    found: dict[str, Tool] = {}
    attended = is_attended(session.shell)
    for name in names:
        server_name, _, wanted = name.removeprefix(PREFIX).partition("/")
        server = _find(session, server_name)
        _allow(server, attended=attended)
        await server.start()
        _accept_changes(server, attended=attended)
        tools = {tool.origin.partition("/")[2]: tool for tool in server.tools}
        if wanted and wanted not in tools:
            raise UsageError(_no_tool(server, wanted))
        found |= {tool.name: tool for tool in (tools.values() if not wanted else [tools[wanted]])}
    return list(found.values())


def _allow(server: Server, *, attended: bool) -> None:
    """Asks about a server of the project's file before its first start. Only the user can start one."""
    config = server.config
    if not config.key:
        return
    if not attended:
        raise UsageError(
            f"`{server.name}` stands in {FILE}, and nobody is there to start it. Use a cassette."
        )
    if is_allowed(config):
        server.accepted = accepted_tools(config) | server.accepted
        return
    what = "connect to" if config.url else "start"
    question = f"{FILE} asks to {what} the MCP server `{server.name}`:{description(config)}"
    if not confirm(f"{question}\nIt can do on this machine what you can. Allow it from now on?"):
        raise UsageError(f"`{server.name}` was not started, because you did not allow it.")
    remember(config, {})


def allow_agents(session: Session, models: Iterable[str]) -> None:
    """Asks about outside agents with a command of the user's own: a notebook that was sent to them may set it."""
    for name in models:
        vendor, _, known = name.partition(":")
        agent = AGENTS.get(known) if vendor == ACP else None
        if agent is None or not agent.is_own:
            continue
        config = ServerConfig(name=name, command=agent.command, key=sha256(f"{name} {agent.command}"))
        if is_allowed(config):
            continue
        question = f"The cell starts the outside agent `{name}`:{description(config)}"
        answer = f"{question}\nIt can do on this machine what you can. Allow it from now on?"
        if not is_attended(session.shell) or not confirm(answer):
            raise UsageError(f"`{name}` was not started: its command is new, and you have not allowed it.")
        remember(config, {})


def _accept_changes(server: Server, *, attended: bool) -> None:
    """Asks about tools that the server describes differently now; without a yes they are not offered."""
    if changed := server.changed:
        described = "".join(
            f"\n  {tool.shown}: {printable(safe_text(' '.join(tool.spec.description.split())), keep='')}"
            for tool in changed
        )
        question = f"The MCP server `{server.name}` has changed what it says about its tools:{described}\nOffer them?"
        if attended and confirm(question):
            server.accept()
        else:
            print("\n".join(note for note in server.notes if note.endswith("what it says.")))
    if server.config.key and accepted_tools(server.config) != server.accepted:
        remember(server.config, server.accepted)


def _add(session: Session, name: str, arguments: Sequence[str]) -> None:
    check_installed()
    if not name.replace("-", "_").isidentifier():
        raise UsageError(f"{name!r} is not a valid name. Use letters, digits, _ and -, such as `weather`.")
    env, headers, command = _read(arguments)
    server = Server(server_config(command, name=name, env=env, headers=headers, folder=session.home))
    if old := session.servers.pop(name, None):
        wait_for(old.stop())
    wait_for(server.start())
    session.servers[name] = server
    _say_started(session, server)


def _read(arguments: Sequence[str]) -> tuple[dict[str, str], dict[str, str], tuple[str, ...]]:
    """`-e NAME`, `-e NAME=VALUE` and `-H 'Name: value'`, up to the command."""
    given: dict[str, dict[str, str]] = {"=": {}, ":": {}}
    rest = list(arguments)
    while rest and (mark := _FLAGS.get(rest[0])):
        name, found, value = (rest[1] if len(rest) > 1 else "").partition(mark)
        if not name.strip() or (mark == ":" and not found):
            raise UsageError(
                f"{rest[0]} takes {'NAME or NAME=VALUE' if mark == '=' else repr('Name: value')}."
            )
        given[mark][name.strip()] = value.strip() if found else f"${{{name.strip()}}}"
        rest = rest[2:]
    return given["="], given[":"], tuple(rest[1:] if rest[:1] == ["--"] else rest)


def _restart(session: Session, name: str) -> None:
    server = _find(session, name)
    attended = is_attended(session.shell)
    _allow(server, attended=attended)
    wait_for(server.stop())
    wait_for(server.start())
    _accept_changes(server, attended=attended)
    _say_started(session, server)


def _say_started(session: Session, server: Server) -> None:
    tools = ", ".join(tool.shown for tool in server.listed) or "no tools"
    print(f"`{server.name}` is running: {tools}. Offer them to a model with `-t {PREFIX}{server.name}`.")
    for note in server.notes:
        print(note)


def _remove(session: Session, name: str) -> None:
    server = _find(session, name)
    wait_for(server.stop())
    if server.config.key:
        print(f"Ended `{name}`. It stands in {FILE}: remove it there.")
        return
    del session.servers[name]
    print(f"Removed `{name}`.")


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
    raise UsageError(" ".join([f"There is no MCP server {name!r}. {hint}", *problems]))


def _no_tool(server: Server, wanted: str) -> str:
    names = [tool.name for tool in server.listed]
    if wanted in names:
        return f"`{wanted}` of the MCP server `{server.name}` has changed and was not accepted."
    hint = did_you_mean(wanted, names) or f"It has {', '.join(names) or 'none'}."
    return f"The MCP server `{server.name}` has no tool {wanted!r}. {hint}"


def stop_servers(session: Session) -> None:
    for server in session.servers.values():
        with contextlib.suppress(AgentError):
            wait_for(server.stop())
    session.servers.clear()
