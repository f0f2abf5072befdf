"""Chooses how a page looks: hue, chroma, light or dark, font, layout.

Every colour of a page is derived from one hue in OKLCH. Lightness is even across hues there, so text stays
readable with any hue, and one number changes all colours of a page.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass

from agent_nb.demo.brief import Brief
from agent_nb.demo.colours import hue_of, read_wish
from agent_nb.messages import Image

FONTS = {
    "serif": '"Iowan Old Style",Palatino,"Palatino Linotype",P052,Georgia,serif',
    "sans": '"Avenir Next",Avenir,"Segoe UI",Ubuntu,"Helvetica Neue",Arial,sans-serif',
    "round": 'ui-rounded,"Hiragino Maru Gothic ProN",Quicksand,Nunito,"Segoe UI",Arial,sans-serif',
    "slab": 'Rockwell,"Rockwell Nova","Roboto Slab","Sitka Small","DejaVu Serif",serif',
}
_ORDER = tuple(FONTS)
_TURNS = (0, 155, 250, 75)
"""Degrees by which the hue of each variant is turned if no colour was asked for."""
_SMALL_TURNS = (0, -22, 14, -12)
_MUDDY = range(84, 132)
"""Hues that turn olive where they are dark enough for text; used only if asked for."""
_COLOURFUL = 40
"""Difference between the highest and lowest of red, green and blue that makes a colour count."""


@dataclass(frozen=True, slots=True)
class Look:
    hue: int
    chroma: float
    scheme: str
    """The CSS `color-scheme`; `light dark` follows the reader's setting."""
    font: str
    layout: int
    """0, 1 or 2."""

    @property
    def weight(self) -> str:
        """The weight of headings."""
        return {"serif": "400", "slab": "600"}.get(self.font, "700")


def choose_look(brief: Brief, image_hue: int | None = None) -> Look:
    wish = read_wish(brief.prompt[:600])
    asked = wish.hue if wish.hue is not None else image_hue
    turns = _TURNS if asked is None else _SMALL_TURNS
    usual = brief.trade.hue if brief.trade.hue is not None else brief.seed % 360
    hue = ((usual if asked is None else asked) + turns[brief.variant % len(turns)]) % 360
    if asked is None and hue in _MUDDY:
        hue = 68 if hue < 108 else 150
    return Look(
        hue=hue,
        chroma=wish.chroma or 0.13,
        scheme=wish.scheme or "light dark",
        font=_ORDER[(_ORDER.index(brief.trade.font) + brief.variant) % len(_ORDER)],
        layout=brief.variant % 3,
    )


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
