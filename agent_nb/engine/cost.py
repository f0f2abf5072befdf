"""What a run has cost: tokens as the vendor counts them, an estimate while it has not, and what its tools cost."""

from collections.abc import Callable, Sequence

from agent_nb.images.charge import Charge
from agent_nb.messages import Image, Message, Text, Thinking, ToolCall, ToolResult, Usage

CHARS_PER_TOKEN = 4
TOKENS_PER_IMAGE = 1_200
UPDATE_EVERY = 2_000
"""Characters between two estimates: often enough to hold a budget, seldom enough to cost nothing."""


def estimate_tokens(messages: Sequence[Message], system: str = "") -> int:
    """Roughly how many tokens a conversation is."""
    chars, images = len(system), 0
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
                case _:
                    pass
    return chars // CHARS_PER_TOKEN + images * TOKENS_PER_IMAGE


class CostMeter:
    """Running totals of one run. `price` turns tokens into dollars, or None where it is not known."""

    def __init__(self, price: Callable[[Usage], float | None]) -> None:
        self._price = price
        self.total = Usage()
        """The model's tokens; pictures are counted in dollars alone."""
        self._turns_cost = price(self.total)
        self._turns_known = 0.0
        """The dollars of turns whose price is known: a budget holds even when one is not."""
        self._tools_cost: float | None = 0.0
        self._open: list[Charge] = []
        """Of calls under way."""
        self._ended = self._highest = 0.0
        self._turn = Usage()
        self._input_estimate = 0
        self.chars = 0
        """Characters that have come in this turn."""

    @property
    def cost(self) -> float | None:
        """Dollars of the turns and the tools so far; None when a price is not known."""
        return _sum(self._turns_cost, self._tools_cost)

    def open_charge(self, left: Callable[[], float | None]) -> Charge:
        """For a call that begins: what it expects to cost counts against the budget from then on."""
        charge = Charge(left=left, highest=self._highest)
        self._open.append(charge)
        return charge

    def settle(self, charge: Charge) -> None:
        """The call has ended and cost this."""
        if charge not in self._open:
            return
        self._open.remove(charge)
        charge.end()
        self._tools_cost = _sum(self._tools_cost, charge.total)
        self._ended += charge.expected
        self._highest = max(self._highest, charge.highest)

    @property
    def expected(self) -> float:
        """Dollars to hold against a budget: what is under way counts as far as it can be foreseen."""
        turns = self._turns_known + (self._price(self._expected()) or 0.0)
        return turns + self._ended + sum(charge.expected for charge in self._open)

    def begin_turn(self, input_estimate: int) -> None:
        """A new request: until the vendor counts, its input is this many tokens."""
        self._keep_cut_turn()
        self._input_estimate = input_estimate

    def counted(self, usage: Usage) -> None:
        """The vendor's own count of this turn so far."""
        self._turn = usage

    def end_turn(self, usage: Usage) -> None:
        self._turn, self.chars, self._input_estimate = usage, 0, 0
        self._keep_turn()

    def cut_off(self) -> None:
        """The run ends here: a turn or a call in the middle counts as far as it came."""
        for charge in list(self._open):
            self.settle(charge)
        self._keep_cut_turn()

    def estimate(self) -> tuple[Usage, float | None]:
        """Totals with the running turn included as estimated."""
        turn = self._expected()
        return self.total + turn, _sum(self.cost, self._price(turn))

    def _expected(self) -> Usage:
        return Usage(
            input=self._turn.input or self._input_estimate,
            cached_read=self._turn.cached_read,
            cached_write=self._turn.cached_write,
            output=max(self._turn.output, self.chars // CHARS_PER_TOKEN),
            reasoning=self._turn.reasoning,
        )

    def _keep_cut_turn(self) -> None:
        """A turn that was stopped or withdrawn counts as far as it came: it was billed."""
        if self.chars:
            self._turn, self.chars = self._expected(), 0
        self._keep_turn()

    def _keep_turn(self) -> None:
        """Adds the turn to the totals."""
        if self._turn == Usage():
            return
        price = self._price(self._turn)
        self._turns_cost = _sum(self._turns_cost, price)
        self._turns_known += price or 0.0
        self.total += self._turn
        self._turn = Usage()


class SharedCosts:
    """What runs that were started together have cost: one budget holds for all of them."""

    def __init__(self) -> None:
        self._meters: list[CostMeter] = []

    def share(self, meter: CostMeter) -> CostMeter:
        self._meters.append(meter)
        return meter

    @property
    def total(self) -> float:
        """Dollars so far, with the turns and calls under way included as estimated."""
        return sum(meter.expected for meter in self._meters)


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
