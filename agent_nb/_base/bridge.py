"""Runs coroutines from synchronous code. Only this module nests an event loop."""

import asyncio
from collections.abc import Coroutine
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
