"""Wakes an idle event loop, so that an interrupt is noticed: what a signal handler schedules does not wake it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

TICK = 0.05
"""Seconds."""


@contextlib.asynccontextmanager
async def ticking() -> AsyncIterator[None]:
    """Wakes the loop every `TICK` seconds during the block."""

    async def tick() -> None:
        while True:  # noqa: ASYNC110 - waking the loop is the purpose
            await asyncio.sleep(TICK)

    task = asyncio.get_running_loop().create_task(tick())
    try:
        yield
    finally:
        task.cancel()
