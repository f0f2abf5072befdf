"""`%agent submit [NOTEBOOK]`: writes the saved notebook, the log, the runs and their pages to a zip file."""

import contextlib
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import read_plain, write_atomically
from agent_nb._base.secrets import can_be_secret, is_secret_name, secret_spans, shortened
from agent_nb._base.text import plural, printable_line
from agent_nb._base.wire import Json
from agent_nb.classroom.log import FILE, LogReading, read_log
from agent_nb.core.errors import ConfigError, SavedRunError
from agent_nb.files import human_size, zipped
from agent_nb.files.notebook_cells import CellContent, read_notebook_cells
from agent_nb.plugins import Notebook
from agent_nb.render import to_page
from agent_nb.render.summary import duration
from agent_nb.run.run_lines import SUFFIX
from agent_nb.run.run_reader import read_run
from agent_nb.run.run_writer import run_file
from agent_nb.run.store import RunStore, run_id

NOTEBOOK_SUFFIX = ".ipynb"
RUNS = "runs/"
PAGES = "pages/"
MAX_NOTEBOOK = 50_000_000
MAX_LOG = 20_000_000
MAX_RUN = 20_000_000
MAX_RUNS = 50_000_000
MAX_PAGES = 20_000_000
_SUBMIT = re.compile(r"^[ \t]*+%\w+[ \t]+submit\b", re.MULTILINE)
_CHECK = re.compile(r"%%\w+\s.*--check(?:\s|=)")
_MOST_NAMED = 5
_GRANULARITY = 0.05
"""Seconds by which a file's timestamp may lag behind the clock."""
AGAIN = "Restart the kernel, run all cells and save."


@dataclass(frozen=True, slots=True)
class NotebookReading:
    cells: tuple[CellContent, ...]
    """The code cells, without those that submit the notebook."""
    submits: int
    """Number of cells that submit the notebook. They run after it was saved."""
    secrets: tuple[str, ...]
    """Locations of text that looks like a key, or metadata named like one: `cell 2`, `metadata`."""

    def remarks(self) -> Iterator[str]:
        if unrun := [cell for cell in self.cells if cell.count is None]:
            yield f"{_named(unrun)} did not run."
        ran = [(cell, cell.count) for cell in self.cells if cell.count is not None]
        late = [cell for (_, before), (cell, count) in pairwise(ran) if count <= before]
        if late:
            yield f"{_named(late)} ran before the cell above. {AGAIN}"
        elif ran and ran[-1][1] > len(ran) + self.submits:
            yield f"Some cells ran more than once: {len(ran)} cells have numbers up to {ran[-1][1]}. {AGAIN}"
        kinds = {cell.number: [output.get("output_type") for output in cell.outputs] for cell in self.cells}
        if failed := [cell for cell in self.cells if is_check(cell) and "error" in kinds[cell.number]]:
            yield f"The check of {_named(failed, capital=False)} failed."


def read_notebook(data: bytes) -> NotebookReading:
    """Parse an untrusted notebook; raises `ConfigError` if it is not valid."""
    try:
        content = json.loads(data)
        cells = [cell for cell in content["cells"] if isinstance(cell, dict)]
        places = {f"cell {number}": cell for number, cell in enumerate(cells, 1)}
        places["metadata"] = {name: value for name, value in content.items() if name != "cells"}
        secrets = tuple(place for place, value in places.items() if _holds_secret(value))
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ConfigError("The notebook is damaged: it is not JSON with cells.") from None
    all_cells = read_notebook_cells(content["cells"], from_file=True)
    code = [cell for cell in all_cells if cell.kind == "code" and cell.source.strip()]
    others = tuple(cell for cell in code if not _SUBMIT.search(cell.source))
    return NotebookReading(others, len(code) - len(others), secrets)


