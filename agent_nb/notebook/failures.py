"""The cells that `%agent fix` and `%agent explain` refer to. `%load_ext` imports this module, so it stays light."""

import re
import traceback
from dataclasses import dataclass
from typing import Any

MOST_FAILURES = 20
MOST_FRAMES = 30
_THIS = "<this cell>"
_INSTALLED = re.compile(r".*[\\/](?:site-packages|lib[\\/]python[\d.]+)[\\/]")
MAX_ERROR = 8_000
"""Maximum characters of an error, from its start and its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCell:
    """A failed cell. Stores only text: an exception would keep all values in its frames alive."""

    number: int
    """The execution count."""
    source: str
    cell_id: str
    """The cell's id in its notebook; empty if unknown."""
    error: str
    """The traceback as text, without the frames of IPython."""
    message: str
    """The exception's type and the first line of its message."""
    line: int | None
    """Line number in the cell."""
    undefined: str = ""
    """The undefined name of a NameError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainCell:
    """A cell for `%agent explain`, with its text output."""

    source: str
    output: str


class Failures:
    """The last failed cells that have not been run again."""

    def __init__(self) -> None:
        self._by_number: dict[int, FailedCell] = {}

    def note(self, result: Any, cell_id: str) -> None:
        """Called after each cell."""
        source = result.info.raw_cell
        for number, earlier in list(self._by_number.items()):
            if earlier.source == source or (cell_id and earlier.cell_id == cell_id):
                del self._by_number[number]
        if failure := _failure_of(result, cell_id):
            self._by_number[failure.number] = failure
        for number in list(self._by_number)[:-MOST_FAILURES]:
            del self._by_number[number]

    def find(self, number: int | None = None) -> FailedCell | None:
        """The failure of the cell with that execution count, or the last one."""
        return self._by_number.get(number if number is not None else max(self._by_number, default=0))


def _failure_of(result: Any, cell_id: str) -> FailedCell | None:
    error = result.error_before_exec or result.error_in_exec
    number, source = getattr(result, "execution_count", None), result.info.raw_cell
    if error is None or not number:
        return None
    name = getattr(error, "name", "") if isinstance(error, NameError) else ""
    report = traceback.TracebackException.from_exception(error, limit=-MOST_FRAMES)
    text = _error_text(report, source)
    lines = [frame.lineno for frame in report.stack if frame.filename == _THIS]
    message = next((line for line in report.format_exception_only() if line[:1].strip()), "")
    return FailedCell(
        number=number,
        source=source,
        cell_id=cell_id,
        error=text,
        message=message.partition("\n")[0],
        line=getattr(error, "lineno", None) or (lines[-1] if lines else None),
        undefined=name or "",
    )


def _error_text(report: traceback.TracebackException, source: str) -> str:
    """The traceback as Python formats it, truncated. Paths of cells, which differ in each session, are replaced."""
    reports: list[Any] = [report]
    for item in reports:
        followed = (item.__cause__, item.__context__, *(getattr(item, "exceptions", None) or ()))
        reports += [related for related in followed if related is not None and related not in reports]
        frames = (
            frame for frame in item.stack if not re.search(r"[\\/](?:IPython|ipykernel)[\\/]", frame.filename)
        )
        item.stack = traceback.StackSummary.from_list([_named(frame, source) for frame in frames])
        if isinstance(getattr(item, "filename", None), str):  # a SyntaxError
            item.filename = _named_file(item.filename, getattr(item, "text", "") or "", source)
    text = "".join(report.format()).strip()
    if len(text) <= MAX_ERROR:
        return text
    half = MAX_ERROR // 2
    return f"{text[:half]}\n… ({len(text) - 2 * half:,} characters left out)\n{text[-half:]}"


def _named(frame: traceback.FrameSummary, source: str) -> traceback.FrameSummary:
    name = _named_file(frame.filename, frame.line or "", source)
    return traceback.FrameSummary(name, frame.lineno, frame.name, lookup_line=False, line=frame.line)


def _named_file(path: str, line: str, source: str) -> str:
    """The path below `site-packages`, or a name for the cell: IPython's paths of cells differ in each session."""
    if not re.search(r"ipykernel_\d+[\\/]\d+\.py$|^<", path):
        return _INSTALLED.sub("", path)
    return _THIS if line.strip() in source or line.startswith("get_ipython()") else "<another cell>"
