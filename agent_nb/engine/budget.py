"""Holds the cost and the time of a run against its limits, and reports the cost while it runs."""

import asyncio
import math
from collections.abc import Callable

from agent_nb.engine.config import RunConfig
from agent_nb.engine.cost import UPDATE_EVERY, CostMeter, SharedCosts
from agent_nb.engine.ending import EndRun
from agent_nb.engine.journal import Journal
from agent_nb.events import UsageUpdated
from agent_nb.images.charge import Charge


class Budget:
    """The limits of one run. Their money is shared with the variants that were started with it."""

    def __init__(self, config: RunConfig, shared: SharedCosts, journal: Journal) -> None:
        self._limits, self._shared, self._journal = config.limits, shared, journal
        self._timer: asyncio.TimerHandle | None = None
        self.meter = shared.share(CostMeter(config.price))
        self.call_costs: dict[str, float | None] = {}
        """The cost of tool calls in US dollars, by call id; None where the price is unknown."""

    def check(self) -> None:
        """Ends the run if it has reached a limit."""
        if self._limits.usd is not None and self._shared.total >= self._limits.usd:
            raise EndRun("budget")
        if self._limits.seconds is not None and self._journal.elapsed() >= self._limits.seconds:
            raise EndRun("max_seconds")

    @property
    def seconds_left(self) -> float:
        limit = self._limits.seconds
        return math.inf if limit is None else limit - self._journal.elapsed()

    def start_timer(self, stop: Callable[[], None]) -> None:
        """Calls `stop` when the run's time is up. Its clock may stand still, so it is read again then."""
        left = self.seconds_left
        if left <= 0:
            stop()
        elif left < math.inf:
            self._timer = asyncio.get_running_loop().call_later(max(left, 0.02), self.start_timer, stop)

    def cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def report(self) -> None:
        """Emits the cost so far."""
        self._journal.emit(UsageUpdated, usage=self.meter.total, cost=self.meter.cost)

    def estimate(self, due: int) -> int:
        """Checks the limits, and emits an estimate of the cost if one is due; returns when the next one is."""
        if self.meter.chars >= due:
            due = self.meter.chars + UPDATE_EVERY
            usage, cost = self.meter.estimate()
            self._journal.emit(UsageUpdated, usage=usage, cost=cost, estimated=True)
        self.check()
        return due

    def open_charge(self) -> Charge:
        """The charge of a call that is about to run."""
        return self.meter.open_charge(self._left)

    def settle(self, call_id: str, charge: Charge) -> None:
        """Adds the cost of a call that has ended."""
        self.meter.settle(charge)
        if charge.items:
            self.call_costs[call_id] = charge.total
            self.report()

    def _left(self) -> float | None:
        return None if self._limits.usd is None else self._limits.usd - self._shared.total
