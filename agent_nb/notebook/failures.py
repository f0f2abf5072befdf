"""The cells that `%agent fix` and `%agent explain` refer to. `%load_ext` imports this module, so it stays light."""

import os
import re
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # too slow to import for `%load_ext`
    from agent_nb.core.options import Options

MOST_FAILURES = 20
MAX_FRAMES = 8
MAX_MESSAGE = 4_000
_OWN = (str(Path(__file__).parent / "kernel_tools"), "<frozen ")
_CELL_FILE = re.compile(r"[\\/]ipykernel_\d+[\\/]\d+\.py\Z")
"""The name that ipykernel gives to a cell."""


class FailedCell(SimpleNamespace):
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


class PlainCell(SimpleNamespace):
    """A cell for `%agent explain`, with its text output."""

    number: int
    """The execution count."""
    source: str
    output: str


class CellToRun(NamedTuple):
    """What a command returns that asks for a run."""

    options: "Options"
    cell: str | FailedCell | PlainCell


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
    lines = [frame.lineno for frame in code_frames(error) if frame.line and frame.line in source]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    return FailedCell(
        number=number,
        source=source,
        cell_id=cell_id,
        error=short_traceback(error),
        message=error_message(error).partition("\n")[0],
        line=line_in(source, line),
        undefined=error.name if isinstance(error, NameError) and type(error.name) is str else "",
    )


def line_in(source: str, line: Any) -> int | None:
    """The line number if it can be one of this source: the attributes of an exception can be anything."""
    return line if type(line) is int and 0 < line <= source.count("\n") + 2 else None


def short_traceback(error: BaseException) -> str:
    """The lines of cells and `run_python` code, and the last frame, without those of IPython and this package."""
    all_frames = code_frames(error)
    frames = [frame for frame in all_frames if _is_source(frame.filename)]
    if isinstance(error, SyntaxError) and not frames:
        text = "".join(traceback.format_exception_only(error)).rstrip()
        return text.replace(str(error.filename), "<cell>")  # a cell's path differs in each session
    lines = ["Traceback (most recent call last):"]
    if len(frames) > MAX_FRAMES:
        lines.append(f"  ... {len(frames) - MAX_FRAMES} more")
    for frame in frames[-MAX_FRAMES:]:
        where = "code" if is_code(frame.filename) else "cell"
        lines += [f"  {where}, line {frame.lineno}, in {frame.name}", f"    {(frame.line or '').strip()}"]
    if all_frames and not _is_source((last := all_frames[-1]).filename):
        lines.append(f"  {'/'.join(Path(last.filename).parts[-3:])}, line {last.lineno}, in {last.name}")
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    causes = (cause, *getattr(error, "exceptions", ()))
    return "\n".join(
        [*lines, error_message(error), *(f"Caused by {error_message(item)}" for item in causes if item)]
    )


def code_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames from the first one of a cell or of `run_python` code."""
    frames = traceback.extract_tb(error.__traceback__)
    start = next((at for at, frame in enumerate(frames) if _is_source(frame.filename)), len(frames))
    modules = filter(None, map(sys.modules.get, ("IPython", "ipykernel")))
    left_out = (*_OWN, *(f"{Path(str(module.__file__)).parent}{os.sep}" for module in modules))
    return [frame for frame in frames[start:] if not frame.filename.startswith(left_out)]


def is_code(filename: str) -> bool:
    return filename.startswith("<run_python")


def _is_source(filename: str) -> bool:
    """Whether a file name belongs to `run_python` code or to a cell."""
    return filename.startswith(("<run_python", "<ipython-input")) or bool(_CELL_FILE.search(filename))


def error_message(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # the exception's own code
        text = "(its message cannot be shown)"
    return f"{type(error).__name__}: {text[:MAX_MESSAGE]}".removesuffix(": ")
