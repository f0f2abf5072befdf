"""What a run has spent: tokens as the vendor counts them, and an estimate while it has not."""

from collections.abc import Callable, Sequence

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


class Spend:
    """Running totals of one run. `price` turns tokens into dollars, or None where it is not known."""

    def __init__(self, price: Callable[[Usage], float | None]) -> None:
        self._price = price
        self.total = Usage()
        self.cost = price(self.total)
        self._turn = Usage()
        self._input_estimate = 0
        self.chars = 0
        """Characters that have come in this turn."""

    def begin_turn(self, input_estimate: int) -> None:
        """A new request: until the vendor counts, its input is this many tokens."""
        self._keep_turn()
        self._input_estimate, self.chars = input_estimate, 0

    def counted(self, usage: Usage) -> None:
        """The vendor's own count of this turn so far."""
        self._turn = usage

    def end_turn(self, usage: Usage) -> None:
        self._turn, self.chars, self._input_estimate = usage, 0, 0
        self._keep_turn()

    def cut_off(self) -> None:
        """The run ends here: a turn in the middle counts as far as it came."""
        if self.chars:
            self._turn = self._reckoned()
        self._keep_turn()

    def estimate(self) -> tuple[Usage, float | None]:
        """Totals with the running turn reckoned in."""
        turn = self._reckoned()
        price = self._price(turn)
        cost = None if self.cost is None or price is None else self.cost + price
        return self.total + turn, cost

    def _reckoned(self) -> Usage:
        return Usage(
            input=self._turn.input or self._input_estimate,
            cached_read=self._turn.cached_read,
            cached_write=self._turn.cached_write,
            output=max(self._turn.output, self.chars // CHARS_PER_TOKEN),
            reasoning=self._turn.reasoning,
        )

    def _keep_turn(self) -> None:
        """Adds the turn to the totals. A withdrawn turn counts too: it was billed."""
        if self._turn == Usage():
            return
        price = self._price(self._turn)
        self.cost = None if self.cost is None or price is None else self.cost + price
        self.total += self._turn
        self._turn = Usage()


class Purse:
    """What runs that were started together have spent: one budget holds for all of them."""

    def __init__(self) -> None:
        self._spends: list[Spend] = []

    def share(self, spend: Spend) -> Spend:
        self._spends.append(spend)
        return spend

    @property
    def spent(self) -> float:
        """Dollars so far, with the turns under way reckoned in."""
        return sum(spend.estimate()[1] or 0.0 for spend in self._spends)
