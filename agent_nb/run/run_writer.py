"""Writes a run as lines of JSON, with secrets masked. docs/internals/run-file.md describes the file.

The first line is a header. Each variant has one line per event, with consecutive deltas joined, and a line with the
remaining fields. The last line says which variant is chosen.

Each long text is stored once and referenced where it occurs again. Texts are numbered in the order of the file: strings
of 64 characters or more, consecutive deltas of one text, and the file versions that patches produce. The long strings
inside a JSON text are numbered after it. A reference is one of:

    {"$": 12}                    text 12
    {"$": ["...", 12, "..."]}    text 12 between other characters
    {"$json": ["...", 12, ...]}  the same, with text 12 as a JSON string
"""

import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import MISSING, fields
from itertools import pairwise
from typing import Any

import agent_nb.core.events as ev
from agent_nb._base.secrets import mask, mask_pieces
from agent_nb._base.text import change_texts, whole_text
from agent_nb._base.wire import Json, brief_wire, default_of, parse_json, to_wire
from agent_nb.core.event_list import delta_groups
from agent_nb.core.messages import Message
from agent_nb.files.diffs import apply_patch, compare
from agent_nb.run.record import RunRecord

DELTAS = {kind.type for kind in (ev.TextDelta, ev.ThinkingDelta, ev.ToolArgsDelta, ev.FileDelta)}
LONG = 64
MOST_EXPANDED = 200_000_000
"""Maximum characters that a file's references may stand for: a few bytes could repeat a large text many times."""
MOST_VERSIONS = 1_000_000_000
"""Maximum characters of all file versions that are read: a patch of a few bytes makes another large version."""
MOST_PATCHED = 64_000_000
"""Characters of file versions that are numbered; a run keeps as many bytes of old versions."""
_SEARCHED = 64
"""Number of recent texts to search for inside another text: repetitions usually follow soon."""
_MARKS = {"$", "$json", "$plain"}
FORMAT, VERSION = "agent-nb.run", 1
SUFFIX = ".run.jsonl"
VARIANT, RUN = "variant", "run"
_TURNS = {kind.type for kind in (ev.RunStarted, ev.TurnStarted, ev.TurnRetrying)}
_LAST = ("messages", "replaced", "files", "given_files")
"""Written last, because they refer to texts in the other fields."""
_DEFAULTS = {
    field.name: None if (default := default_of(field)) is MISSING else brief_wire(default)
    for field in fields(RunRecord)
    if field.name not in ("events", "variants")
}
"""Defaults of the stored fields in wire form; None for required fields."""


class _Texts(ABC):
    """The numbered texts of a file, as far as it has been written or read."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._open: dict[Hashable, list[str]] = {}
        self._patched = 0
        self.files: dict[str, str] = {}
        """The variant's text files after the events so far."""

    def add(self, text: str) -> None:
        for string in (text, *_strings_in(text)):
            self._number(string)

    def _number(self, text: str) -> None:
        self._texts.append(text)

    def event(self, row: Json) -> Json:
        """Convert an event to or from its stored form."""
        kind = row.get("type")
        if kind == ev.RunStarted.type:
            self.files = {}
        if row.get("offset") == 0 or kind not in DELTAS | {ev.UsageUpdated.type}:
            for pieces in self._open.values():
                self.add("".join(pieces))
            self._open = {}
        if kind not in DELTAS:
            return {name: self.convert(value) for name, value in row.items()}
        self._open.setdefault((kind, row.get("call_id"), row.get("path")), []).append(row["text"])
        return row

    @abstractmethod
    def convert(self, value: Any) -> Any:
        """Convert a value of the file to or from its stored form."""

    def change(self, path: str, patch: Sequence[ev.LinePatch] | None) -> None:
        """Apply a patch and number the new version; None for a binary file."""
        old_text = self.files.pop(path, "")
        if patch is None:
            return
        self.files[path] = text = apply_patch(old_text, patch)
        self._patched += len(text)
        if self._patched <= MOST_PATCHED:
            self._number(text)


