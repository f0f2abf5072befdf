"""Cells that `%agent fix` and `%agent explain` are about. `%load_ext` imports this module, so it stays light."""

import re
import traceback
from dataclasses import dataclass
from typing import Any

MOST_FAILURES = 20
MOST_FRAMES = 30
_THIS = "<this cell>"
_INSTALLED = re.compile(r".*[\\/](?:site-packages|lib[\\/]python[\d.]+)[\\/]")
MAX_ERROR = 8_000
"""Characters of an error: its beginning and its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCell:
    """A cell that failed. It keeps texts alone: an exception would keep every value in its frames."""

    number: int
    """The execution count."""
    source: str
    cell_id: str
    """The cell's id in its notebook; empty if unknown."""
    error: str
    """The traceback as text, without the frames of IPython."""
    message: str
    """The first line of what the exception says, with its type."""
    line: int | None
    """The line of the cell."""
    undefined: str = ""
    """The name that a NameError is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainCell:
    """A cell that `%agent explain` is about, with the text that it put out."""

    source: str
    output: str


class Failures:
    """The last failed cells that have not been run again since."""

    def __init__(self) -> None:
        self._by_number: dict[int, FailedCell] = {}

    def note(self, result: Any, cell_id: str) -> None:
        """Called after each cell."""
        source = result.info.raw_cell
        for number, old in list(self._by_number.items()):
            if old.source == source or (cell_id and old.cell_id == cell_id):
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
    told = traceback.TracebackException.from_exception(error, limit=-MOST_FRAMES)
    text = _error_text(told, source)
    lines = [frame.lineno for frame in told.stack if frame.filename == _THIS]
    said = next((line for line in told.format_exception_only() if line[:1].strip()), "")
    return FailedCell(
        number=number,
        source=source,
        cell_id=cell_id,
        error=text,
        message=said.partition("\n")[0],
        line=getattr(error, "lineno", None) or (lines[-1] if lines else None),
        undefined=name or "",
    )


def _error_text(told: traceback.TracebackException, source: str) -> str:
    """The traceback as Python writes it, of limited length. Cells have no path, which would differ each time."""
    seen: list[Any] = [told]
    for each in seen:
        followed = (each.__cause__, each.__context__, *(getattr(each, "exceptions", None) or ()))
        seen += [other for other in followed if other is not None and other not in seen]
        own = (
            frame for frame in each.stack if not re.search(r"[\\/](?:IPython|ipykernel)[\\/]", frame.filename)
        )
        each.stack = traceback.StackSummary.from_list([_named(frame, source) for frame in own])
        if isinstance(getattr(each, "filename", None), str):  # of a SyntaxError
            each.filename = _named_file(each.filename, getattr(each, "text", "") or "", source)
    text = "".join(told.format()).strip()
    if len(text) <= MAX_ERROR:
        return text
    half = MAX_ERROR // 2
    return f"{text[:half]}\n… ({len(text) - 2 * half:,} characters left out)\n{text[-half:]}"


def _named(frame: traceback.FrameSummary, source: str) -> traceback.FrameSummary:
    name = _named_file(frame.filename, frame.line or "", source)
    return traceback.FrameSummary(name, frame.lineno, frame.name, lookup_line=False, line=frame.line)


def _named_file(path: str, line: str, source: str) -> str:
    """A path below `site-packages`, or the kind of cell: IPython's own paths of cells differ each time."""
    if not re.search(r"ipykernel_\d+[\\/]\d+\.py$|^<", path):
        return _INSTALLED.sub("", path)
    return _THIS if line.strip() in source or line.startswith("get_ipython()") else "<another cell>"
