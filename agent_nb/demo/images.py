"""Finds the main colour of the images in a prompt."""

import io
from collections.abc import Sequence

from agent_nb.demo.colours import hue_of
from agent_nb.messages import Image

_COLOURFUL = 40
"""Difference between the highest and lowest of red, green and blue that makes a colour count."""


def main_hue(images: Sequence[Image]) -> int | None:
    """The hue of the most common strong colour in the first image; None if there is none."""
    if not images:
        return None
    try:
        import PIL.Image

        with PIL.Image.open(io.BytesIO(images[0].data)) as opened:
            small = opened.convert("RGB").resize((24, 24)).quantize(8)
    except (ImportError, OSError, ValueError, SyntaxError):
        return None
    palette = small.getpalette() or []
    for _, index in sorted(small.getcolors() or [], reverse=True):
        assert isinstance(index, int)  # in an image with a palette, colours are indices
        red, green, blue = palette[3 * index : 3 * index + 3]
        if max(red, green, blue) - min(red, green, blue) > _COLOURFUL:
            return hue_of(f"#{red:02x}{green:02x}{blue:02x}")
    return None
