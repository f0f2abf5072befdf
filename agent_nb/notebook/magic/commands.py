"""`%agent models | tools | runs | ...`: tables of models, tools, runs and costs; restoring and loading runs."""

import difflib
import inspect
import logging
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from IPython.core.error import UsageError
from IPython.display import display

from agent_nb._base.constants import MODEL_VARIABLE
from agent_nb._base.model_name import DEMO, DEMO_MODEL
from agent_nb._base.table import Table
from agent_nb.errors import AgentError
from agent_nb.notebook.session import Session

if TYPE_CHECKING:
    from agent_nb.engine.session_costs import ModelCosts
    from agent_nb.images.maker import Studio
    from agent_nb.lab.rules import LabRules
    from agent_nb.providers import VendorInfo
    from agent_nb.run import Run
    from agent_nb.tools import Tool


def run_command(session: Session, line: str) -> None:
    """Runs `%agent COMMAND`; prints the help if there is no command."""
    word, _, rest = line.strip().partition(" ")
    command = _COMMANDS.get(word or "help")
    if command is None:
        raise UsageError(_unknown(session, word, rest))
    if rest.strip() and command not in _WITH_ARGUMENT:
        raise UsageError(f"`{session.command(word)}` takes no argument, not {rest.strip()!r}.")
    try:
        command(session, rest.strip())
    except AgentError as error:
        raise UsageError(str(error)) from None


def _unknown(session: Session, word: str, rest: str) -> str:
    near = difflib.get_close_matches(word, _COMMANDS, 1)
    if near and not rest:
        return f"There is no command {word!r}. Did you mean `{session.command(near[0])}`?"
    return (
        f"There is no command {word!r}. The commands are {', '.join(_COMMANDS)}. "
        f"Write a prompt in a cell, below a %%{session.defaults.magic_name} line."
    )


def _models(session: Session, rest: str) -> None:
    """The models of each vendor, and whether a key is set."""
    from agent_nb.providers import catalog

    try:
        default, reason = _default_model(session)
        note = f"Cells that name no model use {default}, {reason}."
    except AgentError as error:  # of a setting that is no model; the table helps to mend it
        default, note = "", str(error)
    rules, rows = _lab_rules(session), []
    allowed = rules.models if rules else ()
    for row in catalog():
        of_vendor = [name for name in allowed if name.startswith(f"{row.vendor}:")]
        for name in of_vendor if allowed else [f"{row.vendor}:{row.recommended}"]:
            remark = "; ".join(filter(None, ("default" if name == default else "", row.note)))
            rows.append((name, _key_state(row), _abilities(row), remark))
    if rules and allowed:
        note = f"{note} This lab allows no others. (`models` in {rules.file})"
    display(Table(("model", "key", "can do", "note"), rows, "No models.", note))


def _lab_rules(session: Session) -> "LabRules | None":
    from agent_nb.notebook.magic.hints import watch_of

    return watch_of(session).rules()


def _default_model(session: Session) -> tuple[str, str]:
    """The model of cells that name none, and why it is that one."""
    from agent_nb.providers import default_model_name, full_name

    rules, named = _lab_rules(session), session.defaults.model or os.environ.get(MODEL_VARIABLE)
    if named and (rules is None or rules.allows_model(named)):
        setting = "`%config AgentMagics.model`" if session.defaults.model else MODEL_VARIABLE
        return full_name(named), f"which {setting} sets"
    if rules and (allowed := rules.default_model()):
        return allowed, f"the first usable one of `models` in {rules.file}"
    if found := default_model_name():
        return found, "the first with a key"
    return DEMO_MODEL, "because no key is set"


def _key_state(row: "VendorInfo") -> str:
    if row.key_present:
        return "ready"
    if row.needs_key:
        return f"set {row.key_variable}"
    return "ready, no key needed" if row.vendor == DEMO else "no key needed"


def _abilities(row: "VendorInfo") -> str:
    abilities = {"thinking": row.thinking, "images": row.images, "streams files": row.streams_arguments}
    return ", ".join(name for name, has in abilities.items() if has)