def _holds_secret(part: Json) -> bool:
    """Whether a cell, or the notebook without its cells, contains a key. Papermill stores parameters in metadata."""
    return any(secret_spans(text) for text in _texts(part)) or _names_secret(part.get("metadata"))


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts as displayed: lines of a list are joined, and so are consecutive outputs."""
    match value:
        case dict():
            for name, item in value.items():
                yield name
                yield from _texts(item)
        case list():
            texts = [item.get("text") if isinstance(item, dict) else item for item in value]
            lines = [line for text in texts for line in (text if isinstance(text, list) else [text])]
            yield "".join(line for line in lines if isinstance(line, str))
            yield from (text for item in value if not isinstance(item, str) for text in _texts(item))
        case str():
            yield value


def _names_secret(value: Any, name: str = "") -> bool:
    match value:
        case dict():
            return any(_names_secret(item, str(key)) for key, item in value.items())
        case list():
            return any(_names_secret(item, name) for item in value)
        case _:
            return isinstance(value, str) and is_secret_name(name) and can_be_secret(value)


def is_check(cell: CellContent) -> bool:
    lines = cell.source.splitlines()
    head = takewhile(lambda line: line.startswith(("%%", "#")) or not line.strip(), lines)
    return any(map(_CHECK.match, head))


def _label(cell: CellContent) -> str:
    line = printable_line(cell.source.strip().partition("\n")[0])
    return f"cell {cell.number} (`{shortened(line, 40)}`)"


def _named(cells: list[CellContent], *, capital: bool = True) -> str:
    labels = [_label(cell) for cell in cells[:_MOST_NAMED]]
    text = ", ".join(labels) + (f" and {len(cells) - _MOST_NAMED} more" if len(cells) > _MOST_NAMED else "")
    return text[0].upper() + text[1:] if capital else text


def submit_command(notebook: Notebook, arguments: str) -> str:
    path = _find(notebook, arguments.strip("\"'"))
    home = notebook.folder
    data = _read(path, home if path.is_relative_to(home) else path.parent, "Clear large outputs")
    reading = read_notebook(data)
    _check_saved(notebook, path)
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
    # The kernel cannot see unsaved edits.
    age = duration(max(0.0, time.time() - path.stat().st_mtime))
    contents = [f"{path.name} as saved {age} ago"]
    contents += [f"{FILE} with {plural(len(log.entries), 'run')}" if log_data else "no log"]
    contents += [plural(len(runs), "saved run"), plural(len(pages), "page")]
    lines = [f"Wrote {target.name} ({human_size(len(archive))}): {', '.join(contents)}."]
    if left_out:
        lines.append(
            f"{plural(left_out, 'older run')} left out: a submission holds {human_size(MAX_RUNS)} of runs."
        )
    return "\n".join([*lines, *reading.remarks(), *log.remarks()])


def _find(notebook: Notebook, argument: str) -> Path:
    command = notebook.command(f"submit week3{NOTEBOOK_SUFFIX}")
    if not argument:
        if notebook.file is None:
            raise ConfigError(f"This kernel does not know its notebook's file. Name it, such as `{command}`.")
        return notebook.file
    path = notebook.folder / os.path.expanduser(argument)
    if path.suffix != NOTEBOOK_SUFFIX:
        raise ConfigError(f"{argument!r} is not a notebook. Name one, such as `{command}`.")
    if not path.is_file():
        raise ConfigError(f"There is no notebook {argument!r} in {notebook.folder}.")
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


def _check_saved(notebook: Notebook, path: Path) -> None:
    command = notebook.command("submit")
    # Cells that submit the notebook need not be saved.
    last_run = next((time for source, time in reversed(notebook.ended) if command not in source), 0.0)
    if path.stat().st_mtime < last_run - _GRANULARITY:
        raise ConfigError(
            f"{path.name} on disk is older than your last cell: save the notebook first, then submit again."
        )


def _runs(notebook: Notebook, log: LogReading, own_name: str) -> tuple[dict[str, bytes], int]:
    """Return the runs by name in the zip file, variables first for their edits, and the count of omitted runs."""
    runs: dict[str, bytes] = {}
    run_ids: set[str] = set()
    remaining, left_out = MAX_RUNS, 0
    for name, run_data in _candidates(notebook, log, own_name):
        identity = name.rpartition("-")[2]
        if identity in run_ids:
            continue
        run_ids.add(identity)
        if len(run_data) > min(remaining, MAX_RUN):
            left_out += 1
            continue
        remaining -= len(run_data)
        runs[name] = run_data
    return runs, left_out


def _candidates(notebook: Notebook, log: LogReading, own_name: str) -> Iterator[tuple[str, bytes]]:
    """Yield names such as `runs/hero-ID.run.jsonl` and saved runs, the most important first."""
    for name, run in notebook.runs.items():
        if name == run.name:
            yield f"{RUNS}{name}-{run.id}{SUFFIX}", run_file(run)
    store = RunStore(notebook.folder)
    other_names = {path.name for path in notebook.folder.glob(f"*{NOTEBOOK_SUFFIX}")} - {own_name}
    # A renamed notebook has runs under its old name.
    own_ids = {entry.id for entry in log.entries if entry.notebook not in other_names}
    for row in reversed(store.rows()):
        if run_id(row) in own_ids or not log.entries:
            try:
                yield f"{RUNS}{row['name']}-{run_id(row)}{SUFFIX}", store.read(row)
            except OSError:  # pruned by another notebook, or a link
                continue


def _pages(runs: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    remaining = MAX_PAGES
    newest: dict[str, bytes] = {}
    for path, data in runs.items():
        newest.setdefault(path.removeprefix(RUNS).rpartition("-")[0], data)
    for name, data in newest.items():
        with contextlib.suppress(SavedRunError):
            page = (to_page(read_run(data, name)) or "").encode("utf-8", "replace")
            if 0 < len(page) <= remaining:
                remaining -= len(page)
                yield f"{PAGES}{name}.html", page
