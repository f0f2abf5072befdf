"""`%agent runs`, `load`, `undo`, `export`, `page` and `cells`: commands on saved runs and runs in variables."""

import html
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from IPython.display import display

from agent_nb._base.atomic import write_own
from agent_nb._base.secrets import short_line
from agent_nb._base.table import Table
from agent_nb._base.text import did_you_mean
from agent_nb.core.errors import ConfigError
from agent_nb.core.feature import command_of
from agent_nb.files import human_size
from agent_nb.notebook.front_end import say
from agent_nb.notebook.magic.names import check_name, set_files, set_variables
from agent_nb.notebook.page.pages import stores_of
from agent_nb.notebook.session import Session
from agent_nb.render import FORMS, HTML
from agent_nb.run import Run, load
from agent_nb.run.replay_file import replay_html
from agent_nb.run.store import RunStore, run_id

VERIFY, OFF = "--verify", "--off"


def list_runs(session: Session, arguments: str) -> Table:
    for handle in session.background.values():
        say(
            f"`{handle.name}` is running, with {len(handle.events)} events so far. `{handle.name}.stop()` stops it."
        )
    store = RunStore(session.home)
    saved_rows = store.rows()
    newest = {row["name"]: row["file"] for row in saved_rows}
    rows = [
        (
            *(row.get(key, "") for key in ("name", "when", "model", "reason")),
            session.command(f"load {row['name'] if newest[row['name']] == row['file'] else run_id(row)}"),
        )
        for row in saved_rows[-20:]
    ]
    return Table(("name", "when", "model", "ended", "load with"), rows, f"No saved runs in {store.folder}.")


def page_command(session: Session, arguments: str) -> Table | str:
    """List the names that the page of a run is bound to; `--off` ends its connection."""
    words = arguments.split()
    name = " ".join(word for word in words if word != OFF) or "run"
    run = session.namespace.get(name)
    if not isinstance(run, Run):
        raise ConfigError(f"Name a run, such as `{session.command('page hero --off')}`.")
    stores = list(stores_of(run.id))
    if OFF in words:
        for store in stores:
            store.close()
        return f"The page of `{name}` is no longer connected to the notebook."
    types, is_closed = next(((store.bindings.types, store.closed) for store in stores), ({}, False))
    rows = [(bound_name, kind, "off" if is_closed else "on") for bound_name, kind in types.items()]
    return Table(("name", "type", "connected"), rows, f"The page of `{name}` has no bindings in this kernel.")


def load_run(session: Session, arguments: str) -> str:
    if not arguments:
        raise ConfigError(
            f"Name a saved run, such as `{session.command('load hero')}`; `{session.command('runs')}` lists them."
        )
    run = load(_saved_file(session, arguments.strip("\"'")))
    before = session.namespace.get(check_name(run.name, session.namespace))
    set_variables(session, run)
    loaded = f"Loaded `{run.name}`: {_about(run)}."
    if before is None or isinstance(before, Run):
        return loaded
    kind, remedy = type(before).__name__, session.command(f"undo {run.name}")
    return f"{loaded}\n`{run.name}` was a value of type {kind}. `{remedy}` restores it."


def _saved_file(session: Session, reference: str) -> Path:
    store = RunStore(session.home)
    rows = store.rows()
    matches = [row for row in rows if row["name"] == reference] or [
        row for row in rows if run_id(row) == reference
    ]
    path = session.home / os.path.expanduser(reference)
    if matches:
        return store.folder / str(matches[-1]["file"])
    if not path.is_file():
        near = did_you_mean(reference, [row["name"] for row in rows])
        hint = near or f"`{session.command('runs')}` lists them."
        raise ConfigError(f"There is no saved run {reference!r}. {hint}")
    return path


