"""What one tool call costs: an estimate before the request is sent, then what the vendor charged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent_nb.errors import ToolError


@dataclass(slots=True, kw_only=True, eq=False)
class Charge:
    """In dollars. A tool calls `expect` before it asks a maker, and makers `pay` what they were charged."""

    left: Callable[[], float | None] = lambda: None
    """What is left of the budget; None if there is none."""
    highest: float = 0.0
    """The highest cost of one item in this run so far, used when an estimate is lower."""
    items: list[float | None] = field(default_factory=list)
    """The cost of each item; None if the price or the token count is unknown."""
    _share: float = 0.0
    _pending: int = 0

    def expect(self, prices: Sequence[float | None], what: str) -> None:
        """Reserves the estimated cost of these items; raises ToolError if it exceeds the budget."""
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
        self.items.append(usd)
        if usd is not None:
            self._pending = max(0, self._pending - 1)
            self.highest = max(self.highest, usd)

    def end(self) -> None:
        """The call is over: only items of unknown cost stay reserved."""
        self._pending = min(self._pending, self.items.count(None))

    @property
    def total(self) -> float | None:
        return None if None in self.items else sum(usd for usd in self.items if usd is not None)

    @property
    def expected(self) -> float:
        """What counts against the budget: the known costs and what is still reserved."""
        return sum(usd for usd in self.items if usd is not None) + self._pending * self._share
