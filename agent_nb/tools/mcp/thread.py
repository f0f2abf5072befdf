"""The event loop of all connections, in a thread of its own.

A connection outlives cells and their event loops: `run_sync` makes a loop for each run, and synchronous code stops the
loop of a kernel. So connections have this loop, and are called from any other.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from agent_nb._base.threads import start_thread

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_pid = 0
"""The process whose thread runs the loop. A fork has no such thread."""


def submit(work: Coroutine[Any, Any, T]) -> "Future[T]":
    """Runs a coroutine on the loop of the connections. Cancelling the future cancels the coroutine."""
    return asyncio.run_coroutine_threadsafe(work, _running_loop())


async def on_thread(work: Coroutine[Any, Any, T]) -> T:
    """Awaits a coroutine on the loop of the connections, from any other loop."""
    return await asyncio.wrap_future(submit(work))


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine on the loop of the connections and blocks until it is done. An interrupt cancels it."""
    future = submit(work)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop, _pid  # noqa: PLW0603 - one loop for the whole process
    with _lock:
        if _loop is None or _pid != os.getpid():
            _pid = os.getpid()
            # Not `asyncio.run`, which nest-asyncio2 replaces.
            _loop = asyncio.new_event_loop()
            start_thread("mcp", _loop.run_forever)
        return _loop