def _tools(session: Session, rest: str) -> None:
    """The tools that a model can use, when they are offered, and who serves them."""
    from agent_nb.notebook.kernel_tools import KERNEL, kernel_tools
    from agent_nb.providers.studio import studio_for_name
    from agent_nb.tools import Tool, Toolbox

    studio = studio_for_name(_default_model(session)[0])
    own = {name: value for name, value in session.namespace.items() if isinstance(value, Tool)}
    tools = [(tool, _when_offered(tool, studio)) for tool in Toolbox.default()]
    tools += [(tool, f"-t {KERNEL}") for tool in kernel_tools(session.shell)]
    tools += [(tool, f"-t {name}") for name, tool in own.items()]
    tools += [(tool, f"-t {tool.origin}") for server in session.servers.values() for tool in server.tools]
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
    display(Table(("tool", "offered", "served by", "asks first", "description"), rows, "No tools."))


def _when_offered(tool: "Tool", studio: "Studio") -> str:
    from agent_nb.images.maker import EDITS, INPUTS
    from agent_nb.tools.preview import PAGE_VIEWER
    from agent_nb.tools.variants import BASE_VARIANTS

    conditions = {
        INPUTS: "with images (-i)",
        EDITS: "with a key for OpenAI or Gemini",
        BASE_VARIANTS: "after variants (-n)",
        PAGE_VIEWER: "where a browser can show the page",
    }
    return ", ".join(conditions[need] for need in sorted(tool.needs - studio.serves)) or "always"


def _mcp(session: Session, rest: str) -> None:
    """[add NAME COMMAND... | restart NAME | remove NAME]: MCP servers, their state and their tools."""
    from agent_nb.notebook.magic.mcp import list_servers, mcp_command

    if rest:
        mcp_command(session, rest)
    else:
        list_servers(session)


def _use(session: Session, rest: str) -> None:
    """[NAME | -NAME]: use the middleware in a variable for the runs that follow, take it away, or list what is used."""
    from agent_nb.notebook.magic.use import list_used, use_command

    if rest:
        use_command(session, rest)
    else:
        list_used(session)


def _lab(session: Session, rest: str) -> None:
    """[log]: the rules of the lab file beside the notebook and the budget that is left, or the log of your runs."""
    if rest == "log":
        from agent_nb.notebook.magic.lab_log import show_log

        show_log(session)
        return
    if rest:
        raise UsageError(f"`{session.command('lab')}` takes nothing or `log`, not {rest!r}.")
    from agent_nb.notebook.magic.lab import show_lab

    show_lab(session)


def _submit(session: Session, rest: str) -> None:
    """[NOTEBOOK]: write the saved notebook, the log of the lab, the runs and their pages to one zip file."""
    from agent_nb.notebook.magic.submit import submit_command

    submit_command(session, rest)


