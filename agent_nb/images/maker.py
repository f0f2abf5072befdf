"""The interfaces that the image tools use: orders, makers, cutters, and the studio that combines them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agent_nb.core.errors import ToolError
from agent_nb.core.messages import Image

EDITS = "image edits"
INPUTS = "input images"
"""Requirements of image tools: a maker that can edit, input images from the user."""
ASPECTS = ("1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "21:9")


@dataclass(slots=True, kw_only=True, eq=False)
class Charge:
    """Costs in dollars: a tool calls `expect` before it asks a maker, and makers `pay` the actual cost."""

    remaining: Callable[[], float | None] = lambda: None
    """Remaining budget; None without a budget."""
    highest: float = 0.0
    """The highest cost of one item in this run so far, used when an estimate is lower."""
    items: list[float | None] = field(default_factory=list)
    """The cost of each item; None if the price or the token count is unknown."""
    _share: float = 0.0
    _pending: int = 0

    def expect(self, prices: Sequence[float | None], subject: str) -> None:
        """Reserve the estimated cost of these items; raise `ToolError` if it exceeds the budget."""
        known_prices = [max(price, self.highest) for price in prices if price]
        total, remaining = sum(known_prices), self.remaining()
        if remaining is not None and total > remaining:
            raise ToolError(
                f"{subject} would cost about ${total:.2f}, and ${max(remaining, 0):.2f} of the budget is left.",
                hint="Ask for fewer, or go on without.",
            )
        self._pending = len(known_prices)
        self._share = total / len(known_prices) if known_prices else 0.0

    def pay(self, usd: float | None) -> None:
        self.items.append(usd)
        if usd is not None:
            self._pending = max(0, self._pending - 1)
            self.highest = max(self.highest, usd)

    def end(self) -> None:
        """End the call: only items of unknown cost stay reserved."""
        self._pending = min(self._pending, self.items.count(None))

    @property
    def total(self) -> float | None:
        return None if None in self.items else sum(usd for usd in self.items if usd is not None)

    @property
    def expected(self) -> float:
        """Known and reserved costs, which count against the budget."""
        return sum(usd for usd in self.items if usd is not None) + self._pending * self._share


@dataclass(frozen=True, slots=True)
class Order:
    """One image to make, from a prompt alone or from a prompt and images."""

    prompt: str
    aspect: str = ""
    """One of `ASPECTS`; empty for the maker's default, which is that of the first image if there is one."""
    transparent: bool = False
    images: tuple[Image, ...] = ()
    """Images to start from; empty for a new image."""


class ImageMaker(Protocol):
    """Makes images. Raises `ProviderError`, with a message for the user, if one cannot be made."""

    @property
    def name(self) -> str:
        """Display name, such as `openai:gpt-image-2.6-sunburst` or `placeholder`."""

    note: str
    """Caveat about its images for the model and the user; empty for real images."""
    edits: bool
    transparent: bool

    def price(self, order: Order) -> float | None:
        """The estimated cost in dollars: 0 for a local maker, None if unknown."""

    async def make(self, order: Order, charge: Charge) -> Image:
        """Make the image and record its cost in `charge`, even for an answer without an image."""

    async def close(self) -> None: ...


class Cutter(Protocol):
    """Removes the background of an image. Raises `ProviderError` or `ToolError` if it cannot."""

    @property
    def name(self) -> str: ...

    def price(self, image: Image) -> float | None:
        """The estimated cost in dollars, like `ImageMaker.price`."""

    async def cut_out(self, image: Image, charge: Charge) -> tuple[Image, str]:
        """Return the subject, and a note on how it was cut out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Studio:
    maker: ImageMaker
    cutter: Cutter
    online: bool = True
    makers: tuple[ImageMaker, ...] = ()
    """Makers with connections to close."""

    @property
    def serves(self) -> frozenset[str]:
        return frozenset({EDITS} if self.maker.edits else ())

    async def close(self) -> None:
        for maker in self.makers:
            await maker.close()
