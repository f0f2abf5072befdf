"""Writes the runs under a lab file to its log, and shows them: `%agent lab log`."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

from IPython.display import display

from agent_nb._base.table import Table
from agent_nb._base.text import printable_line
from agent_nb._base.threads import off_loop
from agent_nb.errors import ConfigError
from agent_nb.files import Files
from agent_nb.lab.hints.hints import Hints
from agent_nb.lab.log import FILE, Around, Entry, LabLog, content_hash, entry_of
from agent_nb.lab.log_reader import read_log
from agent_nb.lab.rules import LabRules
from agent_nb.notebook.magic.notebook_file import notebook_file
from agent_nb.notebook.session import Session
from agent_nb.notebook.views.views import View
from agent_nb.phase import ENDINGS
from agent_nb.render.summary import dollars, plural
from agent_nb.run import Run

_MOST_ROWS = 200
_MOST_CHARACTERS = 60
_RIGHT_TO_LEFT = ("R", "AL", "AN")


@dataclass(frozen=True, slots=True)
class RunLog:
    """The line of a run that has begun."""

    log: LabLog
    around: Around
    hints: Hints | None

    def entry(self, run: Run) -> Entry:
        """The line, now that the run has ended."""
        if self.hints is None:
            return entry_of(run, self.around)
        step, held_back = self.hints.step, len(self.hints.held_back)
        return entry_of(run, replace(self.around, hints=(step,), held_back=held_back))


def start_log(session: Session, rules: LabRules, check: str, hints: Hints | None = None) -> RunLog:
    """Notes what is known before the run: afterwards its variables have new values."""
    notebook = notebook_file(session)
    around = Around(
        lab=rules.digest,
        notebook=notebook.name if notebook else "",
        check=check,
        edited=tuple(_new_edits(session)),
    )
    return RunLog(LabLog(session.home), around, hints)


async def write_log(log: RunLog | None, run: Run, view: View) -> None:
    """Adds the run to the log. A log that cannot be written is no reason to lose the run."""
    if log is None:
        return
    try:
        await off_loop(log.log.append, log.entry(run))
    except TimeoutError:
        view.warn(f"This run is not in {FILE}: another program holds it.")
    except OSError as error:
        view.warn(f"This run is not in {FILE}, which cannot be written: {error.strerror or error}.")


def _new_edits(session: Session) -> Iterator[str]:
    """The paths of files with edits by hand that no earlier line has."""
    for path, digest in _edits(session):
        if (path, digest) not in session.logged_edits:
            session.logged_edits.add((path, digest))
            yield path


def _edits(session: Session) -> Iterator[tuple[str, str]]:
    """Edits with `with_files`, and of the variable `files`, as paths and the hash of the new content."""
    runs = {name: value for name, value in session.namespace.items() if isinstance(value, Run)}
    for name, run in runs.items():
        if run.given_files is not None and not name.startswith("_"):
            yield from _differences(run.given_files, run.files)
    files, bound = session.namespace.get(session.defaults.files_name), session.bound_files
    if isinstance(files, Files) and bound is not None and all(run.files != files for run in runs.values()):
        yield from _differences(bound, files)


def _differences(old: Files, new: Files) -> Iterator[tuple[str, str]]:
    for path in sorted({*old, *new}):
        if old.get(path) != new.get(path):
            yield path, content_hash(new.get(path, b""))


def show_log(session: Session) -> None:
    """Shows the log as a timeline, newest last, and whether its lines fit together."""
    try:
        reading = read_log(LabLog(session.home).read())
    except OSError as error:
        raise ConfigError(f"{FILE} cannot be read: {error.strerror or error}.") from None
    rows = [_row(entry) for entry in reading.entries[-_MOST_ROWS:]]
    columns = ("time (UTC)", "run", "prompt", "model", "ended", "files", "edited", "hints", "check", "cost")
    remarks = list(reading.remarks()) or ["Each line fits the one before."]
    if len(reading.entries) > _MOST_ROWS:
        remarks.insert(0, f"The last {_MOST_ROWS} of {len(reading.entries)} runs are shown.")
    note = "\n".join([f"From {session.home / FILE}.", *remarks])
    empty = f"There is no {FILE} in {session.home}: runs under a lab file are logged there."
    display(Table(columns, rows, empty, note, ("cost",)))


def _row(entry: Entry) -> tuple[str, ...]:
    ended = next((shown for reason, shown in ENDINGS.items() if reason == entry.ended), entry.ended)
    if entry.status in ("demo", "replayed"):
        ended = f"{entry.status}, {ended}"
    check = {True: "passed", False: "failed", None: "not run" if entry.check else ""}[entry.passed]
    return (
        entry.time.strftime("%Y-%m-%d %H:%M:%S"),
        _shown(entry.run),
        _shown(entry.prompt),
        _shown(entry.model),
        _shown(ended),
        plural(len(entry.files), "file"),
        _shown(", ".join(entry.edited)),
        _shown(", ".join(entry.hints) + (f", {entry.held_back} held back" if entry.held_back else "")),
        check,
        "not known" if entry.cost is None else dollars(entry.cost),
    )


def _shown(text: str) -> str:
    """One short line. Text that runs from right to left is isolated, so that it cannot reorder other columns."""
    line = printable_line(text)
    line = line if len(line) <= _MOST_CHARACTERS else f"{line[: _MOST_CHARACTERS - 1]}…"
    if any(unicodedata.bidirectional(each) in _RIGHT_TO_LEFT for each in line):
        return f"\N{FIRST STRONG ISOLATE}{line}\N{POP DIRECTIONAL ISOLATE}"
    return line
