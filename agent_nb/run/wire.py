"""A run as JSON, with its secrets masked."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from agent_nb._base.secrets import dump_masked, mask_pieces
from agent_nb._base.wire import Json, to_wire
from agent_nb.events import Delta, Event, TurnRetrying, TurnStarted
from agent_nb.run.record import RunRecord

FORMAT = "agent_nb.run"
FORMAT_VERSION = 1
_NESTED = ("files", "given_files", "events", "variants")


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