def _runs(session: Session, rest: str) -> None:
    """Saved runs and runs in the background."""
    from agent_nb.run.store import RunStore, run_id

    for handle in session.background.values():
        print(
            f"`{handle.name}` is running, with {len(handle.events)} events so far. `{handle.name}.stop()` stops it."
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
    display(Table(("name", "when", "model", "ended", "load with"), rows, empty))


def _load(session: Session, rest: str) -> None:
    """NAME: load the newest saved run of this name, also by id or path."""
    from agent_nb.notebook.magic.names import load_saved

    if not rest:
        raise UsageError(
            f"Name a saved run, such as `{session.command('load hero')}`; `{session.command('runs')}` lists them."
        )
    run = load_saved(session, rest.strip("\"'"))
    print(f"Loaded `{run.name}`: {_about(run)}.")


def _undo(session: Session, rest: str) -> None:
    """NAME: restore the previous run to NAME."""
    from agent_nb.notebook.magic.names import undo
    from agent_nb.run.store import RunStore, run_id

    if not rest:
        raise UsageError(f"Name the run to restore, such as `{session.command('undo hero')}`.")
    newer = session.namespace.get(rest)
    run = undo(session, rest)
    print(f"Restored the previous run to `{rest}`: {_about(run)}.")
    newer_id = getattr(newer, "id", None)
    if newer_id != run.id and any(run_id(row) == newer_id for row in RunStore(session.home).rows()):
        print(f"`{session.command(f'load {newer_id}')}` loads the newer one.")


def _export(session: Session, rest: str) -> None:
    """NAME [PATH]: write the run to one HTML file that replays it in any browser."""
    from agent_nb.notebook.magic.export import export_command

    export_command(session, rest)


def _console(session: Session, rest: str) -> None:
    """[NAME]: what the previewed page has logged."""
    name = rest or "run"
    # If no run was shown in the page, the module is not loaded yet, and importing it takes long.
    module = sys.modules.get("agent_nb.notebook.live.hub")
    hub = module.existing_hub() if module else None
    entries = hub.console_of(name) if hub else None
    if entries is None:
        raise UsageError(f"No page of `{name}` has been previewed in this session.")
    rows = [
        (str(entry.get("level", "")), str(entry.get("line") or ""), str(entry.get("text", "")))
        for entry in entries
    ]
    display(Table(("level", "line", "message"), rows, f"The page of `{name}` has logged nothing."))


def _about(run: "Run") -> str:
    prompt = " ".join(run.prompt.split())
    files = ", ".join(run.files) or "no files"
    return f"{prompt if len(prompt) <= 60 else prompt[:60] + '…'!r}, {files}"


def _cost(session: Session, rest: str) -> None:
    """What this session has cost, by model."""
    from agent_nb.engine.session_costs import SESSION

    costs = SESSION.by_model()
    rows = [
        (
            model,
            str(each.runs),
            f"{each.usage.input:,}",
            f"{each.usage.output:,}",
            _cost_of(each),
            _replays(each),
        )
        for model, each in costs.items()
    ]
    note = f"Total in this session: {_dollars(sum(each.cost for each in costs.values()))}."
    if any(each.unpriced for each in costs.values()):
        note += " Some prices are not known."
    heads = ("model", "runs", "tokens in", "tokens out", "cost", "replayed")
    shown = len(heads) if any(each.replays for each in costs.values()) else len(heads) - 1
    display(Table(heads[:shown], [row[:shown] for row in rows], "No runs yet.", note, heads[1:5]))


def _cost_of(costs: "ModelCosts") -> str:
    if not costs.unpriced:
        return _dollars(costs.cost)
    return "not known" if costs.unpriced == costs.runs else f"at least {_dollars(costs.cost)}"


def _replays(costs: "ModelCosts") -> str:
    return f"{costs.replays}, {_dollars(costs.recorded_cost)} when recorded" if costs.replays else ""


def _dollars(cost: float) -> str:
    return f"${cost:.4f}"


def _config(session: Session, rest: str) -> None:
    """The settings and their values."""
    traits = sorted(session.defaults.traits(config=True).items())
    rows = [(name, repr(getattr(session.defaults, name)), trait.help) for name, trait in traits]
    note = "Change a value with `%config AgentMagics.NAME = VALUE`."
    display(Table(("name", "value", "meaning"), rows, "", note))


def _key(session: Session, rest: str) -> None:
    """[VENDOR [--forget]]: enter a key that only this kernel's memory holds, or list where keys are."""
    from agent_nb.notebook.magic.keys import key_command, list_keys

    if rest:
        key_command(session, rest)
    else:
        list_keys()


def _log(session: Session, rest: str) -> None:
    """[on|debug|off]: print the log of agent_nb."""
    levels = {"on": logging.INFO, "debug": logging.DEBUG, "off": logging.WARNING}
    log = logging.getLogger("agent_nb")
    if rest and rest not in levels:
        raise UsageError(f"`{session.command('log')}` takes on, debug or off, not {rest!r}.")
    log.setLevel(levels[rest or "on"])
    if not log.handlers:
        log.addHandler(logging.StreamHandler())
    print(f"The log of agent_nb is {rest or 'on'}.")


def _help(session: Session, rest: str) -> None:
    """The help of %%agent."""
    print(session.shell.find_line_magic(session.defaults.magic_name).__doc__)


_COMMANDS: dict[str, Callable[[Session, str], None]] = {
    "models": _models,
    "tools": _tools,
    "mcp": _mcp,
    "use": _use,
    "lab": _lab,
    "submit": _submit,
    "runs": _runs,
    "load": _load,
    "undo": _undo,
    "export": _export,
    "console": _console,
    "cost": _cost,
    "config": _config,
    "key": _key,
    "log": _log,
    "help": _help,
}
COMMANDS = {name: inspect.getdoc(function) or "" for name, function in _COMMANDS.items()}
"""What each command does, after the arguments it takes."""
_WITH_ARGUMENT = (_mcp, _use, _lab, _submit, _load, _undo, _export, _console, _key, _log)
"""The commands that take an argument."""


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
