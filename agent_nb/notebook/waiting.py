"""How a cell waits for a run: whether a person is watching, and how an interrupt reaches the run."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from agent_nb.notebook.host import host_of

TICK = 0.05
"""Seconds. An interrupt of ipykernel does not wake an idle loop, so the loop wakes itself."""


def is_attended(shell: Any) -> bool:
    """Whether a person is watching. nbclient, nbval and papermill allow no input; JupyterLab and a terminal do.

    JupyterLite runs in the tab of a person, and its kernel cannot say.
    """
    if host_of(shell) in ("terminal", "jupyterlite"):
        return True
    return bool(getattr(shell.kernel, "_allow_stdin", False))


@contextlib.asynccontextmanager
async def ticking() -> AsyncIterator[None]:
    """Wakes the loop every `TICK` seconds, so that an interrupt is noticed."""

    async def tick() -> None:
        while True:  # noqa: ASYNC110 - waking the loop is the purpose
            await asyncio.sleep(TICK)

    task = asyncio.get_running_loop().create_task(tick())
    try:
        yield
    finally:
        task.cancel()


@contextlib.contextmanager
def on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Makes Ctrl-C call `stop` in a terminal, where it would otherwise end the event loop.

    Not for kernels: ipykernel cancels the cell instead.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
