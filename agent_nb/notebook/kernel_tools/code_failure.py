"""An exception of the code as a short traceback: the lines of the code, and where it left for a library."""

import traceback
from collections.abc import Iterator
from pathlib import Path

_OWN = (str(Path(__file__).parent), "<frozen ")
MAX_FRAMES = 8
MAX_MESSAGE = 4_000


def is_source(filename: str) -> bool:
    """Whether a file name is that of code from `run_python` or from a cell."""
    return filename.startswith(("<run_python", "<ipython-input")) or "ipykernel_" in filename


def short_traceback(error: BaseException) -> str:
    """The traceback without frames of IPython or of this package, and without colours."""
    return "\n".join(_lines(error))


def headline(error: BaseException) -> str:
    """`ZeroDivisionError: division by zero (line 3)`"""
    number = code_line(error)
    return _message(error) + (f" (line {number})" if number else "")


def code_line(error: BaseException) -> int | None:
    """The last line of the code that the error passed through, or that cannot be compiled; None if it is not known."""
    if isinstance(error, SyntaxError) and _is_code(error.filename or ""):
        return error.lineno
    return next((frame.lineno for frame in reversed(_frames(error)) if _is_code(frame.filename)), None)


def failed_line(error: BaseException | None) -> int | None:
    """The line of the code at which it was left; None if it is not known, or if nothing of it has run."""
    frames = _frames(error) if error is not None else []
    return next((frame.lineno for frame in frames if _is_code(frame.filename)), None)


def _is_code(filename: str) -> bool:
    return filename.startswith("<run_python")


def _lines(error: BaseException) -> Iterator[str]:
    frames = [frame for frame in _frames(error) if is_source(frame.filename)]
    if isinstance(error, SyntaxError) and not frames:
        yield from "".join(traceback.format_exception_only(error)).rstrip().split("\n")
        return
    yield "Traceback (most recent call last):"
    if len(frames) > MAX_FRAMES:
        yield f"  ... {len(frames) - MAX_FRAMES} more"
    for frame in frames[-MAX_FRAMES:]:
        where = "code" if _is_code(frame.filename) else "cell"
        yield f"  {where}, line {frame.lineno}, in {frame.name}"
        yield f"    {(frame.line or '').strip()}"
    last = next(iter(_frames(error)[-1:]), None)
    if last is not None and not is_source(last.filename):
        yield f"  {'/'.join(Path(last.filename).parts[-3:])}, line {last.lineno}, in {last.name}"
    yield _message(error)
    if error.__cause__ is not None:
        yield f"Caused by {_message(error.__cause__)}"


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    frames = traceback.extract_tb(error.__traceback__)
    first = next((at for at, frame in enumerate(frames) if is_source(frame.filename)), len(frames))
    return [frame for frame in frames[first:] if not frame.filename.startswith(_OWN)]


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # the exception's own code
        text = "(its message cannot be shown)"
    return f"{type(error).__name__}: {text[:MAX_MESSAGE]}".removesuffix(": ")
