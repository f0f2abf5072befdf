"""What one call of a tool costs: expected before it is sent, paid as the vendor counts it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent_nb.errors import ToolError


def _no_budget() -> float | None:
    return None


@dataclass(slots=True, kw_only=True, eq=False)
class Charge:
    """Dollars. Makers `pay` what they were charged; a tool asks first with `expect`."""

    left: Callable[[], float | None] = _no_budget
    """What is left of the budget; None when there is none."""
    highest: float = 0.0
    """The most that one item has cost so far in this run, where the expectation was too low."""
    items: list[float | None] = field(default_factory=list)
    """What was charged, one by one; None where the vendor's price or count is not known."""
    _share: float = 0.0
    _pending: int = 0

    def expect(self, prices: Sequence[float | None], what: str) -> None:
        """Sets aside what these are likely to cost; a ToolError where the budget clearly does not hold it."""
        known = [max(price, self.highest) for price in prices if price]
        total, left = sum(known), self.left()
        if left is not None and total > left:
            raise ToolError(
                f"{what} would cost about ${total:.2f}, and ${max(left, 0):.2f} of the budget is left.",
                hint="Ask for fewer, or go on without.",
            )
        self._pending = len(known)
        self._share = total / len(known) if known else 0.0

    def pay(self, usd: float | None) -> None:
        """One item was charged."""
        self.items.append(usd)
        if usd is not None:
            self._pending = max(0, self._pending - 1)
            self.highest = max(self.highest, usd)

    def end(self) -> None:
        """Nothing more is under way: what is set aside is only for items whose cost is not known."""
        self._pending = min(self._pending, self.items.count(None))

    @property
    def total(self) -> float | None:
        """What was charged; None when a part of it is not known."""
        return None if None in self.items else sum(usd for usd in self.items if usd is not None)

    @property
    def expected(self) -> float:
        """What to count against the budget: what was charged and what is still set aside."""
        return sum(usd for usd in self.items if usd is not None) + self._pending * self._share
