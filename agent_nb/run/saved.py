"""Reads a saved run. A bad file raises `SavedRunError` with one sentence."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_nb._base.wire import Json, WireError, each_from_wire, from_wire
from agent_nb.errors import AgentError, SavedRunError
from agent_nb.events import FileChanged
from agent_nb.run.moments import placed
from agent_nb.run.record import FORMAT, FORMAT_VERSION, Settings
from agent_nb.run.run import Run

DAMAGES = (AgentError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Exceptions that reading a damaged file can raise."""


def run_from_wire(data: Json) -> Run:
    """The run that this describes. Its types and names are checked: a file may come from anywhere."""
    _tag_events(data)
    run: Run = from_wire(Run, data)
    _check(run)
    return replace(run, annotations=placed(run, run.annotations)) if run.annotations else run


def _tag_events(data: Json) -> None:
    """Adds to the events what they are saved without."""
    for event in each_from_wire(dict[str, Any], data.get("events", ())):
        event["run_id"] = data.get("id")
    for variant in each_from_wire(dict[str, Any], data.get("variants", ())):
        _tag_events(variant)


def _check(run: Run) -> None:
    from_wire(Settings, run.settings)
    # File names are made of these. `agent.map` gives names such as `runs[0]`.
    words = {"name": re.sub(r"\[\d+\]$", "", run.name), "id": f"_{run.id}", "key": f"_{run.key}"}
    for field, word in words.items():
        if not word.replace("-", "_").isidentifier():
            raise WireError(f"is {getattr(run, field)[:40]!r}, which is no name", field)
    files = run.files if run.given_files is None else run.given_files
    for event in run.events.of(FileChanged):
        if event.path not in files.paths:
            raise WireError(f"change {event.path[:40]!r}, which is none of its files", "events")
    for variant in run.variants:
        _check(variant)


def load(path: str | os.PathLike[str]) -> Run:
    """Reads a run that `run.save` wrote."""
    source = Path(path)
    try:
        data = source.read_bytes()
    except FileNotFoundError:
        raise SavedRunError(
            f"There is no file {str(source)!r}. `%agent runs` lists the saved runs."
        ) from None
    except OSError as error:
        raise SavedRunError(f"{str(source)!r} is not a saved run: {error}.") from None
    return read_run(data, str(source))


def read_run(data: bytes, source: str) -> Run:
    """Reads a run from the contents of a file, which `source` names."""
    try:
        wire = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise SavedRunError(f"{source!r} is not a saved run: {error}.") from None
    if not isinstance(wire, dict) or wire.get("format") != FORMAT:
        raise SavedRunError(f"{source!r} is not a saved run.")
    try:
        if from_wire(int, wire.get("version", 0)) > FORMAT_VERSION:
            raise SavedRunError(
                f"{source!r} was saved by a newer agent_nb. Upgrade: `pip install -U agent-nb`."
            )
        return run_from_wire(wire)
    except SavedRunError:
        raise
    except DAMAGES as error:
        raise SavedRunError(f"{source!r} is damaged: {str(error).removesuffix('.')}.") from None
