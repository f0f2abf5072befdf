"""Runs untrusted object code, such as a `repr`, with a timeout.

The code runs in a separate thread, so that it blocks neither the event loop nor the kernel and can be abandoned.
Where there are no threads, as in a browser, it runs inline and has no time limit.
Nothing here uses signals: those reach the main thread, which may be running a cell.
"""

import ctypes
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from agent_nb._base.secrets import short_line
from agent_nb._base.threads import start_thread
from agent_nb.core.errors import error_text

T = TypeVar("T")


class UnreadableError(Exception):
    """The code raised or timed out, as the message states."""


class _GivenUpError(BaseException):
    """Aborts code that timed out. Not an `Exception`, which the code might catch."""


def call_within(seconds: float, function: Callable[[], T]) -> T:
    """Call the function; raises `UnreadableError` if it raises, exits or times out."""
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(function())
        except _GivenUpError:
            return
        except BaseException as error:  # SystemExit and KeyboardInterrupt too
            problem = UnreadableError(f"raises {short_line(error_text(error), 200)}")
            problem.__cause__ = error
            result.set_exception(problem)

    thread = start_thread("reader", run)
    if thread is None:
        run()
    else:
        thread.join(seconds)
        if not result.done():
            # Raises in the thread at its next line of Python. A call into C code goes on until it returns.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_GivenUpError)
            )
            raise UnreadableError(f"takes longer than {seconds:g} second{'' if seconds == 1 else 's'}")
    return result.result()
