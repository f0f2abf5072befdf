"""The interfaces that the image tools use: orders, makers, cutters, and the studio that holds them."""

from dataclasses import dataclass
from typing import Protocol

from agent_nb.images.charge import Charge
from agent_nb.messages import Image

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
