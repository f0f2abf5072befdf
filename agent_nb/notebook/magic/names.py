"""What NAME and `files` hold: set when a run ends, put back by `%agent undo`, brought back by `%agent load`."""

import builtins
import difflib
import keyword
import types
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError

from agent_nb.notebook.magic.store import RunStore
from agent_nb.notebook.session import Session
from agent_nb.run import Run, load

_RESERVED = {"In", "Out", "get_ipython", "exit", "quit", "open", "display"}


def check_name(name: str, namespace: dict[str, Any]) -> str:
    """The variable name, if it can be one without hiding something."""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise UsageError(f"{name!r} cannot be a variable's name. Use letters, digits and _, such as `hero`.")
    if hasattr(builtins, name) or name in _RESERVED:
        raise UsageError(f"`{name}` would hide Python's own `{name}`. Choose another name, such as `hero`.")
    if isinstance(namespace.get(name), types.ModuleType):
        raise UsageError(f"`{name}` is an imported module. Choose another name, such as `{name}_run`.")
    return name


def hold(session: Session, name: str, value: Any) -> None:
    """Sets a variable; the run that it held can be put back."""
    before = session.namespace.get(name)
    if isinstance(before, Run) and before is not value:
        session.replaced.append((name, before))
    session.namespace[name] = value


def bind(session: Session, run: Run) -> str | None:
    """Sets NAME, and the files' name if it is free or was ours; gives the latter if it was set."""
    hold(session, run.name, run)
    return _bind_files(session, run, run.name)


def undo(session: Session, name: str) -> Run:
    """Sets NAME to the run it held before the last one; going back again goes further."""
    places = [place for place, (held, _) in enumerate(session.replaced) if held == name]
    if not places:
        raise UsageError(
            f"`{name}` held no other run in this session. `{session.command('runs')}` lists the saved ones."
        )
    run: Run = session.replaced[places[-1]][1]
    del session.replaced[places[-1]]
    session.namespace[name] = run
    _bind_files(session, run, name)
    return run


def bring_back(session: Session, wanted: str) -> Run:
    """Binds a saved run as if it had just ended: the newest of that name, else the one of that id or path."""
    store = RunStore(session.home)
    rows = store.rows()
    named = [row for row in rows if row["name"] == wanted] or [row for row in rows if run_id(row) == wanted]
    path = session.home / Path(wanted).expanduser()
    if named:
        path = store.folder / named[-1]["file"]
    elif not path.is_file():
        near = difflib.get_close_matches(wanted, [row["name"] for row in rows], 1)
        hint = f"Did you mean `{near[0]}`?" if near else f"`{session.command('runs')}` lists them."
        raise UsageError(f"There is no saved run {wanted!r}. {hint}")
    run = load(path)
    check_name(run.name, session.namespace)
    bind(session, run)
    return run


def run_id(row: dict[str, Any]) -> str:
    """The id in the name of a saved run's file."""
    return Path(row["file"]).stem.rpartition("-")[2]


def _bind_files(session: Session, run: Run, name: str) -> str | None:
    namespace, wanted = session.namespace, str(session.defaults.files_name)
    if not wanted or wanted == name:
        return None
    if wanted in namespace and not _is_ours(namespace[wanted], session):
        return None
    namespace[wanted] = session.bound_files = run.files
    return wanted


def _is_ours(files: Any, session: Session) -> bool:
    """Whether these are the files of a run: bound by us, or by the person as `files = hero.files`."""
    if files is session.bound_files:
        return True
    runs = [value for value in session.namespace.values() if isinstance(value, Run)]
    return any(one.files is files for run in runs for one in (run, *run.variants))
