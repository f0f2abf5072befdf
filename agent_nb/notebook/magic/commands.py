"""`%agent models | tools | runs | ...`: short tables about what there is, and runs brought back."""

import difflib
import inspect
import logging
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.display import display

from agent_nb._base.constants import MODEL_VARIABLE
from agent_nb._base.model_name import DEMO_MODEL
from agent_nb._base.table import Table
from agent_nb.errors import AgentError
from agent_nb.notebook.session import Session

if TYPE_CHECKING:
    from agent_nb.engine.session_costs import ModelCosts
    from agent_nb.images.maker import Studio
    from agent_nb.run import Run
    from agent_nb.tools import Tool


def run_command(session: Session, line: str) -> None:
    """Runs `%agent <command>`; without one, prints the help."""
    word, _, rest = line.strip().partition(" ")
    command = _COMMANDS.get(word or "help")
    if command is None:
        raise UsageError(_unknown(session, word, rest))
    if rest.strip() and command not in _WITH_WORDS:
        raise UsageError(f"`{session.command(word)}` takes nothing more, not {rest.strip()!r}.")
    try:
        command(session, rest.strip())
    except AgentError as error:
        raise UsageError(str(error)) from None


def _unknown(session: Session, word: str, rest: str) -> str:
    near = difflib.get_close_matches(word, _COMMANDS, 1)
    if near and not rest:
        return f"There is no command {word!r}. Did you mean `{session.command(near[0])}`?"
    return (
        f"There is no command {word!r}. There are {', '.join(_COMMANDS)}. "
        f"A prompt belongs in a cell, below the %%{session.defaults.magic_name} line."
    )


def _models(session: Session, rest: str) -> None:
    """The vendors, their default models, and whether a key is set."""
    from agent_nb.providers import catalog

    rows = [
        (
            f"{row.vendor}:{row.recommended}",
            "ready" if row.key_present else f"set {row.key_variable}" if row.needs_key else "needs none",
            _marks(row),
            row.note,
        )
        for row in catalog()
    ]
    display(Table(("model", "key", "can do", ""), rows, "No models."))


def _marks(row: Any) -> str:
    able = {"thinking": row.thinking, "images": row.images, "streams files": row.streams_arguments}
    return ", ".join(name for name, can in able.items() if can)


def _tools(session: Session, rest: str) -> None:
    """The tools, when they are offered, and who serves them."""
    from agent_nb.providers import default_model_name
    from agent_nb.providers.studio import studio_for_name
    from agent_nb.tools import Tool, Toolbox

    named = session.defaults.model or os.environ.get(MODEL_VARIABLE) or default_model_name() or DEMO_MODEL
    studio = studio_for_name(named)
    own = {name: value for name, value in session.namespace.items() if isinstance(value, Tool)}
    tools = [(tool, _when_offered(tool, studio)) for tool in Toolbox.default()]
    tools += [(tool, f"-t {name}") for name, tool in own.items()]
    rows = [
        (
            tool.name,
            offered,
            tool.served_by(studio) if tool.served_by else "",
            tool.approval,
            _first_line(tool.spec.description),
        )
        for tool, offered in tools
    ]
    display(Table(("tool", "offered", "served by", "asks first", "what it does"), rows, "No tools."))


def _when_offered(tool: "Tool", studio: "Studio") -> str:
    from agent_nb.images.maker import EDITS, INPUTS
    from agent_nb.tools.variants import BASE_VARIANTS

    told = {
        INPUTS: "with pictures (-i)",
        EDITS: "with a key for OpenAI or Gemini",
        BASE_VARIANTS: "after variants (-n)",
    }
    return ", ".join(told[need] for need in sorted(tool.needs - studio.serves)) or "always"


def _runs(session: Session, rest: str) -> None:
    """Saved runs and runs in the background."""
    from agent_nb.notebook.magic.names import run_id
    from agent_nb.notebook.magic.store import RunStore

    for handle in session.background.values():
        print(
            f"{handle.name} is running: {len(handle.events)} events so far. `{handle.name}.stop()` stops it."
        )
    store = RunStore(session.home)
    saved = store.rows()
    newest = {row["name"]: row["file"] for row in saved}
    rows = [
        (
            row["name"],
            row.get("when", ""),
            row.get("model", ""),
            row.get("reason", ""),
            session.command(f"load {row['name'] if newest[row['name']] == row['file'] else run_id(row)}"),
        )
        for row in saved[-20:]
    ]
    empty = f"No saved runs in {store.folder}."
    display(Table(("name", "when", "model", "ended", "to bring it back"), rows, empty))


