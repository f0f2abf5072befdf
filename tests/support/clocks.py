"""Virtual time for several runs at once."""

import asyncio
import heapq
import itertools


class SharedClock:
    """Moves on to the next sleeper when every run sleeps or has left, so that only the order of waits counts."""

    date = ""

    def __init__(self, runs: int) -> None:
        self._now = 0.0
        self._awake = runs
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._numbers), woken))
        self.leave()
        await woken

    def leave(self) -> None:
        """Counts a run as asleep or ended, and wakes the next sleeper if all are."""
        self._awake -= 1
        if self._awake == 0 and self._sleepers:
            self._now, _, woken = heapq.heappop(self._sleepers)
            self._awake = 1
            woken.set_result(None)
