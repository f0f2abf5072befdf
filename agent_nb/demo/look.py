"""Chooses how a page looks: hue, chroma, light or dark, font, layout.

Every colour of a page is derived from one hue in OKLCH. Lightness is even across hues there, so text stays
readable with any hue, and one number changes all colours of a page.
"""

from dataclasses import dataclass

from agent_nb.demo.brief import Brief
from agent_nb.demo.colours import read_wish

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
