"""Writes a run as lines of JSON, with secrets masked. docs/internals/run-file.md describes the file.

The first line says what is in the file. Each variant is a line for each event, in which consecutive deltas are one, and
a line with what no event has. The last line says which is chosen. Long texts are written once (`text_pool.py`).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, fields
from itertools import pairwise
from typing import Any

import agent_nb.events as ev
from agent_nb._base.secrets import mask, mask_pieces
from agent_nb._base.text import change_texts, whole_text
from agent_nb._base.wire import Json, brief_wire, default_of, to_wire
from agent_nb.files import apply_patch
from agent_nb.files.diffs import compare
from agent_nb.messages import Message
from agent_nb.run.record import RunRecord
from agent_nb.run.text_pool import DELTAS, TextWriter

FORMAT, VERSION = "agent-nb.run", 1
SUFFIX = ".run.jsonl"
VARIANT, RUN = "variant", "run"
_TURNS = {kind.type for kind in (ev.RunStarted, ev.TurnStarted, ev.TurnRetrying)}
_LAST = ("messages", "replaced", "files", "given_files")
"""Written after the other fields, because they refer to texts in those."""


def run_file(run: RunRecord) -> bytes:
    texts, header = TextWriter(), _header(run)
    texts.add(header["prompt"])
    variants: Sequence[RunRecord] = run.variants or (run,)
    lines, records = [header], []
    for variant in variants:
        rows = [*_rows(variant, header["settings"])]
        for row in rows:
            lines.append(texts.event(row))
            if row["type"] == ev.FileChanged.type:
                texts.change(row["path"], row.get("patch"))
        records.append(_fields(variant))
        known = {**_DEFAULTS, **derived(header, rows)}
        lines.append({"type": VARIANT, **texts.convert(_others(records[-1], known))})
    lines.append({"type": RUN})
    if run.variants:
        chosen = next((place for place, each in enumerate(variants) if each.variant == run.variant), 0)
        lines[-1] |= {"chosen": chosen, **texts.convert(_others(_fields(run), records[chosen]))}
    return "".join(f"{_dump(line)}\n" for line in lines).encode()


def _others(found: Json, known: Json) -> Json:
    return {name: value for name, value in found.items() if value != known[name]}


def _dump(line: Json) -> str:
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    # Some readers end a line at these, though JSON does not.
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")


def _header(run: RunRecord) -> Json:
    """The first line. A list of runs reads only its beginning."""
    header: Json = {"format": FORMAT, "version": VERSION}
    header |= {name: getattr(run, name) for name in ("model", "reason", "name", "key", "id")}
    header |= {"settings": to_wire(run.settings), "prompt": run.prompt}
    request = {key: value for key, value in run.fingerprint.get("yours", {}).items() if key != "prompt"}
    fingerprint = {**run.fingerprint, "yours": request} if run.fingerprint else {}
    masked: Json = change_texts({**header, "fingerprint": to_wire(fingerprint)}, _shown)
    return masked


def derived(header: Json, rows: Sequence[Json]) -> Json:
    """The fields of a variant that follow from the first line and from its events."""
    known = {name: header[name] for name in ("name", "key", "id", "prompt", "settings")}
    if fingerprint := header["fingerprint"]:
        known["fingerprint"] = {
            **fingerprint,
            "yours": {"prompt": header["prompt"], **fingerprint["yours"]},
        }
    if rows:
        start, end = rows[0], rows[-1]
        known |= {"model": start["model"], "settings": start.get("settings", header["settings"])}
        known |= {name: end.get(name) for name in ("reason", "usage", "cost", "seconds", "error")}
    return known


def _fields(run: RunRecord) -> Json:
    """All fields but the events and variants, as they are written."""
    found = {each.name: getattr(run, each.name) for each in fields(run) if each.name in _DEFAULTS}
    wires = {name: brief_wire(value) for name, value in found.items() if name not in _LAST}
    added = [event.message for event in run.events.of(ev.MessageAdded)]
    wires["messages"] = _messages(run.messages, added)
    wires["replaced"] = [_messages(messages, added) for messages in run.replaced]
    wires["files"] = run.files.to_wire(_shown)
    wires["given_files"] = None if run.given_files is None else run.given_files.to_wire(_shown)
    masked: Json = change_texts(wires, _shown)
    return masked


def _messages(messages: Iterable[Message], added: Sequence[Message]) -> list[Json | int]:
    return [added.index(message) if message in added else brief_wire(message) for message in messages]


_DEFAULTS = {
    each.name: None if (default := default_of(each)) is MISSING else brief_wire(default)
    for each in fields(RunRecord)
    if each.name not in ("events", "variants")
}
"""The wire form of the default of each field that is written; None if it has none."""


def _shown(text: str) -> str:
    return mask(whole_text(text))


def _rows(run: RunRecord, settings: Json) -> Iterator[Json]:
    """The events as they are written, consecutive deltas of one text as one."""
    group: list[Json] = []
    for row in _masked_events(run.events):
        if row["type"] == ev.RunStarted.type and row.get("settings", {}) == settings:
            row.pop("settings", None)
        if group and not _continues(group[-1], row):
            yield _joined(group)
            group = []
        if row["type"] in DELTAS:
            group.append(row)
        else:
            yield row
    if group:
        yield _joined(group)


def _continues(before: Json, row: Json) -> bool:
    names = ("type", "variant", "call_id", "path")
    if any(before.get(name) != row.get(name) for name in names) or row["seq"] != before["seq"] + 1:
        return False
    if any(round(each["at"] * 1000) / 1000 != each["at"] for each in (before, row)):
        return False
    return "offset" not in row or row["offset"] == before["offset"] + len(before["text"]) > 0


def _joined(rows: Sequence[Json]) -> Json:
    """One delta for several; `pace` has the length of each and the milliseconds since the one before."""
    if len(rows) == 1:
        return rows[0]
    times = [round(row["at"] * 1000) for row in rows]
    gaps = [0, *(time - before for before, time in pairwise(times))]
    pace = [number for row, gap in zip(rows, gaps, strict=True) for number in (len(row["text"]), gap)]
    return {**rows[0], "text": "".join(row["text"] for row in rows), "pace": pace}


def _masked_events(events: Iterable[ev.Event]) -> list[Json]:
    """Masks the pieces of each stream as one text, because a secret may be split over several of them."""
    rows: list[Json] = []
    streams: dict[tuple[Any, ...], list[Json]] = {}
    files: dict[str, tuple[str, str]] = {}
    turn = 0
    for event in events:
        row: Json = brief_wire(event)
        del row["run_id"]
        rows.append(row)
        if isinstance(event, ev.Delta):
            stream = turn, row["type"], row.get("call_id"), row.get("path")
            if row.get("offset") == 0:
                turn += 1  # the file starts over
                stream = turn, *stream[1:]
            streams.setdefault(stream, []).append(row)
            continue
        if isinstance(event, ev.FileChanged):
            row |= _masked_patch(event, files)
        elif row["type"] in _TURNS:
            turn += 1
        rows[-1] = change_texts(row, _shown)
    for pieces in streams.values():
        _mask_stream(pieces)
    return rows


def _mask_stream(rows: Sequence[Json]) -> None:
    offset = rows[0].get("offset", 0)
    pieces = [row["text"] for row in rows]
    texts = mask_pieces([whole_text(piece) for piece in pieces])
    for row, text in zip(rows, texts, strict=True):
        row |= {name: _shown(row[name]) for name in ("call_id", "path") if name in row}
        row["text"] = text
        if "offset" in row and texts != pieces:  # the masked file has other places
            row["offset"] = offset
        offset += len(text)


def _masked_patch(event: ev.FileChanged, files: dict[str, tuple[str, str]]) -> Json:
    """The patch that makes the masked file from the masked file before. `files` has both forms of each text."""
    before, before_shown = files.pop(event.path, ("", ""))
    if event.patch is None:
        return {}
    text = apply_patch(before, event.patch)
    shown = _shown(text)
    files[event.path] = text, shown
    if (text, before) == (shown, before_shown):
        return {}
    return {"patch": [list(each) for each in compare(before_shown, shown).patch]}
