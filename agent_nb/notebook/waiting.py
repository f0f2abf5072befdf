"""How a cell waits for a run: whether anybody is watching, and how an interrupt reaches it."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

TICK = 0.05
"""Seconds. ipykernel's interrupt does not wake an idle loop; a light tick lets it be seen at once."""


def is_attended(shell: Any) -> bool:
    """Whether somebody watches: nbclient, nbval and papermill allow no input; JupyterLab and a terminal do."""
    kernel = getattr(shell, "kernel", None)
    return True if kernel is None else bool(getattr(kernel, "_allow_stdin", False))


@contextlib.asynccontextmanager
async def ticking() -> AsyncIterator[None]:
    """Keeps the loop awake while a cell waits."""

    async def tick() -> None:
        while True:  # noqa: ASYNC110 - the waking up is the point
            await asyncio.sleep(TICK)

    task = asyncio.get_running_loop().create_task(tick())
    try:
        yield
    finally:
        task.cancel()


@contextlib.contextmanager
def on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """In a terminal: the interrupt key calls `stop`, instead of tearing down the loop under our feet.

    A kernel has its own way, which cancels the cell; it is left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
