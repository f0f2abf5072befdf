"""Removes the background of an image: with an image model, with `rembg`, or locally by filling from the border."""

import importlib.util
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent_nb._base.threads import off_loop
from agent_nb.core.errors import ToolError
from agent_nb.core.messages import Image
from agent_nb.images.convert import to_image
from agent_nb.images.maker import Charge, ImageMaker, Order
from agent_nb.images.pillow import PIL, opened, saved

LIMITS = (
    "Cut out locally, by filling from the border: good on a plain background, not on scenes,"
    " and holes inside the subject keep their background."
)
_CUTOUT_PROMPT = (
    "Remove the background completely and leave it transparent. Keep the main subject exactly as it is:"
    " same shape, colours, details, size and position."
)
_HINT = "It works for subjects on a plain background. Use the image with its background."
_MIN_SHARE, _MAX_SHARE = 0.02, 0.98
"""Limits of the removed share of an image: with less there was no background, with more no subject is left."""
_TOLERANCE = (14, 56)
_SCENE_DIFFERENCE = 72
"""A border that differs from an even gradient by more than this is a scene, not a background."""
_SEARCH_EDGE = 640
"""Longer side in pixels of the copy in which the background is searched."""


class MakerCutter:
    """Asks a maker of transparent images to redraw the image without its background."""

    def __init__(self, maker: ImageMaker) -> None:
        self._maker, self.name = maker, maker.name

    def price(self, image: Image) -> float | None:
        return self._maker.price(_order(image))

    async def cut_out(self, image: Image, charge: Charge) -> tuple[Image, str]:
        cutout = await self._maker.make(_order(image), charge)
        return cutout, f"Drawn again without its background by {self.name}: details may differ."


@dataclass(frozen=True, slots=True)
class LocalCutter:
    """Removes the background on this machine, for free."""

    name: str
    cut: Callable[[Image], Image]
    note: str

    def price(self, image: Image) -> float | None:
        return 0.0

    async def cut_out(self, image: Image, charge: Charge) -> tuple[Image, str]:
        return await off_loop(self.cut, image), self.note


def _order(image: Image) -> Order:
    return Order(_CUTOUT_PROMPT, transparent=True, images=(image,))


def _with_rembg(image: Image) -> Image:
    import rembg

    return to_image(bytes(rembg.remove(image.data)), image.name)


def without_border(image: Image) -> Image:
    """The image as PNG, with the area connected to the border made transparent. Blocking."""
    pixels = opened(image).convert("RGBA")
    alpha = pixels.getchannel("A")
    difference = _difference_from_background(pixels.convert("RGB"))
    # Transparent pixels are background, whatever their colour.
    difference = PIL.ImageChops.multiply(difference, alpha.point(lambda value: 255 if value > 16 else 0))
    tolerance = _tolerance(difference)
    background = difference.point(lambda value: 255 if value <= tolerance else 0)
    subject = PIL.ImageChops.invert(_reached_from_border(background))
    removed_share = 1 - subject.histogram()[255] / (pixels.width * pixels.height)
    if not _MIN_SHARE <= removed_share <= _MAX_SHARE:
        raise ToolError(
            "No plain background was found: filling from the border removed"
            f" {removed_share:.0%} of the image, so it was left as it is.",
            hint=_HINT,
        )
    soft_mask = subject.filter(PIL.ImageFilter.GaussianBlur(0.6))
    pixels.putalpha(PIL.ImageChops.darker(alpha, soft_mask))
    return Image(saved(pixels, "PNG", optimize=True), "image/png", image.name)


def _difference_from_background(pixels: Any) -> Any:
    """Difference of each pixel from an even gradient between the four corners, 0 to 255."""
    width, height = pixels.size
    patch = max(1, min(width, height) // 24)
    corners = PIL.Image.new("RGB", (2, 2))
    for x, left in enumerate((0, width - patch)):
        for y, top in enumerate((0, height - patch)):
            crop = pixels.crop((left, top, left + patch, top + patch))
            corners.putpixel((x, y), crop.resize((1, 1), PIL.Image.Resampling.BOX).getpixel((0, 0)))
    # The samples are centred on the corners, so the outer half of the enlarged image is cut off.
    gradient = corners.resize((width, height), PIL.Image.Resampling.BILINEAR, box=(0.5, 0.5, 1.5, 1.5))
    smoothed = pixels.filter(PIL.ImageFilter.MedianFilter(3))
    red, green, blue = PIL.ImageChops.difference(smoothed, gradient).split()
    return PIL.ImageChops.lighter(PIL.ImageChops.lighter(red, green), blue)


def _tolerance(difference: Any) -> int:
    """Allowed difference of a background pixel, from the variation of the border, clamped."""
    width, height = difference.size
    border = PIL.Image.new("1", (width, height), 1)
    border.paste(0, (1, 1, width - 1, height - 1))
    histogram = difference.histogram(border)
    cumulative = itertools.accumulate(histogram)
    typical = next(value for value, count in enumerate(cumulative) if count >= 0.75 * sum(histogram))
    if typical > _SCENE_DIFFERENCE:
        raise ToolError(
            "The border of the image is not a plain background, so nothing was cut out.",
            hint=_HINT,
        )
    return min(max(round(typical * 1.5) + 10, _TOLERANCE[0]), _TOLERANCE[1])


def _reached_from_border(mask: Any) -> Any:
    """The part of a mask connected to the border, searched in a small copy because the search is slow."""
    small = mask.copy()
    small.thumbnail((_SEARCH_EDGE, _SEARCH_EDGE), PIL.Image.Resampling.NEAREST)
    framed = PIL.ImageOps.expand(small, 1, 255)
    PIL.ImageDraw.floodfill(framed, (0, 0), 128)
    reached = PIL.ImageOps.crop(framed, 1).point(lambda value: 255 if value == 128 else 0)
    return PIL.ImageChops.darker(mask, reached.resize(mask.size, PIL.Image.Resampling.NEAREST))


REMBG = LocalCutter("rembg", _with_rembg, "Cut out by rembg.")
"""Uses the `rembg` package, which downloads its model on first use."""
BORDER = LocalCutter("local", without_border, LIMITS)
"""Fills from the border; the fallback that needs no package."""


def local_cutter() -> LocalCutter:
    """The best installed cutter, without importing its package."""
    return REMBG if importlib.util.find_spec("rembg") is not None else BORDER
