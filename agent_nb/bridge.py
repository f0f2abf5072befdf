"""From synchronous code into ours: the one place that may nest an event loop."""

import asyncio
from collections.abc import Coroutine
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
