"""`%agent submit [NOTEBOOK]`: the saved notebook, the log, the runs and their pages as one zip file."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from agent_nb._base.atomic import read_plain, write_atomically
from agent_nb._base.moment import TOLERANCE, Moment
from agent_nb.errors import ConfigError, SavedRunError
from agent_nb.files import human_size, zipped
from agent_nb.lab.log import FILE
from agent_nb.lab.log_reader import LogReading, read_log
from agent_nb.lab.notebook_reader import NotebookReading, read_notebook
from agent_nb.lab.submission import (
    MAX_LOG,
    MAX_NOTEBOOK,
    MAX_PAGES,
    MAX_RUN,
    MAX_RUNS,
    NOTEBOOK_SUFFIX,
    PAGES,
    RUNS,
)
from agent_nb.plugins import Notebook
from agent_nb.render import to_page
from agent_nb.render.summary import duration, plural
from agent_nb.run.record import saved_form
from agent_nb.run.saved import read_run
from agent_nb.run.store import RunStore, run_id

_GRANULARITY = 0.05
"""Seconds by which the time of a file may lag behind the clock."""


def submit_command(notebook: Notebook, rest: str) -> str:
    """Writes `NAME-submission.zip` into the working directory; returns what is in it."""
    path = _find(notebook, rest.strip("\"'"))
    home = notebook.folder
    data = _read(path, home if path.is_relative_to(home) else path.parent, "Clear large outputs")
    reading = read_notebook(data)
    notes = list(_check_saved(notebook, path, reading))
    if reading.secrets:
        places = ", ".join(reading.secrets[:5])
        raise ConfigError(
            f"There is an API key in the notebook ({places}). Delete it, save the notebook and submit again."
        )
    log_data = _read(home / FILE, home, "Ask your teacher") if os.path.lexists(home / FILE) else b""
    log = read_log(log_data)
    parts = {path.name: data, **({FILE: log_data} if log_data else {})}
    runs, left_out = _runs(notebook, log, path.name)
    pages = dict(_pages(runs))
    target = home / f"{path.stem}-submission.zip"
    archive = zipped(dict(sorted({**parts, **runs, **pages}.items())))
    try:
        write_atomically(target, archive, within=home, shared=True)
    except OSError as error:
        raise ConfigError(f"{str(target)!r} cannot be written: {error.strerror or error}.") from None
    # A kernel cannot see what was typed since.
    age = duration(max(0.0, Moment.now().wall - path.stat().st_mtime))
    contents = [f"{path.name} as saved {age} ago"]
    contents += [f"{FILE} with {plural(len(log.entries), 'run')}" if log_data else "no log"]
    contents += [plural(len(runs), "saved run"), plural(len(pages), "page")]
    lines = [f"Wrote {target.name} ({human_size(len(archive))}): {', '.join(contents)}."]
    if left_out:
        notes.append(
            f"{plural(left_out, 'older run')} left out: a submission holds {human_size(MAX_RUNS)} of runs."
        )
    return "\n".join([*lines, *notes, *reading.remarks(), *log.remarks()])


def _find(notebook: Notebook, given: str) -> Path:
    command = notebook.command(f"submit week3{NOTEBOOK_SUFFIX}")
    if not given:
        if notebook.file is None:
            raise ConfigError(f"This kernel does not know its notebook's file. Name it, such as `{command}`.")
        return notebook.file
    path = notebook.folder / Path(given).expanduser()
    if path.suffix != NOTEBOOK_SUFFIX:
        raise ConfigError(f"{given!r} is not a notebook. Name one, such as `{command}`.")
    if not path.is_file():
        raise ConfigError(f"There is no notebook {given!r} in {notebook.folder}.")
    return path


def _read(path: Path, within: Path, remedy: str) -> bytes:
    limit = MAX_LOG if path.name == FILE else MAX_NOTEBOOK
    try:
        size = path.lstat().st_size
        if size > limit:
            raise ConfigError(
                f"{path.name} has {human_size(size)}; at most {human_size(limit)} can be submitted. {remedy}."
            )
        return read_plain(path, within=within)
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be read: {error.strerror or error}.") from None


def _check_saved(notebook: Notebook, path: Path, reading: NotebookReading) -> Iterator[str]:
    """Refuses a file that is older than the last execution; yields what there is to say about the clock."""
    own = notebook.command("submit")
    # A cell that submits the notebook changes nothing worth saving.
    last = next((cell for cell in reversed(notebook.ended) if own not in cell.source), None)
    now, saved = Moment.now(), path.stat().st_mtime
    if last is None:
        return
    if now.set_back_since(last.moment) or saved > now.wall + TOLERANCE:
        # The times say nothing, so what the last cell has left in the file must do.
        yield "The clock of this computer was set back, or differs from that of the drive."
        is_older = not reading.has_run(last.execution_count)
    else:
        is_older = saved < last.moment.wall - _GRANULARITY
    if is_older:
        raise ConfigError(
            f"{path.name} on disk is older than your last cell: save the notebook first, then submit again."
        )


def _runs(notebook: Notebook, log: LogReading, own_name: str) -> tuple[dict[str, bytes], int]:
    """The runs of this notebook by their names in the zip file, and how many older ones had no room.

    The variables come first: they have edits by hand that no saved run has.
    """
    found: dict[str, bytes] = {}
    seen: set[str] = set()
    left, left_out = MAX_RUNS, 0
    for name, run_data in _candidates(notebook, log, own_name):
        identity = name.rpartition("-")[2]
        if identity in seen:
            continue
        seen.add(identity)
        if len(run_data) > min(left, MAX_RUN):
            left_out += 1
            continue
        left -= len(run_data)
        found[name] = run_data
    return found, left_out


def _candidates(notebook: Notebook, log: LogReading, own_name: str) -> Iterator[tuple[str, bytes]]:
    """Runs as `runs/hero-ID.json` and their saved form, the most important first."""
    for name, run in notebook.runs.items():
        if name == run.name:
            yield f"{RUNS}{name}-{run.id}.json", saved_form(run)
    store = RunStore(notebook.folder)
    others = {path.name for path in notebook.folder.glob(f"*{NOTEBOOK_SUFFIX}")} - {own_name}
    # A notebook that was renamed has runs under its old name.
    own = {entry.id for entry in log.entries if entry.notebook not in others}
    for row in reversed(store.rows()):
        if run_id(row) in own or not log.entries:
            try:
                yield f"{RUNS}{row['name']}-{run_id(row)}.json", store.read(row)
            except OSError:  # another notebook has pruned it, or it is a link
                continue


def _pages(runs: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """The newest page of each name, as closed as the preview."""
    left = MAX_PAGES
    newest: dict[str, bytes] = {}
    for path, data in runs.items():
        newest.setdefault(path.removeprefix(RUNS).rpartition("-")[0], data)
    for name, data in newest.items():
        with contextlib.suppress(SavedRunError):
            page = (to_page(read_run(data, name)) or "").encode("utf-8", "replace")
            if 0 < len(page) <= left:
                left -= len(page)
                yield f"{PAGES}{name}.html", page
