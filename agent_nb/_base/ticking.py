"""Wakes an idle event loop, so that an interrupt is noticed: what a signal handler schedules does not wake it."""

import asyncio
import contextlib
from collections.abc import Iterator

TICK = 0.05
"""Seconds."""


@contextlib.contextmanager
def ticking() -> Iterator[None]:
    """Wakes the running loop every `TICK` seconds during the block."""
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle

    def tick() -> None:
        nonlocal timer
        timer = loop.call_later(TICK, tick)

    tick()
    try:
        yield
    finally:
        timer.cancel()
