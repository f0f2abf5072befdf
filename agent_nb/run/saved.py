"""A run as JSON with its secrets masked, and read again. A bad file raises `SavedRunError` with one sentence."""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from agent_nb._base.secrets import dump_masked, mask_pieces
from agent_nb._base.wire import Json, WireError, each_from_wire, from_wire, to_wire
from agent_nb.errors import AgentError, SavedRunError
from agent_nb.events import Delta, Event, FileChanged, TurnRetrying, TurnStarted
from agent_nb.run.moments import placed
from agent_nb.run.record import RunRecord, Settings
from agent_nb.run.run import Run

FORMAT = "agent_nb.run"
FORMAT_VERSION = 1
_NESTED = ("files", "given_files", "events", "variants")
DAMAGES = (AgentError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Exceptions that reading a damaged file can raise."""


def saved_form(run: RunRecord, **more: Any) -> bytes:
    """The run as JSON that `load` reads, with `more` fields and secrets masked."""
    wire = {"format": FORMAT, "version": FORMAT_VERSION, **more, **_to_wire(run)}
    return dump_masked(wire).encode("utf-8", "replace")


def _to_wire(run: RunRecord) -> Json:
    wire = {f.name: to_wire(getattr(run, f.name)) for f in fields(run) if f.name not in _NESTED}
    return {
        **wire,
        "files": run.files.to_wire(),
        "given_files": run.given_files.to_wire() if run.given_files is not None else None,
        "events": _events_to_wire(run.events),
        "variants": [_to_wire(variant) for variant in run.variants],
    }


def _events_to_wire(events: Sequence[Event]) -> list[Json]:
    """Masks the pieces of each stream as one text, because a secret may be split over several of them."""
    wires: list[Json] = []
    streams: dict[tuple[Any, ...], list[Json]] = {}
    turn = 0
    for event in events:
        wire: Json = to_wire(event)
        del wire["run_id"]
        wires.append(wire)
        if isinstance(event, Delta):
            stream = turn, wire["type"], wire.get("call_id"), wire.get("path")
            streams.setdefault(stream, []).append(wire)
        elif isinstance(event, TurnStarted | TurnRetrying):
            turn += 1
    for pieces in streams.values():
        texts = mask_pieces([piece["text"] for piece in pieces])
        for piece, text in zip(pieces, texts, strict=True):
            piece["text"] = text
    return wires


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
