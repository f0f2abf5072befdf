"""The cost of a run: the vendor's token counts, estimates until they arrive, tool costs, and limits."""

import asyncio
import json
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

from agent_nb.core.events import UsageUpdated
from agent_nb.core.messages import (
    Document,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
)
from agent_nb.core.run_settings import Limits
from agent_nb.engine.ending import EndRun
from agent_nb.engine.journal import Journal
from agent_nb.images.maker import Charge
from agent_nb.images.pdf import page_count
from agent_nb.providers.prices import CHARS_PER_TOKEN
from agent_nb.run.run import Run

TOKENS_PER_IMAGE = 1_200
TOKENS_PER_PAGE = 2_000
"""Of a PDF: vendors count the text of a page, and most of them also an image of it."""
CHECK_EVERY = 2_000
"""Characters between checks of the limits: frequent enough to enforce a budget, and still cheap."""
ESTIMATE_SECONDS = 1.0
"""Minimum seconds between estimates of the usage."""
MILLION = 1_000_000

Price = Callable[[Usage], float | None]


def estimate_tokens(messages: Sequence[Message], system: str = "", tools: Sequence[ToolSpec] = ()) -> int:
    chars, images = len(system), 0
    chars += sum(len(json.dumps(tool.schema)) + len(tool.description) for tool in tools)
    for message in messages:
        for part in message.parts:
            match part:
                case Text(text) | Thinking(text):
                    chars += len(text)
                case ToolCall(arguments=arguments):
                    chars += len(arguments)
                case ToolResult():
                    chars += len(part.text)
                    images += len(part.images)
                case Image():
                    images += 1
                case Document():
                    chars += page_count(part.data) * CHARS_PER_TOKEN * TOKENS_PER_PAGE
    return chars // CHARS_PER_TOKEN + images * TOKENS_PER_IMAGE


def density(tokens: int, estimate: int) -> float:
    """Ratio of actual to estimated tokens, from 1 to 4; higher for code and most languages than for English."""
    return min(max(tokens / max(estimate, 1), 1.0), 4.0)