def undo_run(session: Session, name: str) -> str:
    """Restore the previous value of a variable, usually a run; each further call goes one step back."""
    if not name:
        raise ConfigError(f"Name the run to restore, such as `{session.command('undo hero')}`.")
    places = [place for place, (replaced, _) in enumerate(session.replaced) if replaced == name]
    if not places:
        raise ConfigError(
            f"There is no earlier run of `{name}` in this session. `{session.command('runs')}` lists saved runs."
        )
    newer = session.namespace.get(name)
    run = session.namespace[name] = session.replaced[places[-1]][1]
    del session.replaced[places[-1]]
    if not isinstance(run, Run):
        return f"Restored the previous value of `{name}`, of type {type(run).__name__}."
    set_files(session, run, name)
    restored = f"Restored the previous run to `{name}`: {_about(run)}."
    newer_id = getattr(newer, "id", None)
    if newer_id != run.id and any(run_id(row) == newer_id for row in RunStore(session.home).rows()):
        return f"{restored}\n`{session.command(f'load {newer_id}')}` loads the newer one."
    return restored


def _about(run: Run) -> str:
    return f"{short_line(run.prompt, 60)!r}, {', '.join(run.files) or 'no files'}"


class FileNotice:
    """Names a written file, with a link if it is below the notebook's folder."""

    def __init__(self, path: Path, home: Path, details: str) -> None:
        self._path, self._details = path, details
        self._link = quote(path.relative_to(home).as_posix()) if path.is_relative_to(home) else ""

    def __repr__(self) -> str:
        return f"Wrote {self._path} {self._details}"

    def _repr_html_(self) -> str:
        path = html.escape(str(self._path))
        link = f'<a href="{self._link}" target="_blank">{path}</a>' if self._link else path
        return f"<p>Wrote {link} {html.escape(self._details)}</p>"


def export_run(session: Session, arguments: str) -> FileNotice:
    """Write `NAME.replay.html` beside the notebook, or PATH in the format of its suffix."""
    name, _, target = arguments.partition(" ")
    run = _run(session, name, "export hero")
    target = target.strip().strip("\"'") or f"{name}.replay.html"
    path = session.home / os.path.expanduser(target)
    size = write_run(run, target, session.home)
    replays = (
        f" It replays {name} in any browser, without a server." if path.suffix.lower() == ".html" else ""
    )
    return FileNotice(path, session.home, f"({size}).{replays}")


def write_run(run: Run, path: str, home: Path) -> str:
    """Write a run in the format of the path's suffix, relative to `home`; return the file's size."""
    suffix = Path(path).suffix.lower()
    form = next((form for form in FORMS if form.suffix == suffix), None)
    if form is None:
        suffixes = ", ".join(form.suffix for form in FORMS)
        raise ConfigError(f"A run is written to files that end in {suffixes}, not to {Path(path).name!r}.")
    text = replay_html(run) if form is HTML else form.render(run)
    try:
        return human_size(
            write_own(path, text.encode("utf-8", "replace"), overwrite=False, home=home).stat().st_size
        )
    except OSError as error:
        raise ConfigError(f"{path!r} cannot be written: {error.strerror or error}.") from None


def _run(session: Session, name: str, example: str) -> Run:
    if not name:
        raise ConfigError(f"Name one run, such as `{session.command(example)}`.")
    run = session.namespace.get(name)
    if not isinstance(run, Run):
        raise ConfigError(
            f"`{name}` is not a finished run. `{session.command('load NAME')}` loads a saved one."
        )
    return run


def cells_command(session: Session, arguments: str) -> Any:
    """Show the code of a run as plain cells; `--verify` is the command `verify`."""
    names = [word for word in arguments.split() if word != VERIFY]
    name = names[0] if len(names) == 1 else ""
    run = _run(session, name, "cells hero")
    cells = run.to_cells()
    if not cells:
        raise ConfigError(f"`{name}` has executed no code. `-t kernel` gives a model the tool for it.")
    if VERIFY in arguments.split():
        return command_of("verify").call(session.host, name)
    display(cells)
    if cells.inputs:
        say(f"The cells need these names: {', '.join(cells.inputs)}.")
    say(
        f'`{name}.to_notebook("{name}.ipynb")` writes them as a notebook; '
        f"`{session.command(f'cells {name} {VERIFY}')}` runs them in a fresh kernel and reports differences."
    )
    return None