def _load(session: Session, rest: str) -> None:
    """NAME: load the newest saved run of this name, also by id or path."""
    from agent_nb.notebook.magic.names import load_saved

    if not rest:
        raise UsageError(
            f"Name a saved run, such as `{session.command('load hero')}`; `{session.command('runs')}` lists them."
        )
    run = load_saved(session, rest.strip("\"'"))
    print(f"`{run.name}` is back: {_about(run)}.")


def _undo(session: Session, rest: str) -> None:
    """NAME: restore the previous run to NAME."""
    from agent_nb.notebook.magic.names import run_id, undo
    from agent_nb.notebook.magic.store import RunStore

    if not rest:
        raise UsageError(f"Name the run to put back, such as `{session.command('undo hero')}`.")
    newer = session.namespace.get(rest)
    run = undo(session, rest)
    print(f"`{rest}` is the run before again: {_about(run)}.")
    newer_id = getattr(newer, "id", None)
    if newer_id != run.id and any(run_id(row) == newer_id for row in RunStore(session.home).rows()):
        print(f"`{session.command(f'load {newer_id}')}` brings back the newer one.")


def _console(session: Session, rest: str) -> None:
    """[NAME]: what the previewed page has logged."""
    name = rest or "run"
    # The widget's module is there once a run was watched, and too heavy to be loaded for this.
    widget = sys.modules.get("agent_nb.notebook.live.hub")
    hub = widget.existing_hub() if widget else None
    entries = hub.console_of(name) if hub else None
    if entries is None:
        raise UsageError(f"No page of `{name}` was previewed in this session.")
    rows = [
        (str(entry.get("level", "")), str(entry.get("line") or ""), str(entry.get("text", "")))
        for entry in entries
    ]
    display(Table(("level", "line", "what the page said"), rows, f"The page of `{name}` has logged nothing."))


def _about(run: "Run") -> str:
    words = " ".join(run.prompt.split())
    files = ", ".join(run.files) or "no files"
    return f"{words if len(words) <= 60 else words[:60] + '…'!r}, {files}"


def _cost(session: Session, rest: str) -> None:
    """What this session has cost, by model."""
    from agent_nb.engine.session_costs import SESSION

    accounts = SESSION.by_model()
    rows = [
        (
            model,
            str(each.runs),
            f"{each.usage.input:,}",
            f"{each.usage.output:,}",
            _cost_of(each),
            _replays(each),
        )
        for model, each in accounts.items()
    ]
    note = f"Together {_dollars(sum(each.cost for each in accounts.values()))} in this session" + (
        "; some prices are not known." if any(each.unpriced for each in accounts.values()) else "."
    )
    heads = ("model", "runs", "tokens in", "tokens out", "cost", "replayed")
    shown = len(heads) if any(each.replays for each in accounts.values()) else len(heads) - 1
    display(Table(heads[:shown], [row[:shown] for row in rows], "No runs yet.", note, heads[1:5]))


def _cost_of(account: "ModelCosts") -> str:
    if not account.unpriced:
        return _dollars(account.cost)
    return "not known" if account.unpriced == account.runs else f"more than {_dollars(account.cost)}"


def _replays(account: "ModelCosts") -> str:
    return f"{account.replays}, recorded at {_dollars(account.recorded_cost)}" if account.replays else ""


def _dollars(cost: float) -> str:
    return f"${cost:.4f}"


def _config(session: Session, rest: str) -> None:
    """The settings and their values."""
    traits = sorted(session.defaults.traits(config=True).items())
    rows = [(name, repr(getattr(session.defaults, name)), trait.help) for name, trait in traits]
    note = "Change one with %config AgentMagics.<name> = <value>."
    display(Table(("name", "value", "what it is"), rows, "", note))


def _log(session: Session, rest: str) -> None:
    """[on|debug|off]: print the log of agent_nb."""
    levels = {"on": logging.INFO, "debug": logging.DEBUG, "off": logging.WARNING}
    log = logging.getLogger("agent_nb")
    if rest and rest not in levels:
        raise UsageError(f"`{session.command('log')}` takes on, debug or off, not {rest!r}.")
    log.setLevel(levels[rest or "on"])
    if not log.handlers:
        log.addHandler(logging.StreamHandler())
    print(f"Logging of agent_nb is {rest or 'on'}.")


def _help(session: Session, rest: str) -> None:
    """The help of %%agent."""
    print(session.shell.find_line_magic(session.defaults.magic_name).__doc__)


_COMMANDS: dict[str, Callable[[Session, str], None]] = {
    "models": _models,
    "tools": _tools,
    "runs": _runs,
    "load": _load,
    "undo": _undo,
    "console": _console,
    "cost": _cost,
    "config": _config,
    "log": _log,
    "help": _help,
}
COMMANDS = {name: inspect.getdoc(function) or "" for name, function in _COMMANDS.items()}
"""What each command does, after the arguments it takes."""
_WITH_WORDS = (_load, _undo, _console, _log)
"""Those that take more than their name."""


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
