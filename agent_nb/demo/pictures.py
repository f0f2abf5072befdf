"""Takes a colour from the pictures of a prompt, where Pillow can open them."""

import io
from collections.abc import Sequence

from agent_nb.demo.colours import hue_of
from agent_nb.messages import Image

_COLOURFUL = 40
"""How far apart the strongest and weakest of red, green and blue must be to count."""


def main_hue(images: Sequence[Image]) -> int | None:
    """The hue of the first picture's most common strong colour; None when there is none."""
    if not images:
        return None
    try:
        from PIL import Image as Pictures

        with Pictures.open(io.BytesIO(images[0].data)) as picture:
            small = picture.convert("RGB").resize((24, 24)).quantize(8)
    except (ImportError, OSError, ValueError, SyntaxError):
        return None
    palette = small.getpalette() or []
    for _, index in sorted(small.getcolors() or [], reverse=True):
        assert isinstance(index, int)  # a palette picture counts by index
        red, green, blue = palette[3 * index : 3 * index + 3]
        if max(red, green, blue) - min(red, green, blue) > _COLOURFUL:
            return hue_of(f"#{red:02x}{green:02x}{blue:02x}")
    return None
