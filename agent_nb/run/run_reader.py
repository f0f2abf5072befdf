"""Reads the file of a run. It is untrusted, so everything is validated, and an error is one sentence.

Nothing in a file is executed. Its events must be consistent: numbers, times, calls, file changes.
"""

import json
import math
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, cast

import agent_nb.core.events as ev
from agent_nb._base.atomic import read_file
from agent_nb._base.wire import Json, WireError, from_wire, parse_json, to_wire
from agent_nb.core.errors import AgentError, SavedRunError
from agent_nb.core.event_list import EventList
from agent_nb.core.messages import Message, Origin, Text
from agent_nb.core.run_settings import check_recorded
from agent_nb.files import MAX_TEXT_BYTES, Files, safe_path
from agent_nb.render.outputs import check_outputs
from agent_nb.run.moments import sort_annotations
from agent_nb.run.run import Run
from agent_nb.run.run_writer import DELTAS, FORMAT, RUN, VARIANT, VERSION, TextReader, derived

_BROKEN = (AgentError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
MAX_BYTES = 1_000_000_000
_OPENING = re.compile(r"\s*(?:About|In tool calls,) the (images|elements) of this request")


class _Image(TypedDict):
    name: str
    sha256: str


class _Request(TypedDict, total=False):
    """Fields that must match for a replay, besides the settings."""

    model: str | None
    variants: tuple[str | None, ...]
    system: str
    images: tuple[_Image, ...]
    files: dict[str, str]
    tools: dict[str, str]
    servers: dict[str, str]
    """Origins of the tools from MCP servers."""
    history: str


class _Fingerprint(TypedDict, total=False):
    yours: _Request
    ours: Json


class _Header(TypedDict):
    version: int
    model: str
    reason: str
    id: str
    name: str
    key: str
    settings: Json
    prompt: str
    fingerprint: _Fingerprint


class _Paced(TypedDict):
    pace: tuple[int, ...]


def load(path: str | os.PathLike[str]) -> Run:
    """Read a run that `run.save` wrote."""
    source = Path(path)
    try:
        data = read_file(source, MAX_BYTES)
    except FileNotFoundError:
        raise SavedRunError(
            f"There is no file {str(source)!r}. `%agent runs` lists the saved runs."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SavedRunError(f"{str(source)!r} is not a saved run: {reason}.") from None
    return read_run(data, str(source))


def read_header(file: Path, most: int) -> Json | None:
    """The parsed first line of a file, read from its first bytes; None if the file is not a run."""
    import jiter

    try:
        line = read_file(file, most, start=True).partition(b"\n")[0].decode("utf-8", "ignore")
        header = jiter.from_json(line.encode(), partial_mode="trailing-strings")
    except (OSError, ValueError):
        return None
    return header if isinstance(header, dict) and header.get("format") == FORMAT else None


def read_run(data: bytes, source: str) -> Run:
    try:
        lines = data.decode("utf-8-sig").rstrip().split("\n")  # some editors write a byte order mark
        header = json.loads(lines[0])
    except (ValueError, RecursionError):
        raise SavedRunError(f"{source!r} is not a saved run: its first line is not JSON.") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise SavedRunError(f"{source!r} is not a saved run: its first line is not a run header.")
    if type(header.get("version")) is int and header["version"] > VERSION:
        raise SavedRunError(f"{source!r} was saved by a newer agent_nb. Upgrade: `pip install -U agent-nb`.")
    number = 1
    try:
        reading = _RunReading(header)
        for number, line in enumerate(lines[1:], start=2):
            row = parse_json(line)
            if row is None and number == len(lines):
                break
            reading.row(row)
        else:
            if reading.result is not None:
                return reading.result
    except _BROKEN as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error).removesuffix(".")
        raise SavedRunError(f"{source!r} is damaged at line {number}: {why}.") from None
    raise SavedRunError(f"{source!r} is truncated: the end of the run is missing.")


class _Variant:
    def __init__(self, texts: TextReader) -> None:
        self._texts = texts
        self.rows: list[Json] = []
        """The first and last event as stored in the file."""
        self.events = EventList()
        self.messages: list[Message] = []
        self._numbered: set[int] = set()
        """Numbers of messages that the file has already referred to."""
        self.record: Json = {}
        self.calls: set[str] = set()
        self.open_questions: set[str] = set()
        """Calls with an open question, which nobody could answer in a replay."""
        self.files = texts.files

    def add(self, event: ev.Event) -> None:
        """Add an event, which must be consistent with the previous ones."""
        previous = self.events[-1] if self.events else None
        if event.seq != len(self.events) + 1:
            raise ValueError(f"event {len(self.events) + 1} is expected here, not {event.seq}")
        if previous and isinstance(event, ev.RunStarted):
            raise ValueError("a run begins here, inside another")
        if isinstance(previous, ev.RunFinished):
            raise ValueError("the run has already ended")
        if not math.isfinite(event.at) or event.at < (previous.at if previous else 0):
            raise ValueError(f"`at` is {event.at}, which is before the previous event")
        if previous and event.variant != previous.variant:
            raise ValueError(f"`variant` is {event.variant}, not {previous.variant}")
        self._check_call(event)
        if isinstance(event, ev.ToolFinished):
            check_outputs(event.outputs)
        elif isinstance(event, ev.FileChanged):
            self._change(event)
        elif isinstance(event, ev.MessageAdded):
            self.messages.append(event.message)
        self.events.append(event)

    def _check_call(self, event: ev.Event) -> None:
        call_id = getattr(event, "call_id", None)
        if isinstance(event, ev.ToolStarted):
            self.calls.add(event.call_id)
        elif isinstance(event, ev.ApprovalRequested):
            self.open_questions.add(event.call_id)
        elif isinstance(event, ev.ApprovalResolved):
            self.open_questions.discard(event.call_id)
        elif isinstance(event, ev.RunFinished) and self.open_questions:
            raise ValueError(f"nobody has answered the question about {min(self.open_questions)[:40]!r}")
        if call_id is not None and call_id not in self.calls:
            raise ValueError(f"{call_id[:40]!r} is not a call of this run")

    def _change(self, event: ev.FileChanged) -> None:
        if safe_path(event.path) != event.path:
            raise ValueError(f"{event.path[:40]!r} is not a normalized path")
        end, most = 0, self.files.get(event.path, "").count("\n") + 1
        for start, count, _ in event.patch or ():
            if not end <= start <= start + count <= most:
                raise ValueError(f"its patch changes lines {start} to {start + count} of {most}")
            end = start + count
        self._texts.change(event.path, event.patch)
        if len(self.files.get(event.path, "")) > MAX_TEXT_BYTES:
            raise ValueError(f"{event.path[:40]!r} is too large")

    def conversation(self, wire: Iterable[Any]) -> tuple[Message, ...]:
        """Decode messages. Those added by an event are stored as numbers."""
        return tuple(map(self._message, wire))

    def _message(self, item: Any) -> Message:
        if type(item) is not int or not 0 <= item < len(self.messages):
            return _with_origins(from_wire(Message, item))
        if item in self._numbered:
            self._texts.count(len(str(to_wire(self.messages[item]))))
        self._numbered.add(item)
        return self.messages[item]

    def check_files(self, files: Files) -> None:
        """Check that the events produce exactly these files."""
        for event in self.events.of(ev.FileChanged):
            if event.path not in files.paths:
                raise WireError(f"change {event.path[:40]!r}, which is not one of its files", "events")
        for path, text in self.files.items():
            if files.get(path) != text:
                raise WireError(f"make a different {path[:40]!r} than `files` has", "events")


def _with_origins(message: Message) -> Message:
    """The message with the origins of its texts, which files did not store when the lessons were recorded."""
    later = (
        replace(part, origin=_origin(part)) if isinstance(part, Text) else part for part in message.parts[1:]
    )
    return replace(message, parts=(*message.parts[:1], *later))  # the first is the prompt


def _origin(part: Text) -> Origin | None:
    opening = _OPENING.match(part.text)
    return cast("Origin", opening[1]) if opening else part.origin


class _RunReading:
    def __init__(self, header: Json) -> None:
        from_wire(_Header, header)
        self._header = header
        self._texts = TextReader()
        self._texts.add(header["prompt"])
        self._variants: list[_Variant] = []
        self._runs: list[Run] = []
        self.result: Run | None = None

    def row(self, row: Any) -> None:
        if not isinstance(row, dict):
            raise ValueError("it is not a JSON object")
        kind, self.result = row.get("type"), None
        if kind not in (VARIANT, RUN):
            self._event(row)
        elif kind == VARIANT:
            self._end(self._texts.convert(row))
        else:
            self.result = self._finish(self._texts.convert(row))

    def _event(self, row: Json) -> None:
        if row.get("type") in DELTAS:
            from_wire(str, row.get("text"))
        starts = row.get("type") == ev.RunStarted.type and len(self._variants) == len(self._runs)
        row = self._texts.event(row)
        if starts:
            self._variants.append(_Variant(self._texts))
            row.setdefault("settings", self._header["settings"])
        if len(self._variants) == len(self._runs):
            raise ValueError("an event is outside of a run")
        variant = self._variants[-1]
        variant.rows = [*variant.rows[:1], row]
        for event in _events({**row, "run_id": self._header["id"]}):
            variant.add(event)

    def _end(self, row: Json) -> None:
        if not self._variants:  # a run without events
            self._variants.append(_Variant(self._texts))
        variant = self._variants[-1]
        if len(self._variants) == len(self._runs):
            raise ValueError("there are more ends than variants")
        if variant.events and not isinstance(variant.events[-1], ev.RunFinished):
            raise ValueError("the run has no end")
        self._texts.count(len(str(self._header)))  # which each variant repeats
        variant.record = {**derived(self._header, variant.rows), **row}
        self._runs.append(_run(variant, variant.record))

    def _finish(self, row: Json) -> Run:
        if len(self._runs) == len(self._variants) == 1 and "chosen" not in row:
            return self._runs[0]
        chosen = from_wire(int, row.get("chosen"))
        if not 0 <= chosen < len(self._runs) == len(self._variants):
            raise ValueError(f"there is no variant {chosen}")
        variant = self._variants[chosen]
        return _run(variant, {**variant.record, **row}, tuple(self._runs))


def _run(variant: _Variant, wire: Json, variants: tuple[Run, ...] = ()) -> Run:
    placeholders: Json = {
        **dict.fromkeys(("events", "messages", "replaced", "variants"), ()),
        **dict.fromkeys(("answer_type", "branched_from")),
    }
    run: Run = replace(
        from_wire(Run, {**wire, **placeholders}),
        events=variant.events.packed(),
        messages=variant.conversation(wire["messages"]),
        replaced=tuple(map(variant.conversation, wire.get("replaced", ()))),
        variants=variants,
    )
    _check(run)
    variant.check_files(run.original_files)
    return replace(run, annotations=sort_annotations(run, run.annotations)) if run.annotations else run


def _events(row: Json) -> Iterator[ev.Event]:
    if row["type"] not in DELTAS or "pace" not in row:
        yield from_wire(ev.Event, row)
        return
    text, first, pace = row["text"], from_wire(ev.Event, row), from_wire(_Paced, row)["pace"]
    if len(pace) % 2 or min(pace, default=0) < 0 or sum(pace[::2]) != len(text):
        raise ValueError(f"its pace does not match its text of {len(text):,} characters")
    moment, start = round(first.at * 1000), 0
    for index, (length, gap) in enumerate(zip(pace[::2], pace[1::2], strict=True)):
        moment += gap
        part = text[start : start + length]
        more = {"offset": first.offset + start} if isinstance(first, ev.FileDelta) else {}
        yield replace(first, seq=first.seq + index, at=moment / 1000, text=part, **more)
        start += length


def _check(run: Run) -> None:
    check_recorded(run.settings)
    # Used in file names. `agent.map` uses names such as `runs[0]`.
    words = {"name": re.sub(r"\[\d+\]$", "", run.name), "id": f"_{run.id}", "key": f"_{run.key}"}
    for field, word in words.items():
        if not word.replace("-", "_").isidentifier():
            raise WireError(f"is {getattr(run, field)[:40]!r}, which is not a valid name", field)
