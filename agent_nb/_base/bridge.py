"""Runs coroutines from synchronous code and other threads. Only this module nests an event loop."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from agent_nb._base.constants import IN_BROWSER

T = TypeVar("T")


class CannotBlockError(RuntimeError):
    """Synchronous code waits for a coroutine where the event loop belongs to a browser."""

    def __init__(self) -> None:
        super().__init__(
            "In a browser, synchronous code cannot wait for a run: use `await agent.run(...)`, and write `%%agent` "
            "in the first line of its cell."
        )


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end, also inside a running event loop, as in old notebooks and nested magics.

    An interrupt cancels the coroutine, waits for it to finish, and is raised again.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    if IN_BROWSER:
        work.close()
        raise CannotBlockError
    import nest_asyncio2

    nest_asyncio2.apply(loop)
    task = loop.create_task(work)
    try:
        return loop.run_until_complete(task)
    except BaseException:
        if not task.done():
            task.cancel()
            loop.run_until_complete(asyncio.wait([task]))
        raise


def from_any_thread() -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Returns a wrapper for functions that other threads call and that must run on the current event loop."""
    loop, home = asyncio.get_running_loop(), threading.get_ident()

    def wrap(function: Callable[..., Any]) -> Callable[..., None]:
        def call(*args: Any) -> None:
            if threading.get_ident() == home:
                function(*args)
            else:
                loop.call_soon_threadsafe(function, *args)

        return call

    return wrap
