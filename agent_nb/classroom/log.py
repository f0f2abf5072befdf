"""The log of a lab: one JSON line per run, in the student's own folder."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from agent_nb._base.atomic import PATIENCE, append, locked, read_plain
from agent_nb._base.constants import is_demo
from agent_nb._base.secrets import beginning, mask_json, safe_line
from agent_nb._base.table import Table
from agent_nb._base.text import change_texts, plural, sha256, showable_text
from agent_nb._base.wire import Json, from_wire
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import ENDINGS
from agent_nb.render.summary import dollars
from agent_nb.run import Run

FILE = "lab-log.jsonl"
MAX_LINE = 1_000_000
"""Maximum bytes per line; written lines are always shorter."""
MAX_PROMPT = 10_000

Status = Literal["finished", "stopped", "failed", "replayed", "demo"]
_MOST_ROWS = 200
_MOST_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    time: datetime
    run: str
    id: str
    prompt: str
    model: str
    status: Status
    ended: str
    files: Mapping[str, str] = field(default_factory=dict)
    edited: tuple[str, ...] = ()
    """Files edited by hand since the previous run."""
    cost: float | None = None
    check: str = ""
    passed: bool | None = None
    """Whether the check passed; None without a check, or if the run ended before it."""
    notebook: str = ""
    lab: str = ""
    before: str = ""
    """The SHA-256 of the previous line; empty in the first line."""

    def to_line(self) -> bytes:
        """Return the line without line break, with secrets masked."""
        wire: Json = {item.name: getattr(self, item.name) for item in fields(self)}
        wire["time"] = self.time.astimezone(UTC).isoformat(timespec="milliseconds")
        wire = mask_json({name: value for name, value in wire.items() if value not in ("", (), {})})
        return json.dumps(wire, ensure_ascii=False).encode("utf-8", "replace")

    @classmethod
    def from_line(cls, line: bytes) -> "Entry | None":
        """Parse an untrusted line; None if it is not valid."""
        try:
            entry: Entry = from_wire(cls, change_texts(json.loads(line), showable_text))
        except (ValueError, RecursionError, OverflowError):
            return None
        return entry if (entry.cost or 0) >= 0 else None


def entry_of(run: Run, *, check: str = "", now: datetime | None = None, **more: Any) -> Entry:
    """Return the entry for an ended run; `more` contains the fields that are not part of the run."""
    did_not_end = run.reason == "failed" or ENDINGS[run.reason].is_by_user
    is_unchecked = not check or (did_not_end and not run.failed_check)
    models = dict.fromkeys(variant.model for variant in run.variants or (run,))
    return Entry(
        time=now or datetime.now(UTC),
        run=run.name,
        id=run.id,
        prompt=beginning(showable_text(run.prompt), MAX_PROMPT),
        model=", ".join(models),
        status=status_of(run),
        ended=run.reason,
        files={path: sha256(content) for path, content in run.files.items()},
        cost=0.0 if run.settings.get("replayed") else run.cost,
        check=beginning(showable_text(check), MAX_PROMPT),
        passed=None if is_unchecked else not run.failed_check,
        **more,
    )


def status_of(run: Run) -> Status:
    """Return the origin of a run that called no model, else how it ended."""
    if run.settings.get("replayed"):
        return "replayed"
    if all(is_demo(variant.model) for variant in run.variants or (run,)):
        return "demo"
    if run.reason == "failed":
        return "failed"
    return "stopped" if ENDINGS[run.reason].is_by_user else "finished"


class LabLog:
    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._folder = folder
        self._lock = folder / ".agent_nb" / "lab-log.lock"

    def append(self, entry: Entry) -> None:
        """Append a line. Raises `OSError` if it cannot be written, `TimeoutError` if another program holds the lock."""
        with locked(self._lock, within=self._folder, seconds=PATIENCE):
            last_line, is_whole = self._last_line()
            line = replace(entry, before=sha256(last_line) if last_line else "").to_line()
            append(self.path, (b"" if is_whole else b"\n") + line + b"\n", within=self._folder)

    def read(self, last: int | None = None) -> bytes:
        try:
            return read_plain(self.path, within=self._folder, last=last)
        except FileNotFoundError:
            return b""

    def _last_line(self) -> tuple[bytes, bool]:
        """Return the last line and whether it ends with a line break; True for an empty log."""
        lines = [line.rstrip(b"\r") for line in self.read(MAX_LINE).split(b"\n")]
        return next((line for line in reversed(lines) if line), b""), not lines[-1]


@dataclass(slots=True)
class LogReading:
    """The entries of a log. The other fields are line numbers from 1."""

    entries: list[Entry] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    """Lines that are invalid or do not contain the hash of the previous line."""
    rules: list[int] = field(default_factory=list)
    """Lines with a different lab file than the previous line."""

    def remarks(self) -> Iterator[str]:
        if self.breaks:
            does = "does" if len(self.breaks) == 1 else "do"
            yield f"{_listed(self.breaks).capitalize()} {does} not match the line before."
        if self.rules:
            yield f"The lab file had changed at {_listed(self.rules)}."


def read_log(data: bytes) -> LogReading:
    reading, previous = LogReading(), ""
    for number, line in enumerate((line.rstrip(b"\r") for line in data.split(b"\n")), 1):
        if not line:
            continue
        entry = Entry.from_line(line)
        if entry is None or entry.before != previous:
            reading.breaks.append(number)
        if entry:
            if reading.entries and entry.lab != reading.entries[-1].lab:
                reading.rules.append(number)
            reading.entries.append(entry)
        previous = sha256(line)
    return reading


def _listed(numbers: list[int]) -> str:
    text = ", ".join(map(str, numbers[:10])) + (", …" if len(numbers) > 10 else "")
    return f"line{'s' if len(numbers) > 1 else ''} {text}"


def show_log(folder: Path) -> Table:
    try:
        reading = read_log(LabLog(folder).read())
    except OSError as error:
        raise ConfigError(f"{FILE} cannot be read: {error.strerror or error}.") from None
    rows = [_row(entry) for entry in reading.entries[-_MOST_ROWS:]]
    columns = ("time (UTC)", "run", "prompt", "model", "ended", "files", "edited", "check", "cost")
    remarks = list(reading.remarks()) or ["Each line fits the one before."]
    if len(reading.entries) > _MOST_ROWS:
        remarks.insert(0, f"The last {_MOST_ROWS} of {len(reading.entries)} runs are shown.")
    note = "\n".join([f"From {folder / FILE}.", *remarks])
    empty = f"There is no {FILE} in {folder}: runs under a lab file are logged there."
    return Table(columns, rows, empty, note, ("cost",))


def _row(entry: Entry) -> tuple[str, ...]:
    words = next((item.words for reason, item in ENDINGS.items() if reason == entry.ended), entry.ended)
    if entry.status in ("demo", "replayed"):
        words = f"{entry.status}, {words}"
    check = {True: "passed", False: "failed", None: "not run" if entry.check else ""}[entry.passed]
    return (
        entry.time.strftime("%Y-%m-%d %H:%M:%S"),
        _shown(entry.run),
        _shown(entry.prompt),
        _shown(entry.model),
        _shown(words),
        plural(len(entry.files), "file"),
        _shown(", ".join(entry.edited)),
        check,
        "not known" if entry.cost is None else dollars(entry.cost),
    )


def _shown(text: str) -> str:
    return safe_line(text, _MOST_CHARACTERS)
