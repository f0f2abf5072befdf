"""From synchronous code and other threads into ours: the one place that may nest an event loop."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end, also from inside a running loop (an old notebook, an outer magic).

    An interrupt cancels the work, waits for it to put itself in order, then goes on up.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
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
    """Made on a loop: wraps functions so that other threads may call them, and they still run on that loop."""
    loop, home = asyncio.get_running_loop(), threading.get_ident()

    def wrap(function: Callable[..., Any]) -> Callable[..., None]:
        def call(*args: Any) -> None:
            if threading.get_ident() == home:
                function(*args)
            else:
                loop.call_soon_threadsafe(function, *args)

        return call

    return wrap
