"""`%agent lab log`: the log of a lab as a timeline."""

import unicodedata
from pathlib import Path

from agent_nb._base.table import Table
from agent_nb._base.text import printable_line, shortened
from agent_nb.errors import ConfigError
from agent_nb.events import ENDINGS
from agent_nb.lab.log import FILE, Entry, LabLog
from agent_nb.lab.log_reader import read_log
from agent_nb.render.summary import dollars, plural

_MOST_ROWS = 200
_MOST_CHARACTERS = 60
_RIGHT_TO_LEFT = ("R", "AL", "AN")


def show_log(folder: Path) -> Table:
    """Shows the log as a timeline, newest last, and whether its lines fit together."""
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
    ended = next((each.words for reason, each in ENDINGS.items() if reason == entry.ended), entry.ended)
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
        check,
        "not known" if entry.cost is None else dollars(entry.cost),
    )


def _shown(text: str) -> str:
    """One short line. Text that runs from right to left is isolated, so that it cannot reorder other columns."""
    line = shortened(printable_line(text), _MOST_CHARACTERS)
    if any(unicodedata.bidirectional(each) in _RIGHT_TO_LEFT for each in line):
        return f"\N{FIRST STRONG ISOLATE}{line}\N{POP DIRECTIONAL ISOLATE}"
    return line
