"""Reads a saved run. A bad file raises `SavedRunError` with one sentence."""

import json
import os
from dataclasses import fields, replace
from pathlib import Path

from agent_nb._base.wire import Json, from_wire
from agent_nb.errors import AgentError, SavedRunError
from agent_nb.event_list import EventList
from agent_nb.events import event_from_wire
from agent_nb.files import Files
from agent_nb.messages import Message, ToolSpec, Usage
from agent_nb.run.annotate import placed
from agent_nb.run.annotations import Annotation
from agent_nb.run.run import Run
from agent_nb.run.wire import FORMAT, FORMAT_VERSION, NESTED

DAMAGES = (AgentError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Exceptions that reading a damaged file can raise."""


def run_from_wire(data: Json) -> Run:
    plain = {f.name for f in fields(Run)} - {*NESTED, "messages", "replaced", "usage", "tools", "annotations"}
    given = data.get("given_files")
    run = Run(
        **{name: data[name] for name in plain if name in data},
        files=Files.from_wire(data["files"]),
        given_files=Files.from_wire(given) if given is not None else None,
        messages=from_wire(tuple[Message, ...], data["messages"]),
        replaced=from_wire(tuple[tuple[Message, ...], ...], data.get("replaced", ())),
        events=EventList(event_from_wire({**event, "run_id": data["id"]}) for event in data["events"]),
        usage=from_wire(Usage, data["usage"]),
        tools=from_wire(tuple[ToolSpec, ...], data.get("tools", ())),
        variants=tuple(run_from_wire(variant) for variant in data.get("variants", ())),
    )
    annotations = from_wire(tuple[Annotation, ...], data.get("annotations", ()))
    return replace(run, annotations=placed(run, annotations)) if annotations else run


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
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise SavedRunError(f"{source!r} is not a saved run: {error}.") from None
    if not isinstance(wire, dict) or wire.get("format") != FORMAT:
        raise SavedRunError(f"{source!r} is not a saved run.")
    try:
        if wire.get("version", 0) > FORMAT_VERSION:
            raise SavedRunError(
                f"{source!r} was saved by a newer agent_nb. Upgrade: `pip install -U agent-nb`."
            )
        return run_from_wire(wire)
    except SavedRunError:
        raise
    except DAMAGES as error:
        raise SavedRunError(f"{source!r} is damaged: {type(error).__name__} {error}.") from None
