"""Stops code that runs in the thread of the event loop: at its time limit, or when the person interrupts it.

Code that blocks the loop cannot be stopped through the loop, and ipykernel's own interrupt handler for a cell that
awaits goes through it too. So a thread watches the clock, and a signal handler raises where the code is.
"""

import _thread
import asyncio
import contextlib
import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, Self

from agent_nb._base.threads import start_thread

TICK = 0.1
"""Seconds between two looks at the clock."""
AGAIN = 1.0
"""Seconds after which code that went on is stopped again."""


class TimeLimitReached(KeyboardInterrupt):
    """Raised in code that has run too long. No `except Exception` catches it."""


class Watchdog:
    """Watches one call, between `with` and its end."""

    def __init__(
        self, inside: Callable[[CodeType], bool], seconds: float, on_tick: Callable[[], None]
    ) -> None:
        self.timed_out = False
        self.interrupted = False
        """Whether the person has interrupted the code."""
        self.task: asyncio.Task[Any] | None = None
        """The task that runs the code. It is cancelled if the code awaits something."""
        self._inside, self._seconds, self._on_tick = inside, seconds, on_tick
        self._loop, self._thread = asyncio.get_running_loop(), threading.current_thread()
        self._ended = threading.Event()
        self._signalled = False
        """Whether the next signal comes from this watchdog and not from the person."""
        self._shields, self._pending = 0, False
        self._blocking = False
        self._previous: Any = None
        self._timer: asyncio.TimerHandle | None = None
        """The clock where there are no threads. It stops code that awaits, but not code that blocks the loop."""

    def __enter__(self) -> Self:
        if self._thread is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._on_signal)
        if start_thread("watchdog", self._watch) is None:
            self._timer = self._loop.call_later(self._seconds, self._time_out)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._timer is not None:
            self._timer.cancel()
        # A cell that was started in the meantime has a handler of its own, and restores this one when it ends.
        if self._thread is threading.main_thread() and signal.getsignal(signal.SIGINT) == self._on_signal:
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

    @contextlib.contextmanager
    def blocking(self) -> Iterator[None]:
        """Around code that does not return to the loop before it has ended."""
        self._blocking = True
        try:
            yield
        finally:
            self._blocking = False

    def pass_on(self) -> None:
        """Lets the interrupt that stopped the code stop the run too, as it would have without this watchdog."""
        if self.interrupted and callable(self._previous) and self._previous is not signal.default_int_handler:
            self._previous(signal.SIGINT, None)

    def _watch(self) -> None:
        deadline = time.monotonic() + self._seconds
        while not self._ended.wait(TICK):
            with contextlib.suppress(Exception):  # a page that cannot be reached must not end the watch
                self._on_tick()
            if time.monotonic() >= deadline:
                deadline = time.monotonic() + AGAIN
                self.timed_out = True
                self._stop()

    def _time_out(self) -> None:
        self.timed_out = True
        self._cancel()

    def _stop(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._cancel)
        if self._thread is threading.main_thread():
            self._signalled = True
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            else:
                _thread.interrupt_main()
        elif self._blocking:
            thread = ctypes.c_ulong(self._thread.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TimeLimitReached))

    def _cancel(self) -> None:
        if self.task is not None and not self._ended.is_set():
            self.task.cancel()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        by_watchdog, self._signalled = self._signalled, False
        inside = not self._ended.is_set() and self._is_inside(frame)
        if not by_watchdog and not inside:
            if callable(self._previous):
                self._previous(number, frame)
        elif inside:
            self.interrupted = self.interrupted or not by_watchdog
            if self._shields:
                self._pending = True
            else:
                self._raise()

    def _raise(self) -> None:
        raise KeyboardInterrupt if self.interrupted else TimeLimitReached

    def _is_inside(self, frame: FrameType | None) -> bool:
        """Whether the main thread is in the code. It may be in the event loop, which an exception would end."""
        while frame is not None:
            if self._inside(frame.f_code):
                return True
            frame = frame.f_back
        return False