class CostMeter:
    """Running totals of one run, in US dollars. `price` returns None if the price is unknown."""

    def __init__(self, price: Price) -> None:
        self._set_price(price)
        self.total = Usage()
        """The model's tokens. Images made by tools count only in `cost`."""
        self._turns_cost = price(self.total)
        self._known_turns_cost = 0.0
        """Excludes turns of unknown price, so that a budget can still be enforced."""
        self._tools_cost: float | None = 0.0
        self._open_charges: list[Charge] = []
        self._settled_cost = self._highest_item = 0.0
        self._turn = Usage()
        self._input_estimate = 0
        self._accepted = False
        self.chars = 0
        self.reported_cost: float | None = None
        """Cost of all turns, if an outside agent reports it."""

    @property
    def cost(self) -> float | None:
        turns = self._turns_cost if self.reported_cost is None else self.reported_cost
        return _sum(turns, self._tools_cost)

    def open_charge(self, left: Callable[[], float | None]) -> Charge:
        """Open a charge for a call. Its expected cost counts against the budget at once."""
        charge = Charge(remaining=left, highest=self._highest_item)
        self._open_charges.append(charge)
        return charge

    def settle(self, charge: Charge) -> None:
        if charge not in self._open_charges:
            return
        self._open_charges.remove(charge)
        charge.end()
        self._tools_cost = _sum(self._tools_cost, charge.total)
        self._settled_cost += charge.expected
        self._highest_item = max(self._highest_item, charge.highest)

    @property
    def expected(self) -> float:
        turns = self._known_turns_cost + (self._estimated_price(self._estimated_turn()) or 0.0)
        return turns + self._settled_cost + sum(charge.expected for charge in self._open_charges)

    def begin_turn(self, input_estimate: int) -> None:
        """Start a request. `input_estimate` is used until the vendor reports its input tokens."""
        self._add_cut_turn()
        self._input_estimate = input_estimate

    def accepted(self) -> None:
        """Called when the vendor starts to answer and so charges for the input."""
        self._accepted = True

    def counted(self, usage: Usage) -> None:
        self._turn = usage

    def _set_price(self, price: Price) -> None:
        self._price = price
        self._rates = lru_cache(maxsize=1)(partial(_rates, price))
        """Cached per turn, in which only the output grows: price lookups are slow."""

    def end_turn(self, usage: Usage, price: Price | None = None) -> None:
        """Add a finished turn. `price` is that of the model that answered, from now on."""
        if price is not None:
            self._set_price(price)
        self._turn, self.chars, self._input_estimate, self._accepted = usage, 0, 0, False
        self._add_turn()

    def cut_off(self) -> None:
        """End the run. Unfinished turns and calls count at their estimated cost."""
        for charge in list(self._open_charges):
            self.settle(charge)
        self._add_cut_turn()

    def estimate(self) -> tuple[Usage, float | None]:
        turn = self._estimated_turn()
        return self.total + turn, _sum(self.cost, self._estimated_price(turn))

    def _estimated_turn(self) -> Usage:
        return replace(
            self._turn,
            input=self._turn.input or self._input_estimate,
            output=max(self._turn.output, self.chars // CHARS_PER_TOKEN),
        )

    def _estimated_price(self, turn: Usage) -> float | None:
        rates = self._rates(replace(turn, output=0, reasoning=0))
        return None if rates is None else rates[0] + rates[1] * turn.output

    def _add_cut_turn(self) -> None:
        """Add the estimated usage of a stopped or retried turn, because the vendor charges for it."""
        if self.chars or self._accepted:
            self._turn, self.chars, self._accepted = self._estimated_turn(), 0, False
        self._add_turn()

    def _add_turn(self) -> None:
        if self._turn == Usage():
            return
        price = self._price(self._turn)
        self._turns_cost = _sum(self._turns_cost, price)
        self._known_turns_cost += price or 0.0
        self.total += self._turn
        self._turn = Usage()


class Budget:
    """The limits of one run. Variants that start together share the money limit through `meters`."""

    def __init__(self, limits: Limits, price: Price, meters: list[CostMeter], journal: Journal) -> None:
        self._limits, self._meters, self._journal = limits, meters, journal
        self._timer: asyncio.TimerHandle | None = None
        self._next_estimate = 0.0
        self.meter = CostMeter(price)
        meters.append(self.meter)

    def check(self) -> None:
        if (remaining := self._usd_left()) is not None and remaining <= 0:
            raise EndRun("budget")
        if self._limits.seconds is not None and self._journal.elapsed() >= self._limits.seconds:
            raise EndRun("max_seconds")

    @property
    def seconds_left(self) -> float:
        limit = self._limits.seconds
        return math.inf if limit is None else limit - self._journal.elapsed()

    def start_timer(self, stop: Callable[[], None]) -> None:
        """Call `stop` when the run's time is up. The timer is rearmed if the run's clock was paused."""
        seconds = self.seconds_left
        if seconds <= 0:
            stop()
        elif seconds < math.inf:
            self._timer = asyncio.get_running_loop().call_later(max(seconds, 0.02), self.start_timer, stop)

    def cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def report(self) -> None:
        self._journal.emit(UsageUpdated, usage=self.meter.total, cost=self.meter.cost)

    def estimate(self, due: int) -> int:
        """Check the limits and emit a due cost estimate; return the character count at which the next is due."""
        if self.meter.chars >= due:
            due = self.meter.chars + CHECK_EVERY
            if self._journal.at >= self._next_estimate:
                self._next_estimate = self._journal.at + ESTIMATE_SECONDS
                usage, cost = self.meter.estimate()
                self._journal.emit(UsageUpdated, usage=usage, cost=cost, estimated=True)
        self.check()
        return due

    def open_charge(self) -> Charge:
        return self.meter.open_charge(self._usd_left)

    def settle(self, charge: Charge) -> None:
        self.meter.settle(charge)
        if charge.items:
            self.report()

    def _usd_left(self) -> float | None:
        if self._limits.usd is None:
            return None
        return self._limits.usd - sum(meter.expected for meter in self._meters)


def _rates(price: Price, usage: Usage) -> tuple[float, float] | None:
    """The prices of a turn's input and of one output token, or None if unknown."""
    before, after = price(usage), price(replace(usage, output=MILLION))
    return None if before is None or after is None else (before, (after - before) / MILLION)


def _sum(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a + b


@dataclass(slots=True)
class ModelCosts:
    runs: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    unpriced: int = 0
    replays: int = 0
    """Replays, which are free and not counted in `runs`."""
    recorded_cost: float = 0.0

    def add(self, run: Run) -> None:
        if run.settings.get("replayed"):
            self.replays += 1
            self.recorded_cost += run.cost or 0.0
            return
        self.runs += 1
        self.usage += run.usage
        self.cost += run.cost or 0.0
        self.unpriced += run.cost is None


class SessionCosts:
    """The cost of this process's finished runs, by model, without runs loaded from disk. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_model: dict[str, ModelCosts] = {}

    def add(self, run: Run) -> None:
        with self._lock:
            self._by_model.setdefault(run.model, ModelCosts()).add(run)

    def by_model(self) -> dict[str, ModelCosts]:
        with self._lock:
            return dict(self._by_model)

    def clear(self) -> None:
        with self._lock:
            self._by_model.clear()


SESSION = SessionCosts()