class TextReader(_Texts):
    """Resolves references, given the file's values in order. Raises `ValueError` for an invalid one."""

    def __init__(self) -> None:
        super().__init__()
        self._expanded = 0

    def convert(self, value: Any) -> Any:
        match value:
            case str():
                if len(value) >= LONG:
                    self.add(value)
                return value
            case {"$": int(number)} if len(value) == 1:
                return self._text(number)
            case {"$": list(pieces)} if len(value) == 1:
                return self._joined(pieces, str)
            case {"$json": list(pieces)} if len(value) == 1:
                return self._joined(pieces, _quoted)
            case {"$plain": dict(plain)} if len(value) == 1:
                return {key: self.convert(item) for key, item in plain.items()}
            case dict():
                return {key: self.convert(item) for key, item in value.items()}
            case list():
                return [self.convert(item) for item in value]
            case _:
                return value

    def change(self, path: str, patch: Sequence[ev.LinePatch] | None) -> None:
        super().change(path, patch)
        if self._patched > MOST_VERSIONS:
            raise ValueError(f"its file versions have more than {MOST_VERSIONS:,} characters")

    def count(self, characters: int) -> None:
        """Count what a reference stands for, whether or not it is copied: whatever uses the run will copy it."""
        self._expanded += characters
        if self._expanded > MOST_EXPANDED:
            raise ValueError(f"its references expand to more than {MOST_EXPANDED:,} characters")

    def _joined(self, pieces: list[Any], form: Callable[[str], str]) -> str:
        return "".join(piece if isinstance(piece, str) else self._text(piece, form) for piece in pieces)

    def _text(self, number: Any, form: Callable[[str], str] = str) -> str:
        if isinstance(number, int) and 0 <= number < len(self._texts):
            text = form(self._texts[number])
            self.count(len(text))
            return text
        raise ValueError(f"{str(number)[:40]!r} refers to no text before it")


