"""`%agent lend`: opens the run, the server and the file by which `agent-nb mcp` finds them."""

import asyncio
import atexit
import contextlib
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.text import listed, plural
from agent_nb.features.lend import LEND
from agent_nb.features.lend.desk import Desk
from agent_nb.features.lend.lease import Lease, leases, machine, store
from agent_nb.plugins import ConfigError, Host, ToolClients

if TYPE_CHECKING:
    from agent_nb.features.lend.server import LentServer

DEFAULT_NAME = "lent"
PROMPT = "Lent to agents outside of the notebook, by `%agent lend`."
"""The prompt of its run. What the models of the clients were asked is not known."""
_HTTP, _OFF = "--http", "--off"
_MOVES_FOLDER = ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "XDG_DATA_HOME", "JUPYTER_PLATFORM_DIRS")
"""Variables that move Jupyter's runtime folder. Codex does not pass them on to the bridge."""


class Lending:
    """What is lent now, from its lease to its end."""

    def __init__(self, run: ToolClients, server: "LentServer", lease: Lease) -> None:
        self.run, self._server, self._pid = run, server, os.getpid()
        self.path = store(lease)
        atexit.register(self._remove_file)
        self.ending = asyncio.ensure_future(self._end())

    async def _end(self) -> None:
        """Close the server when the run has ended, whoever has ended it."""
        await self.run
        self._remove_file()
        atexit.unregister(self._remove_file)
        await self._server.end()

    def _remove_file(self) -> None:
        if os.getpid() == self._pid:  # a process that was forked ends without taking the notebook back
            self.path.unlink(missing_ok=True)


async def lend(host: Host, arguments: str) -> str:
    words = arguments.split()
    flags = {word for word in words if word in (_HTTP, _OFF)}
    lending: Lending | None = host.memory.get(LEND.name)
    if _OFF in flags:
        return await _take_back(lending)
    if lending and not lending.run.done:
        raise ConfigError(
            f"This notebook is lent already, as `{lending.run.name}`. `{host.command(f'lend {_OFF}')}` takes it back."
        )
    line = " ".join(word for word in words if word not in flags)
    return await _lend(host, line, is_http=_HTTP in flags)


async def _take_back(lending: Lending | None) -> str:
    if lending is None or lending.run.done:
        return "This notebook is not lent."
    lending.run.end()
    await lending.ending
    return f"Taken back. `{lending.run.name}` is the log of it."


async def _lend(host: Host, line: str, *, is_http: bool) -> str:
    if not _is_kernel():
        raise ConfigError("A notebook can be lent where it runs in a Jupyter kernel, and not in a browser.")
    from agent_nb.features.lend.server import LentServer  # tornado is missing in a browser

    in_branches = can_branch(host)
    named = line if line and not line.startswith("-") else f"{DEFAULT_NAME} {line}"
    tools = "" if {"-t", "--tools"} & {*line.split()} else await _default_tools(host)
    own = "--branch" if in_branches else "--approve run_python=ask"
    run = await host.open_view(f"{named} {tools} {own}", PROMPT, {LEND.name: True})
    server, others = LentServer(Desk(run, branches=in_branches), host), [each.title for each in leases()]
    await server.open()
    path = str(host.notebook_file.absolute()) if host.notebook_file else ""
    lease = Lease(name=run.name, notebook=path, url=server.url, token=server.token, machine=machine())
    try:
        lending = host.memory[LEND.name] = Lending(run, server, lease)
    except OSError as error:
        run.end()
        await server.end()
        raise ConfigError(f"The file of the lease cannot be written: {error.strerror or error}.") from None
    if is_http:
        _print_address(lease)
    return "\n".join(_lines(host, lending, lease, others, in_branches=in_branches))


def _is_kernel() -> bool:
    """Whether this is a kernel whose event loop goes on after the cell."""
    kernel = sys.modules.get("ipykernel.kernelapp")
    return kernel is not None and not IN_BROWSER and bool(kernel.IPKernelApp.initialized())


async def _default_tools(host: Host) -> str:
    try:
        await host.cells()
    except ConfigError:
        return "-t kernel"
    return "-t kernel -t notebook"


def can_branch(host: Host) -> bool:
    """Whether copies of the kernel can be made: not on Windows, and not in a browser."""
    for maker in (tool.branches for tool in host.tools(["kernel"]) if tool.branches):
        with contextlib.suppress(ConfigError):
            if not maker.are_safe():
                maker.check()
            return True
    return False


def _lines(
    host: Host, lending: Lending, lease: Lease, others: list[str], *, in_branches: bool
) -> Iterator[str]:
    names = [tool.name for tool in lending.run.tools]
    where = "Each client works in a branch: your variables stay as they are until you apply its code."
    yield f"Lent as `{lease.name}`, with {plural(len(names), 'tool')}. `{host.command(f'lend {_OFF}')}` takes it back."
    if "list_cells" not in names:
        yield "The cells of this notebook cannot be read here, so clients have the tools of the kernel alone."
    yield (
        where
        if in_branches
        else (
            "Copies of the kernel cannot be made here: clients work in your session, and you are asked about each call"
            " of `run_python`."
        )
    )
    command = [*own_command(), "mcp"]
    if any(os.environ.get(name) for name in _MOVES_FOLDER):
        command += ["--folder", str(lending.path.parent)]
    if others:
        yield f"Other notebooks are lent, too ({listed(others)}), so these lines name this one."
        command.append(lease.notebook or lease.name)
    yield "Add it to an agent, once:"
    for title, text in client_lines(command):
        yield f"  {title}: {text}"


def own_command() -> list[str]:
    """The command line of this environment, from anywhere: a terminal has another one."""
    name = "agent-nb.exe" if os.name == "nt" else "agent-nb"
    path = Path(sys.executable).with_name(name)
    return [str(path)] if path.exists() else [sys.executable, "-m", "agent_nb"]


def client_lines(command: list[str]) -> Iterator[tuple[str, str]]:
    """How the clients that are installed get the bridge; the general form if none is."""
    line, entry = shlex.join(command), {"command": command[0], "args": command[1:]}
    rows = {
        "claude": ("Claude Code", f"claude mcp add notebook -- {line}"),
        "codex": ("Codex", f"codex mcp add notebook -- {line}"),
        "opencode": (
            "opencode, in opencode.json",
            json.dumps({"mcp": {"notebook": {"type": "local", "command": command}}}),
        ),
        "code": ("VS Code", f"code --add-mcp {shlex.quote(json.dumps({'name': 'notebook', **entry}))}"),
        "cursor": ("Cursor, in ~/.cursor/mcp.json", json.dumps({"mcpServers": {"notebook": entry}})),
    }
    installed = [row for program, row in rows.items() if shutil.which(program)]
    yield from installed or [("any client", json.dumps({"mcpServers": {"notebook": entry}}))]


def _print_address(lease: Lease) -> None:
    """Print the token, once: `say` would mask it."""
    header = f"Authorization: Bearer {lease.token}"
    print(  # noqa: T201 - the user takes the token from here
        f"Address: {lease.url}\nToken, not shown again: {lease.token}\n"
        f"  Claude Code: claude mcp add --transport http --header {shlex.quote(header)} notebook {lease.url}\n"
        f"  Codex: export NOTEBOOK_TOKEN={lease.token}; codex mcp add notebook --url {lease.url}"
        " --bearer-token-env-var NOTEBOOK_TOKEN"
    )
