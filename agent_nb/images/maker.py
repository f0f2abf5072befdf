"""The interfaces that the image tools use: orders, makers, cutters, and the studio that holds them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agent_nb.errors import ToolError
from agent_nb.messages import Image


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


EDITS = "image edits"
INPUTS = "input images"
"""What a tool may need before it is offered: a maker that edits, images that the user gave."""
ASPECTS = ("1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "21:9")


@dataclass(frozen=True, slots=True)
class Order:
    """One image to make, from a prompt alone or from a prompt and images."""

    prompt: str
    aspect: str = ""
    """One of `ASPECTS`; empty leaves it to the maker, which keeps that of the first image."""
    transparent: bool = False
    images: tuple[Image, ...] = ()
    """What to start from; empty to make a new image."""


class ImageMaker(Protocol):
    """Makes images. Raises `ProviderError`, with a message for the user, if one cannot be made."""

    @property
    def name(self) -> str:
        """As it is shown: `openai:gpt-image-2.6-sunburst`, `placeholder`."""
        ...

    note: str
    """What the model and the user must know about its images; empty for real ones."""
    edits: bool
    transparent: bool

    def price(self, order: Order) -> float | None:
        """The estimated cost in dollars: 0 for a local maker, None if unknown."""
        ...

    async def make(self, order: Order, charge: Charge) -> Image:
        """The image. The vendor's charge goes into `charge`, also for an answer without an image."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Cutting:
    image: Image
    note: str = ""


class Cutter(Protocol):
    """Removes the background of an image. Raises `ProviderError` or `ToolError` if it cannot."""

    @property
    def name(self) -> str: ...

    def price(self, image: Image) -> float | None:
        """The estimated cost in dollars, as `ImageMaker.price`."""
        ...

    async def cut_out(self, image: Image, charge: Charge) -> Cutting: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Studio:
    maker: ImageMaker
    cutter: Cutter
    online: bool = True
    makers: tuple[ImageMaker, ...] = ()
    """The makers that may hold connections."""

    @property
    def serves(self) -> frozenset[str]:
        return frozenset({EDITS} if self.maker.edits else ())

    async def close(self) -> None:
        for maker in self.makers:
            await maker.close()
