"""Stops code that runs in the thread of the event loop: at its time limit, or when the user interrupts it.

Code that blocks the loop cannot be stopped through the loop, and ipykernel's own interrupt handler for a cell that
awaits goes through it too. So a thread watches the clock, and a signal handler raises where the code is.
"""

import _thread
import asyncio
import contextlib
import ctypes
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, Self

from agent_nb._base.threads import start_thread

TICK = 0.1
AGAIN = 1.0
"""Seconds after which code that went on is stopped again."""
POLITE = 2
"""How often code is asked to stop in a way that it can handle. IPython ends the process of a `!command` then."""
_OWN_SIGNAL = signal.SIGRTMIN + 6 if hasattr(signal, "SIGRTMIN") else signal.SIGINT
"""The watchdog's signal. Where it can be another than SIGINT, code that ignores SIGINT is stopped too."""


class TimeLimitReached(KeyboardInterrupt):
    """Raised in code that has run too long. No `except Exception` catches it."""


class RunsOn(BaseException):
    """Raised in code that went on after `TimeLimitReached`."""


class Watchdog:
    """Watches one call, between `with` and its end."""

    def __init__(
        self,
        inside: Callable[[CodeType], bool],
        seconds: float,
        on_tick: Callable[[], None],
        on_overrun: Callable[[], None],
    ) -> None:
        self.timed_out = False
        """Whether the code was stopped at its limit, even if it then went on to its end."""
        self.blocking = False
        """Whether the code runs without returning to the loop."""
        self.interrupted = False
        self.task: asyncio.Task[Any] | None = None
        """The task that runs the code. It is cancelled if the code awaits something."""
        self.seconds = seconds
        self._inside, self._on_tick, self._on_overrun = inside, on_tick, on_overrun
        self._stops = 0
        self._loop, self._thread = asyncio.get_running_loop(), threading.current_thread()
        self._ended = threading.Event()
        self._signalled = False
        """Whether the next signal comes from this watchdog and not from the user."""
        self._shields, self._pending = 0, False
        self._previous: Any = None
        self._previous_own: Any = None
        self._timer: asyncio.TimerHandle | None = None
        """The clock where there are no threads. It stops code that awaits, but not code that blocks the loop."""

    def __enter__(self) -> Self:
        if self._thread is threading.main_thread():
            self._previous_own = signal.signal(_OWN_SIGNAL, self._on_signal)
            self._previous = signal.signal(signal.SIGINT, self._on_signal)
        if start_thread("watchdog", self._watch) is None:
            self._timer = self._loop.call_later(self.seconds, self._cancel)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._timer is not None:
            self._timer.cancel()
        if self._thread is not threading.main_thread():
            return
        signal.signal(_OWN_SIGNAL, self._previous_own)
        # A cell that was started in the meantime has a handler of its own, and restores this one when it ends.
        if signal.getsignal(signal.SIGINT) in (self._on_signal, signal.SIG_IGN, self._previous_own):
            signal.signal(signal.SIGINT, self._previous)

    @contextlib.contextmanager
    def shielded(self) -> Iterator[None]:
        """Delays an interrupt to the end of the block, which sends something that must not be cut in half."""
        self._shields += 1
        try:
            yield
        finally:
            self._shields -= 1
            if self._pending and not self._shields:
                self._pending = False
                self._raise()

    def call(self, function: Callable[[], Any]) -> Any:
        """Calls code that does not return to the loop before it has ended."""
        trace = sys.gettrace()
        self.blocking = True
        try:
            return function()
        finally:
            self.blocking = False
            sys.settrace(trace)

    def pass_on(self) -> None:
        """Lets the interrupt that stopped the code stop the run too, as it would have without this watchdog."""
        if self.interrupted and callable(self._previous) and self._previous is not signal.default_int_handler:
            self._previous(signal.SIGINT, None)

    def _watch(self) -> None:
        deadline = time.monotonic() + self.seconds
        while not self._ended.wait(TICK):
            with contextlib.suppress(Exception):  # a page that cannot be reached must not end the watch
                self._on_tick()
            if time.monotonic() >= deadline:
                deadline = time.monotonic() + AGAIN
                self._stop()

    def _stop(self) -> None:
        self._stops += 1
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._cancel)
        if self._thread is threading.main_thread():
            self._signalled = True
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(threading.main_thread().ident or 0, _OWN_SIGNAL)
            else:
                _thread.interrupt_main()
        elif self.blocking:
            self.timed_out = True
            error = TimeLimitReached if self._stops <= POLITE else RunsOn
            thread = ctypes.c_ulong(self._thread.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(error))

    def _cancel(self) -> None:
        if self.task is not None and not self._ended.is_set():
            self.timed_out = True
            self.task.cancel()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        by_watchdog, self._signalled = self._signalled, False
        # Whether the main thread is in the code. It may be in the event loop, which an exception would end.
        frames = () if self._ended.is_set() else traceback.walk_stack(frame)
        inside = any(self._inside(each.f_code) for each, _ in frames)
        if not by_watchdog and not inside:
            if callable(self._previous):
                self._previous(number, frame)
        elif inside:
            self.interrupted = self.interrupted or not by_watchdog
            self.timed_out = self.timed_out or by_watchdog
            if self._shields:
                self._pending = True
            else:
                self._raise()

    def _raise(self) -> None:
        if self._stops > 1 and not self.interrupted:
            self._on_overrun()
        if self._stops <= POLITE:
            raise KeyboardInterrupt if self.interrupted else TimeLimitReached
        if self.blocking:
            self._trace()
        raise RunsOn

    def _trace(self) -> None:
        """Raises once more at the next line of the code, which is that of an `except` if it catches everything."""
        frames = [frame for frame, _ in traceback.walk_stack(sys._getframe())]
        while frames and not self._inside(frames[-1].f_code):
            frames.pop()
        for frame in frames:  # also those that the code has called
            if frame.f_code.co_filename != __file__:
                frame.f_trace = self._on_line
        sys.settrace(self._on_line)

    def _on_line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event in ("call", "line") and self.blocking and not self._shields:
            raise RunsOn  # Python then removes this function
        return self._on_line
