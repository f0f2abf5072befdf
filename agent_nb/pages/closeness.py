"""Similarity of a page to a target image, from 0 to 100, by structure and colour.

Structure is a variant of SSIM on luminance: the covariance of blocks at four small sizes, weighted by contrast, so that
empty areas, which all pages have, do not count as similar. Colour is the earth mover's distance between the histograms
of each channel. Their product is 100 for equal images, decreases with blur or shift, and is 0 for a blank page. Only
the area of the target image is compared, not the rest of the page below it.
"""

import array
import math
import operator
from itertools import accumulate
from typing import Any

from agent_nb.core.messages import Image
from agent_nb.images.pillow import PIL, on_white, opened, saved, top_of

WIDTHS = (16, 32, 64, 128)
"""Widths in pixels to which both images are scaled: layout, sections, headings, but not letters."""
_FLOOR = 0.1
"""Similarity of unrelated pages by chance."""
_PLAIN = 1.0
"""Standard deviation below which an image has no structure to compare."""
_BLOCK = 4
_CONTRAST = 25.0
_FAR = 64.0
"""Average channel difference at which the colour similarity is 0."""
_SHOWN = 640, 1600
_GAP = 16
_TALLEST = 4
"""Maximum ratio of compared height to width."""


def closeness(target: Image, page: Image) -> float | None:
    """Return 0 to 100; None if the target is a single colour. Decodes images: call it off the loop."""
    target_pixels, page_pixels = on_white(opened(target)), on_white(opened(page))
    if PIL.ImageStat.Stat(_pair(target_pixels, page_pixels, WIDTHS[-1])[0].convert("L")).stddev[0] < _PLAIN:
        return None
    structure = sum(_structure(target_pixels, page_pixels, width) for width in WIDTHS) / len(WIDTHS)
    alike = structure * _colour(target_pixels, page_pixels)
    return round(100 * max(0.0, alike - _FLOOR) / (1 - _FLOOR), 1)


def side_by_side(target: Image, page: Image) -> Image:
    """Combine the target on the left and the page on the right, at the same width."""
    halves = [
        top_of(on_white(opened(image)), *_SHOWN, resample=PIL.Image.Resampling.BOX)
        for image in (target, page)
    ]
    combined = PIL.Image.new("RGB", (2 * _SHOWN[0] + _GAP, max(half.height for half in halves)), "grey")
    for number, half in enumerate(halves):
        combined.paste(half, (number * (_SHOWN[0] + _GAP), 0))
    return Image(saved(combined, "JPEG", quality=80), "image/jpeg")


def _scaled(image: Any, width: int, height: int) -> Any:
    paper = PIL.Image.new("RGB", (width, height), "white")
    paper.paste(top_of(image, width, height, resample=PIL.Image.Resampling.BOX))
    return paper


def _pair(target: Any, page: Any, width: int) -> tuple[Any, Any]:
    height = round(min(target.height / target.width, _TALLEST) * width)
    height = max(_BLOCK, height // _BLOCK * _BLOCK)
    return _scaled(target, width, height), _scaled(page, width, height)


def _structure(target: Any, page: Any, width: int) -> float:
    a, b = (image.convert("L").convert("F") for image in _pair(target, page, width))
    mean_a, mean_b = _block_means(a), _block_means(b)
    squares_a, squares_b, products = (_block_means(_product(*pair)) for pair in ((a, a), (b, b), (a, b)))
    similar = weights = 0.0
    for m_a, m_b, s_a, s_b, p in zip(mean_a, mean_b, squares_a, squares_b, products, strict=True):
        var_a, var_b, covariance = max(0.0, s_a - m_a * m_a), max(0.0, s_b - m_b * m_b), p - m_a * m_b
        alike = max(0.0, (2 * covariance + _CONTRAST) / (var_a + var_b + _CONTRAST))
        light = (2 * m_a * m_b + _CONTRAST) / (m_a * m_a + m_b * m_b + _CONTRAST)
        weight = math.sqrt(max(var_a, var_b))
        similar += weight * alike * light
        weights += weight
    return min(1.0, similar / weights) if weights else 1.0


def _product(left: Any, right: Any) -> Any:
    return PIL.ImageMath.lambda_eval(lambda values: values["a"] * values["b"], a=left, b=right)


def _block_means(image: Any) -> list[float]:
    size = image.width // _BLOCK, image.height // _BLOCK
    return list(array.array("f", image.resize(size, PIL.Image.Resampling.BOX).tobytes()))


def _colour(target: Any, page: Any) -> float:
    expected, actual = (image.histogram() for image in _pair(target, page, WIDTHS[1]))
    distance, total = 0, int(sum(expected[:256]))
    for channel in (slice(0, 256), slice(256, 512), slice(512, 768)):
        carried = accumulate(map(operator.sub, expected[channel], actual[channel]))
        distance += sum(map(abs, carried))  # the earth mover's distance
    return max(0.0, 1 - distance / 3 / total / _FAR)
