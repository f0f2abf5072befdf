"""How close a page is to an image of what was wanted, from 0 to 100: its structure and its colours.

Structure is a variant of SSIM on luminance: the covariance of blocks at four small sizes, in which a block counts by
its contrast, so that empty areas, which all pages have, do not make pages alike. Colour is the earth mover's distance
between the histograms of each channel. Their product is 100 for equal images, falls as one of them is blurred or
shifted, and is 0 for a blank page. Only the area of the given image is compared, not what the page has below.
"""

import array
import math
from typing import Any

from agent_nb.images.pillow import on_white, opened, saved, top_of
from agent_nb.messages import Image

WIDTHS = (16, 32, 64, 128)
"""Pixels to which both images are scaled: layout, sections, headings. Letters are not compared."""
_FLOOR = 0.1
"""What unrelated pages have in common by chance."""
_PLAIN = 1.0
"""Contrast, as a standard deviation, below which an image has no structure to compare."""
_BLOCK = 4
_CONTRAST = 25.0
_FAR = 64.0
"""Average difference of a channel at which colours have nothing in common."""
_SHOWN = 640, 1600
_GAP = 16
_TALLEST = 4
"""Heights per width that are compared."""


def closeness(given: Image, page: Image) -> float | None:
    """From 0 to 100; None if the given image is of one colour. Decodes: call it off the loop."""
    from PIL import ImageStat

    wanted, made = on_white(opened(given)), on_white(opened(page))
    if ImageStat.Stat(_pair(wanted, made, WIDTHS[-1])[0].convert("L")).stddev[0] < _PLAIN:
        return None
    structure = sum(_structure(wanted, made, width) for width in WIDTHS) / len(WIDTHS)
    alike = structure * _colour(wanted, made)
    return round(100 * max(0.0, alike - _FLOOR) / (1 - _FLOOR), 1)


def side_by_side(given: Image, page: Image) -> Image:
    """One image with the given one on the left and the page on the right, at the same width."""
    import PIL.Image

    halves = [
        top_of(on_white(opened(image)), *_SHOWN, resample=PIL.Image.Resampling.BOX) for image in (given, page)
    ]
    both = PIL.Image.new("RGB", (2 * _SHOWN[0] + _GAP, max(half.height for half in halves)), "grey")
    for number, half in enumerate(halves):
        both.paste(half, (number * (_SHOWN[0] + _GAP), 0))
    return Image(saved(both, "JPEG", quality=80), "image/jpeg")


def _scaled(image: Any, width: int, height: int) -> Any:
    import PIL.Image

    paper = PIL.Image.new("RGB", (width, height), "white")
    paper.paste(top_of(image, width, height, resample=PIL.Image.Resampling.BOX))
    return paper


def _pair(wanted: Any, made: Any, width: int) -> tuple[Any, Any]:
    height = round(min(wanted.height / wanted.width, _TALLEST) * width)
    height = max(_BLOCK, height // _BLOCK * _BLOCK)
    return _scaled(wanted, width, height), _scaled(made, width, height)


def _structure(wanted: Any, made: Any, width: int) -> float:
    a, b = (image.convert("L").convert("F") for image in _pair(wanted, made, width))
    mean_a, mean_b = _block_means(a), _block_means(b)
    squares_a, squares_b, products = (_block_means(_product(*pair)) for pair in ((a, a), (b, b), (a, b)))
    similar: float = 0.0
    weights: float = 0.0
    for m_a, m_b, s_a, s_b, p in zip(mean_a, mean_b, squares_a, squares_b, products, strict=True):
        var_a, var_b, covariance = max(0.0, s_a - m_a * m_a), max(0.0, s_b - m_b * m_b), p - m_a * m_b
        alike = max(0.0, (2 * covariance + _CONTRAST) / (var_a + var_b + _CONTRAST))
        light = (2 * m_a * m_b + _CONTRAST) / (m_a * m_a + m_b * m_b + _CONTRAST)
        weight = math.sqrt(max(var_a, var_b))
        similar += weight * alike * light
        weights += weight
    return min(1.0, similar / weights) if weights else 1.0


def _product(one: Any, other: Any) -> Any:
    from PIL import ImageMath

    return ImageMath.lambda_eval(lambda values: values["a"] * values["b"], a=one, b=other)


def _block_means(image: Any) -> list[float]:
    import PIL.Image

    size = image.width // _BLOCK, image.height // _BLOCK
    return list(array.array("f", image.resize(size, PIL.Image.Resampling.BOX).tobytes()))


def _colour(wanted: Any, made: Any) -> float:
    one, other = (image.histogram() for image in _pair(wanted, made, WIDTHS[1]))
    total: int = sum(one[:256])
    distance: float = sum(
        _moved(one[start : start + 256], other[start : start + 256]) for start in (0, 256, 512)
    )
    return max(0.0, 1 - distance / 3 / total / _FAR)


def _moved(one: list[int], other: list[int]) -> float:
    """How much must be moved, and how far, to turn one histogram into the other."""
    moved = carried = 0
    for a, b in zip(one, other, strict=True):
        carried += a - b
        moved += abs(carried)
    return moved
