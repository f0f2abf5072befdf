"""What the image tools ask for, and of whom."""

from dataclasses import dataclass
from typing import Protocol

from agent_nb.images.charge import Charge
from agent_nb.messages import Image

EDITS = "image edits"
INPUTS = "input pictures"
"""What a tool may need to be of use: a maker that edits, pictures the person gave."""
ASPECTS = ("1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "21:9")


@dataclass(frozen=True, slots=True)
class Order:
    """One picture to make: from words alone, or from pictures and what to do with them."""

    prompt: str
    aspect: str = ""
    """One of `ASPECTS`; empty leaves it to the maker, who keeps that of the first picture."""
    transparent: bool = False
    images: tuple[Image, ...] = ()
    """What to start from; empty to make a new picture."""


class ImageMaker(Protocol):
    """Makes pictures. Raises `ProviderError` when one cannot be had, with words that can be shown."""

    @property
    def name(self) -> str:
        """As people read it: `openai:gpt-image-2.6-sunburst`, `placeholder`."""
        ...

    note: str
    """What the model and the person must know about every picture; empty for real ones."""
    edits: bool
    """Takes orders with pictures."""
    transparent: bool
    """Can leave the background out."""

    def price(self, order: Order) -> float | None:
        """Dollars it is likely to cost: 0 when drawn here, None when not known."""
        ...

    async def make(self, order: Order, charge: Charge) -> Image:
        """The picture; what the vendor charged, also for an answer without one, is paid into `charge`."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Cutting:
    """A picture without its background, and what is to be said about it."""

    image: Image
    note: str = ""


class Cutter(Protocol):
    """Takes the background out of a picture. Raises `ProviderError` or `ToolError` when it cannot."""

    @property
    def name(self) -> str: ...

    def price(self, image: Image) -> float | None:
        """As a maker's."""
        ...

    async def cut_out(self, image: Image, charge: Charge) -> Cutting: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Studio:
    """Who serves the image tools of a run."""

    maker: ImageMaker
    cutter: Cutter
    online: bool = True
    """Whether pictures may be fetched from the internet."""
    makers: tuple[ImageMaker, ...] = ()
    """Those that may hold connections."""

    @property
    def serves(self) -> frozenset[str]:
        """What tools may need of it."""
        return frozenset({EDITS} if self.maker.edits else ())

    async def close(self) -> None:
        for maker in self.makers:
            await maker.close()
