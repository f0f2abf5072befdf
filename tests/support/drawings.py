"""Small images for the tests of the image tools, drawn on the spot."""

import io
from collections.abc import Callable
from typing import Any

import PIL.Image
import PIL.ImageDraw

from agent_nb.core.messages import Image


def encoded(image: PIL.Image.Image, kind: str = "PNG", **settings: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **settings)
    return buffer.getvalue()


def png(width: int = 64, height: int = 48, colour: str = "teal") -> bytes:
    return encoded(PIL.Image.new("RGB", (width, height), colour))


def as_image(image: PIL.Image.Image, name: str = "") -> Image:
    return Image(encoded(image), "image/png", name)


def opened(data: Any) -> PIL.Image.Image:
    """An image from bytes, a file of a run or an `Image`."""
    return PIL.Image.open(io.BytesIO(getattr(data, "data", data)))


def screenshot() -> PIL.Image.Image:
    """400 x 200, the left half red, the right half blue, a yellow square in the middle of the blue."""
    image = PIL.Image.new("RGB", (400, 200), "red")
    pencil = PIL.ImageDraw.Draw(image)
    pencil.rectangle((200, 0, 399, 199), fill="blue")
    pencil.rectangle((280, 80, 319, 119), fill="yellow")
    return image


def on_ground(
    ground: PIL.Image.Image, shape: Callable[[Any, int, int], None]
) -> tuple[PIL.Image.Image, PIL.Image.Image]:
    """A striped thing of that shape before a ground, and the mask it was drawn with."""
    width, height = ground.size
    large = PIL.Image.new("L", (width * 4, height * 4), 0)
    shape(PIL.ImageDraw.Draw(large), width * 4, height * 4)
    mask = large.resize(ground.size, PIL.Image.Resampling.LANCZOS)
    thing = PIL.Image.new("RGB", ground.size, (180, 60, 40))
    pencil = PIL.ImageDraw.Draw(thing)
    for x in range(0, width, 20):
        pencil.line((x, 0, x, height), fill=(220, 160, 40), width=6)
    return PIL.Image.composite(thing, ground, mask), mask


def overlap(one: PIL.Image.Image, other: PIL.Image.Image) -> float:
    """Intersection over union of two masks."""
    pairs = [(a > 127, b > 127) for a, b in zip(one.tobytes(), other.tobytes(), strict=True)]
    return sum(a and b for a, b in pairs) / sum(a or b for a, b in pairs)
