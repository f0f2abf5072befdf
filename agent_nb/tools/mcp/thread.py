"""The event loop of all connections, in a thread of its own.

A connection outlives cells and their event loops: `run_sync` makes a loop for each run, and synchronous code stops the
loop of a kernel. So connections have this loop, and are called from any other.
"""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from agent_nb._base.threads import background_loop

T = TypeVar("T")


def submit(work: Coroutine[Any, Any, T]) -> "Future[T]":
    """Runs a coroutine on the loop of the connections. Cancelling the future cancels the coroutine."""
    return asyncio.run_coroutine_threadsafe(work, background_loop("mcp"))


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
