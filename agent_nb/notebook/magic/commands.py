"""`%agent COMMAND`: the command table, and the short commands."""

import difflib
import importlib
import inspect
import logging
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from IPython.display import display

from agent_nb._base.command import Command
from agent_nb._base.late import late
from agent_nb._base.table import Table
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.core.feature import features, insert, is_built_in
from agent_nb.notebook.failures import CellToRun
from agent_nb.notebook.front_end import say, usage_errors
from agent_nb.notebook.magic import candidates
from agent_nb.notebook.session import Session, shown_hub

HELP_INDENT = " " * 24
"""Matches argparse's indent of option help."""
LOG_LEVELS = {
    "on": (logging.INFO, "one line for each turn"),
    "debug": (logging.DEBUG, "all events"),
    "off": (logging.WARNING, "warnings only"),
}


def run_command(session: Session, line: str) -> None:
    with usage_errors(partial(pointer, session)):
        _show(_call(session, line))


def pointer(session: Session, error: AgentError) -> str:
    """A sentence that names the command that says more about errors of this kind; empty if there is none."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    names = [command.name for command in all_commands().values() if kinds & {*command.explains}]
    return f" `{session.command(names[0])}` says more." if names else ""


async def await_command(session: Session, line: str) -> CellToRun | None:
    """Call a command that waits, and show its result; return the cell that it asks to run instead."""
    result = _call(session, line)
    result = await result if inspect.isawaitable(result) else result
    if isinstance(result, CellToRun):
        return result
    _show(result)
    return None


def _call(session: Session, line: str) -> Any:
    word, _, arguments = line.strip().partition(" ")
    command = find_command(word or "help")
    if command is None:
        raise ConfigError(_unknown(session, word, arguments))
    if arguments.strip() and not command.takes_arguments:
        raise ConfigError(f"`{session.command(word)}` takes no arguments: remove {arguments.strip()!r}.")
    return command.call(session, arguments.strip())


def find_command(word: str) -> Command | None:
    if word not in COMMANDS:
        importlib.import_module("agent_nb.plugins").plugins()
    return all_commands().get(word)


def _show(result: Any) -> None:
    if isinstance(result, str):
        say(result)
    elif result is not None:
        display(result)


def all_commands() -> Mapping[str, Command]:
    """Return the built-in commands, and those of plugins if already loaded: Tab completion cannot wait for loading."""
    if "agent_nb.plugins" not in sys.modules:
        return COMMANDS
    from agent_nb.notebook.magic.cell_rules import plugin_commands

    return {**COMMANDS, **plugin_commands(COMMANDS)}


def _unknown(session: Session, word: str, arguments: str) -> str:
    commands = all_commands()
    near = difflib.get_close_matches(word, commands, 1)
    if near and not arguments:
        return f"There is no command {word!r}. Did you mean `{session.command(near[0])}`?"
    return (
        f"There is no command {word!r}. The commands are {', '.join(commands)}. "
        f"Write a prompt in a cell, below a %%{session.defaults.magic_name} line."
    )


def _console(session: Session, arguments: str) -> Table:
    name = arguments or "run"
    hub = shown_hub()
    entries = hub.console_of(name) if hub else None
    if entries is None:
        raise ConfigError(f"No page of `{name}` has been previewed in this session.")
    rows = [
        (str(number), line.level, line.file, str(line.line or ""), line.text)
        for number, line in entries.items()
    ]
    columns = ("number", "level", "file", "line", "message")
    return Table(columns, rows, f"The page of `{name}` has no console messages.")


def _log(session: Session, arguments: str) -> str:
    log = logging.getLogger("agent_nb")
    if arguments and arguments not in LOG_LEVELS:
        raise ConfigError(f"`{session.command('log')}` takes on, debug or off, not {arguments!r}.")
    log.setLevel(LOG_LEVELS[arguments or "on"][0])
    if not log.handlers:
        log.addHandler(logging.StreamHandler())
    return f"The log of agent_nb is {arguments or 'on'}."


def _help(session: Session, arguments: str) -> str:
    from agent_nb.notebook.parsing import parser

    intro = inspect.getdoc(session.shell.find_line_magic(session.defaults.magic_name))
    commands = all_commands().values()
    lines = [f"  {session.command(command.usage)}\n{HELP_INDENT}{command.help}" for command in commands]
    return "\n".join([intro or "", "", parser().format_help().strip(), "", "commands:", *lines])


def _late(module: str, name: str) -> Callable[[Session, str], Any]:
    return late(f"agent_nb.notebook.magic.{module}", name)


_ROWS = (
    Command(
        "models [acp:NAME]",
        "The models of each vendor, and whether a key is set; with NAME, those that an outside agent offers now.",
        _late("listings", "list_models"),
        candidates.agents,
    ),
    Command(
        "tools",
        "The tools that a model can use, when they are offered, and who serves them.",
        _late("listings", "list_tools"),
    ),
    Command(
        "mcp [add NAME COMMAND... | restart NAME | remove NAME]",
        "MCP servers, their state and their tools.",
        _late("mcp", "mcp_command"),
    ),
    Command("runs", "Saved runs and runs in the background.", _late("run_commands", "list_runs")),
    Command(
        "load NAME",
        "Load the newest saved run with this name, or a run by id or path.",
        _late("run_commands", "load_run"),
        candidates.saved_runs,
    ),
    Command(
        "undo NAME",
        "Restore the previous run to NAME.",
        _late("run_commands", "undo_run"),
        candidates.replaced_runs,
    ),
    Command(
        "export NAME [PATH]",
        "Write the run to one HTML file that replays it in any browser, or to PATH in the form of its suffix (`.md`).",
        _late("run_commands", "export_run"),
        candidates.runs,
    ),
    Command(
        "cells NAME [--verify]",
        "The code of a run as plain cells; `--verify` is `%agent verify NAME`.",
        _late("run_commands", "cells_command"),
        candidates.runs,
    ),
    Command(
        "fix [N] [OPTION...]",
        "Ask a model to correct the cell that failed last, or cell [N], with the options of a `%%agent` cell.",
        _late("fix", "read_fix"),
        waits=True,
    ),
    Command(
        "explain [N] [OPTION...]",
        "Ask a model to explain the last cell, or cell [N], and its output, with the options of a `%%agent` cell.",
        _late("fix", "read_explain"),
        waits=True,
    ),
    Command(
        "page NAME [--off]",
        "Names that the page of a run is bound to; `--off` ends its connection with the notebook.",
        _late("run_commands", "page_command"),
        candidates.runs,
    ),
    Command("console [NAME]", "Console messages of the previewed page.", _console, candidates.runs),
    Command("cost", "Cost of this session by model.", _late("listings", "list_costs")),
    Command("config", "The settings and their values.", _late("listings", "list_settings")),
    Command(
        "key [VENDOR [--forget]]",
        "Enter a key to keep in this kernel's memory only, or list where keys come from.",
        _late("key_command", "key_command"),
    ),
    Command(
        "plugins [off NAME]",
        "The plugins and what they add; `off` runs cells without one that cannot be loaded.",
        _late("listings", "list_plugins"),
    ),
    Command(
        "log [on|debug|off]",
        "Print the log of agent_nb.",
        _log,
        lambda session, before: [(name, text) for name, (_, text) in LOG_LEVELS.items()],
    ),
    Command("help", "Every option of %%agent and every command.", _help),
)
COMMANDS = {command.name: command for command in _ROWS}
for _feature in features():
    for _command in _feature.commands if is_built_in(_feature.name) else ():
        if _command.run:
            insert(COMMANDS, _command.name, _command)
