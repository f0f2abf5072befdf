"""Reads the file of a run. It is untrusted, so everything is validated, and an error is one sentence.

Nothing in a file is executed. Its events must be consistent: numbers, times, calls, file changes.
"""

import codecs
import json
import math
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import agent_nb.core.events as ev
from agent_nb._base.atomic import read_file
from agent_nb._base.wire import Json, WireError, from_wire, parse_json
from agent_nb.core.errors import AgentError, SavedRunError
from agent_nb.core.event_list import EventList
from agent_nb.core.run_settings import check_recorded
from agent_nb.files import MAX_READ_BYTES, MAX_TEXT_BYTES, Files, safe_path
from agent_nb.render.outputs import check_outputs
from agent_nb.run.cut_off import CutOff
from agent_nb.run.moments import sort_annotations
from agent_nb.run.run import Run, combine_variants
from agent_nb.run.run_lines import CONVERSATION, DELTAS, END, FORMAT, VERSION, VariantLines

_BROKEN = (AgentError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
MAX_BYTES = 1_000_000_000
MAX_UNPACKED = 200_000_000
"""Maximum size of a compressed file once it is unpacked: a few bytes could stand for many."""
KERNEL_ENDED = "The kernel ended before the run did."
MOST_VERSIONS = MAX_READ_BYTES
"""Maximum characters of all file versions: a patch of a few bytes makes another large version."""
MOST_EVENTS = 1_000_000
"""Maximum events of a file, because two numbers of a `pace` make one."""
MOST_REPEATED = 200_000_000
"""Maximum characters of the header and the first conversation, each counted once per variant, which share them."""


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


def unpacked(data: bytes, most: int = MAX_UNPACKED, *, start: bool = False) -> bytes:
    """The content of a file that may be compressed. With `start`, only its first bytes."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    unpacking = zlib.decompressobj(31)
    try:
        content = unpacking.decompress(data, most)
    except zlib.error as error:
        raise ValueError(f"it is not compressed as it should be ({error})") from None
    if unpacking.unconsumed_tail and not start:
        raise ValueError(f"it unpacks to more than {most:,} bytes")
    return content


def read_header(file: Path, most: int) -> Json | None:
    """The parsed first line of a file, read from its first bytes; None if the file is not a run."""
    import jiter

    try:
        head = unpacked(read_file(file, most, start=True), most, start=True)
        line = head.partition(b"\n")[0].decode("utf-8", "ignore")
        header = jiter.from_json(line.encode(), partial_mode="trailing-strings")
    except (OSError, ValueError):
        return None
    return header if isinstance(header, dict) and header.get("format") == FORMAT else None


def read_run(data: bytes, source: str, *, whole: bool = False) -> Run:
    """The run in a file. Without its last line, as a killed kernel leaves it, it is refused if it must be `whole`."""
    try:
        data = unpacked(data)
    except ValueError as error:
        raise SavedRunError(f"{source!r} is damaged: {error}.") from None
    try:
        # Some editors write a byte order mark.
        lines = data.removeprefix(codecs.BOM_UTF8).rstrip().split(b"\n")
        header = json.loads(lines[0])
    except (ValueError, RecursionError):
        raise SavedRunError(f"{source!r} is not a saved run: its first line is not JSON.") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise SavedRunError(f"{source!r} is not a saved run: its first line is not a run header.")
    if type(header.get("version")) is int and header["version"] > VERSION:
        raise SavedRunError(f"{source!r} was saved by a newer agent_nb. Upgrade: `pip install -U agent-nb`.")
    if header.get("version") == 1:
        raise SavedRunError(f"{source!r} was saved by an older agent_nb, in a form that is no longer read.")
    number = 1
    try:
        reading = _RunReading(header)
        for number, line in enumerate(lines[1:], start=2):
            row = parse_json(line)
            if row is None and number == len(lines):
                break
            reading.row(row)
        if reading.result is None and not whole:
            return reading.cut_off()
    except _BROKEN as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error).removesuffix(".")
        raise SavedRunError(f"{source!r} is damaged at line {number}: {why}.") from None
    if reading.result is None:
        raise SavedRunError(f"{source!r} is truncated: the end of the run is missing.")
    return reading.result


class _Variant:
    def __init__(self, lines: VariantLines) -> None:
        self.lines = lines
        self.events = EventList()
        self.calls: set[str] = set()
        self.open_questions: set[str] = set()
        """Calls with an open question, which nobody could answer in a replay."""

    @property
    def has_ended(self) -> bool:
        return bool(self.events) and isinstance(self.events[-1], ev.RunFinished)

    def add(self, event: ev.Event) -> None:
        """Add an event, which must be consistent with the previous ones."""
        previous = self.events[-1] if self.events else None
        if event.seq != len(self.events) + 1:
            raise ValueError(f"event {len(self.events) + 1} is expected here, not {event.seq}")
        if isinstance(event, ev.RunStarted) != (previous is None):
            raise ValueError(
                "a run begins here, inside another" if previous else "an event is outside of a run"
            )
        if self.has_ended:
            raise ValueError("the run has already ended")
        if not math.isfinite(event.at) or event.at < (previous.at if previous else 0):
            raise ValueError(f"`at` is {event.at}, which is before the previous event")
        self._check_call(event)
        if isinstance(event, ev.ToolFinished):
            check_outputs(event.outputs)
        elif isinstance(event, ev.FileChanged):
            self._check_change(event)
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

    def _check_change(self, event: ev.FileChanged) -> None:
        if safe_path(event.path) != event.path:
            raise ValueError(f"{event.path[:40]!r} is not a normalized path")
        end, most = 0, self.lines.texts.get(event.path, "").count("\n") + 1
        for start, count, _ in event.patch or ():
            if not end <= start <= start + count <= most:
                raise ValueError(f"its patch changes lines {start} to {start + count} of {most}")
            end = start + count


class _RunReading:
    def __init__(self, header: Json) -> None:
        from_wire(_Header, header)
        self._header = header
        self._first: Json = {}
        self._variants: list[_Variant] = []
        self._newest: dict[int, _Variant] = {}
        """The newest variant with each number."""
        self._repeated = self._count = 0
        self.result: Run | None = None

    def row(self, row: Any) -> None:
        if not isinstance(row, dict):
            raise ValueError("it is not a JSON object")
        if self.result is not None:
            raise ValueError("the run has already ended")
        if row.get("type") == END:
            self.result = self._finish(row)
            return
        variant = self._variant(row)
        if row.get("type") != CONVERSATION:
            if row.get("type") == ev.RunStarted.type:
                row = {"settings": self._header["settings"], **row}
            for event in _events({**row, "run_id": self._header["id"]}):
                variant.add(event)
                self._count += 1
                if self._count > MOST_EVENTS:
                    raise ValueError(f"it has more than {MOST_EVENTS:,} events")
        variant.lines.add(row)
        if row["type"] == ev.FileChanged.type:
            _check_version(variant.lines, row["path"], row["version"])

    def _variant(self, row: Json) -> _Variant:
        """The variant of a line. Its first event or its conversation begins another one."""
        number = from_wire(int, row.get("variant", 0))
        variant = self._newest.get(number)
        if variant is None or (variant.has_ended and row.get("type") in (CONVERSATION, ev.RunStarted.type)):
            self._repeated += len(str(self._header)) + len(str(self._first))
            if self._repeated > MOST_REPEATED:
                raise ValueError(f"its variants repeat more than {MOST_REPEATED:,} characters")
            variant = self._newest[number] = _Variant(VariantLines(self._header, self._first))
            self._variants.append(variant)
        return variant

    def _finish(self, row: Json) -> Run:
        if any(variant.events and not variant.has_ended for variant in self._variants):
            raise ValueError("the run has no end")
        if not self._first:
            raise ValueError("its conversation is missing")
        if "variants" not in row:
            (variant,) = self._variants
            return _run(variant, row)
        chosen = from_wire(int, row.get("chosen"))
        if not 0 <= chosen < len(self._variants):
            raise ValueError(f"there is no variant {chosen}")
        ends = zip(self._variants, row["variants"], strict=True)
        runs = tuple(_run(variant, end) for variant, end in ends)
        return _run(self._variants[chosen], {**row["variants"][chosen], **row}, runs)

    def cut_off(self) -> Run:
        """What there is of a run without an end."""
        if all(variant.has_ended for variant in self._variants):  # only the last line is missing
            for variant in self._variants:
                variant.events = EventList(variant.events[:-1])
        numbered = {variant.events[0].variant: variant for variant in self._variants if variant.events}
        if not numbered:
            raise ValueError("it has no events yet")
        for number in range(max(numbered)):  # these had not begun
            if number not in numbered:
                numbered[number] = _Variant(VariantLines(self._header, self._first))
                numbered[number].events.append(replace(numbered[max(numbered)].events[0], variant=number))
        run = combine_variants([_cut_off(numbered[number]) for number in sorted(numbered)])
        return replace(run, reason="interrupted", error=KERNEL_ENDED)


def _cut_off(variant: _Variant) -> Run:
    """The run as it would be if it had been stopped there."""
    digests: Json = {"digests": variant.lines.digests}
    if variant.has_ended:
        return _run(variant, digests)
    run = _run(variant, {**digests, "reason": "interrupted", "usage": {}, "cost": None, "seconds": 0.0})
    events = EventList(run.events)
    cut = CutOff(events, run.files, run.messages, events.append)
    cut.close()
    return replace(run, **cut.end("interrupted", None, KERNEL_ENDED), events=events)


def _check_version(lines: VariantLines, path: str, version: int) -> None:
    if len(lines.texts.get(path, "")) > MAX_TEXT_BYTES:
        raise ValueError(f"{path[:40]!r} is too large")
    if lines.size > MOST_VERSIONS:
        raise ValueError(f"its file versions have more than {MOST_VERSIONS:,} characters")
    if version != (expected := len(lines.versions[path])):
        raise ValueError(f"version {expected} of {path[:40]!r} is expected here, not {version}")


def _run(variant: _Variant, wire: Json, variants: tuple[Run, ...] = ()) -> Run:
    newest = {event.path: event for event in variant.events.of(ev.FileChanged)}
    unfinished = [path for path, event in newest.items() if event.unfinished]
    files = Files.of_versions(variant.lines.versions, unfinished)
    if variant.lines.digests != wire.get("digests"):
        raise ValueError("its events do not make the files that it had at the end")
    if "files" in wire:
        files = Files.from_wire(wire["files"])
    edited = wire.get("edited")
    placeholders: Json = {
        **dict.fromkeys(("events", "variants"), ()),
        **dict.fromkeys(("answer_type", "branched_from", "given_files")),
        "files": {},
    }
    run: Run = replace(
        from_wire(Run, {**variant.lines.fields(), **wire, **placeholders}),
        events=variant.events,
        files=files if edited is None else Files.from_wire(edited),
        given_files=None if edited is None else files,
        variants=variants,
    )
    _check(run)
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
