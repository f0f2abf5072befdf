"""What NAME and `files` hold: set when a run ends, put back by `%agent undo`, brought back by `%agent load`."""

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from agent_nb.notebook.magic.plan import check_name
from agent_nb.notebook.magic.store import RunStore
from agent_nb.run import Run, load

if TYPE_CHECKING:
    from agent_nb.notebook.magic.magics import AgentMagics


def hold(magics: "AgentMagics", name: str, value: Any) -> None:
    """Sets a variable; the run that it held can be put back."""
    before = magics.shell.user_ns.get(name)
    if isinstance(before, Run) and before is not value:
        magics.earlier.append((name, before))
    magics.shell.user_ns[name] = value


def bind(magics: "AgentMagics", run: Run) -> str | None:
    """Sets NAME, and the files' name if it is free or was ours; gives the latter if it was set."""
    hold(magics, run.name, run)
    return _bind_files(magics, run, run.name)


def undo(magics: "AgentMagics", name: str) -> Run:
    """Sets NAME to the run it held before the last one; going back again goes further."""
    places = [place for place, (held, _) in enumerate(magics.earlier) if held == name]
    if not places:
        raise UsageError(
            f"`{name}` held no other run in this session. `%{magics.magic_name} runs` lists the saved ones."
        )
    run: Run = magics.earlier[places[-1]][1]
    del magics.earlier[places[-1]]
    magics.shell.user_ns[name] = run
    _bind_files(magics, run, name)
    return run


def bring_back(magics: "AgentMagics", wanted: str) -> Run:
    """Binds a saved run as if it had just ended: the newest of that name, else the one of that id or path."""
    store = RunStore(magics.home)
    rows = store.rows()
    named = [row for row in rows if row["name"] == wanted] or [row for row in rows if run_id(row) == wanted]
    path = magics.home / Path(wanted).expanduser()
    if named:
        path = store.folder / named[-1]["file"]
    elif not path.is_file():
        near = difflib.get_close_matches(wanted, [row["name"] for row in rows], 1)
        hint = f"Did you mean `{near[0]}`?" if near else f"`%{magics.magic_name} runs` lists them."
        raise UsageError(f"There is no saved run {wanted!r}. {hint}")
    run = load(path)
    check_name(run.name, magics.shell.user_ns)
    bind(magics, run)
    return run


def run_id(row: dict[str, Any]) -> str:
    """The id in the name of a saved run's file."""
    return Path(row["file"]).stem.rpartition("-")[2]


def _bind_files(magics: "AgentMagics", run: Run, name: str) -> str | None:
    namespace, wanted = magics.shell.user_ns, str(magics.files_name)
    if not wanted or wanted == name:
        return None
    if wanted in namespace and not _is_ours(namespace[wanted], magics):
        return None
    namespace[wanted] = magics.bound_files = run.files
    return wanted


def _is_ours(files: Any, magics: "AgentMagics") -> bool:
    """Whether these are the files of a run: bound by us, or by the person as `files = hero.files`."""
    if files is magics.bound_files:
        return True
    runs = [value for value in magics.shell.user_ns.values() if isinstance(value, Run)]
    return any(one.files is files for run in runs for one in (run, *run.variants))