class TextWriter(_Texts):
    """Replaces texts by references, given the file's values in order."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[str, int] = {}
        self._recent: deque[str] = deque(maxlen=_SEARCHED)

    def _number(self, text: str) -> None:
        if len(text) >= LONG and text not in self._numbers:
            self._numbers[text] = len(self._texts)
            if " " in text:  # otherwise it is base64
                self._recent.append(text)
        super()._number(text)

    def convert(self, value: Any) -> Any:
        match value:
            case str():
                return self._shortest(value) if len(value) >= LONG else value
            case dict():
                converted = {key: self.convert(item) for key, item in value.items()}
                return {"$plain": converted} if len(value) == 1 and value.keys() <= _MARKS else converted
            case list() | tuple():
                return [self.convert(item) for item in value]
            case _:
                return value

    def _shortest(self, text: str) -> str | Json:
        if text in self._numbers:
            return {"$": self._numbers[text]}
        strings = [string for string in _strings_in(text) if string in self._numbers]
        if pieces := self._pieces(text, strings, _quoted):
            return {"$json": pieces}
        longest = max((recent for recent in self._recent if recent in text), key=len, default=None)
        if longest is not None:
            return {"$": self._pieces(text, [longest], str)}
        self.add(text)
        return text

    def _pieces(self, text: str, earlier_texts: Iterable[str], form: Callable[[str], str]) -> list[str | int]:
        """Split the text into numbers of earlier texts and characters between; empty if it contains none."""
        pieces: list[str | int] = []
        start = 0
        for earlier in earlier_texts:
            needle = form(earlier)
            at = text.find(needle, start)
            if at >= 0:
                pieces += [text[start:at], self._numbers[earlier]]
                start = at + len(needle)
        return [*pieces, text[start:]] if pieces else []


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _strings_in(text: str) -> Iterator[str]:
    """The long strings in a JSON object or list; none if the text is neither."""
    values = [parse_json(text)] if text[:1] in ("{", "[") else []
    while values:
        value = values.pop()
        if isinstance(value, str) and len(value) >= LONG:
            yield value
        elif isinstance(value, dict | list):
            values += reversed([*value.values()] if isinstance(value, dict) else value)


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
        implied = {**_DEFAULTS, **derived(header, rows)}
        lines.append({"type": VARIANT, **texts.convert(_without_implied(records[-1], implied))})
    lines.append({"type": RUN})
    if run.variants:
        chosen = next((i for i, variant in enumerate(variants) if variant.variant == run.variant), 0)
        lines[-1] |= {"chosen": chosen, **texts.convert(_without_implied(_fields(run), records[chosen]))}
    return "".join(f"{_dump(line)}\n" for line in lines).encode()


def _without_implied(record: Json, implied: Json) -> Json:
    return {name: value for name, value in record.items() if value != implied[name]}


def _dump(line: Json) -> str:
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    # Some readers treat these as line breaks, though JSON does not.
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")


def _header(run: RunRecord) -> Json:
    """The first line. Lists of runs read only its beginning."""
    header: Json = {"format": FORMAT, "version": VERSION}
    header |= {name: getattr(run, name) for name in ("model", "reason", "name", "key", "id")}
    header |= {"settings": to_wire(run.settings), "prompt": run.prompt}
    request = {key: value for key, value in run.fingerprint.get("yours", {}).items() if key != "prompt"}
    fingerprint = {**run.fingerprint, "yours": request} if run.fingerprint else {}
    masked: Json = change_texts({**header, "fingerprint": to_wire(fingerprint)}, _masked)
    return masked


def derived(header: Json, rows: Sequence[Json]) -> Json:
    """The fields of a variant that can be derived from the first line and its events."""
    values = {name: header[name] for name in ("name", "key", "id", "prompt", "settings")}
    if fingerprint := header["fingerprint"]:
        yours = {"prompt": header["prompt"], **fingerprint["yours"]}
        values["fingerprint"] = {**fingerprint, "yours": yours}
    if rows:
        start, end = rows[0], rows[-1]
        values |= {"model": start["model"], "settings": start.get("settings", header["settings"])}
        values |= {name: end.get(name) for name in ("reason", "usage", "cost", "seconds", "error")}
    return values


def _fields(run: RunRecord) -> Json:
    """All fields except events and variants, in wire form."""
    values = {field.name: getattr(run, field.name) for field in fields(run) if field.name in _DEFAULTS}
    wires = {name: brief_wire(value) for name, value in values.items() if name not in _LAST}
    event_messages = [event.message for event in run.events.of(ev.MessageAdded)]
    wires["messages"] = _messages(run.messages, event_messages)
    wires["replaced"] = [_messages(messages, event_messages) for messages in run.replaced]
    wires["files"] = run.files.to_wire(_masked)
    wires["given_files"] = None if run.given_files is None else run.given_files.to_wire(_masked)
    masked: Json = change_texts(wires, _masked)
    return masked


def _messages(messages: Iterable[Message], event_messages: Sequence[Message]) -> list[Json | int]:
    return [
        event_messages.index(message) if message in event_messages else brief_wire(message)
        for message in messages
    ]


def _masked(text: str) -> str:
    return mask(whole_text(text))


def _rows(run: RunRecord, settings: Json) -> Iterator[Json]:
    """The events in stored form, with consecutive deltas of one text joined."""
    rows = _masked_events(run.events)
    for start, end in delta_groups(run.events):
        row = rows[start]
        if row["type"] == ev.RunStarted.type and row.get("settings", {}) == settings:
            row.pop("settings", None)
        yield from _joined(rows[start:end])


def _joined(rows: Sequence[Json]) -> Sequence[Json]:
    """Join deltas into one; `pace` has the length of each and the milliseconds since the previous one."""
    times = [round(row["at"] * 1000) for row in rows]
    if len(rows) == 1 or any(time / 1000 != row["at"] for time, row in zip(times, rows, strict=True)):
        return rows
    gaps = [0, *(end - start for start, end in pairwise(times))]
    pace = [number for row, gap in zip(rows, gaps, strict=True) for number in (len(row["text"]), gap)]
    return [{**rows[0], "text": "".join(row["text"] for row in rows), "pace": pace}]


def _masked_events(events: Iterable[ev.Event]) -> list[Json]:
    """Encode the events, masking each stream as one text: a secret may be split over several pieces."""
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
        rows[-1] = change_texts(row, _masked)
    for pieces in streams.values():
        _mask_stream(pieces)
    return rows


def _mask_stream(rows: Sequence[Json]) -> None:
    offset = rows[0].get("offset", 0)
    pieces = [row["text"] for row in rows]
    texts = mask_pieces([whole_text(piece) for piece in pieces])
    for row, text in zip(rows, texts, strict=True):
        row |= {name: _masked(row[name]) for name in ("call_id", "path") if name in row}
        row["text"] = text
        if "offset" in row and texts != pieces:  # masking shifts the offsets
            row["offset"] = offset
        offset += len(text)


def _masked_patch(event: ev.FileChanged, files: dict[str, tuple[str, str]]) -> Json:
    """The patch between masked versions of a file. `files` maps paths to original and masked text."""
    old_text, old_masked = files.pop(event.path, ("", ""))
    if event.patch is None:
        return {}
    text = apply_patch(old_text, event.patch)
    masked = _masked(text)
    files[event.path] = text, masked
    if (text, old_text) == (masked, old_masked):
        return {}
    return {"patch": [list(change) for change in compare(old_masked, masked).patch]}
