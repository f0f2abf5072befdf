"""Chooses how a page looks: hue, strength of colour, light or dark, letters, arrangement.

Every colour of a page is derived from one hue in OKLCH, where lightness is even across hues, so that text
stays readable whatever the hue; changing a page's colours is changing one number.
"""

import re
from dataclasses import dataclass

from agent_nb.providers.demo.brief import Brief

HUES = {
    "red": 25, "coral": 30, "rust": 40, "terracotta": 40, "orange": 55, "amber": 70, "warm": 48, "warmer": 48, "brown": 55,
    "golden": 85, "gold": 85, "yellow": 95, "lime": 125, "olive": 115, "green": 150, "mint": 165, "forest": 155, "sage": 145,
    "teal": 195, "turquoise": 195, "cyan": 210, "cool": 235, "cooler": 235, "sky": 235, "blue": 255, "navy": 262,
    "indigo": 278, "violet": 295, "purple": 305, "lilac": 310, "magenta": 335, "pink": 355, "rose": 8,
}  # fmt: skip
_COLOUR = re.compile(rf"\b({'|'.join(HUES)})(?:ish)?\b", re.I)
_GREY = re.compile(r"\b(?:minimal\w*|monochrome|gr[ea]y|black and white|neutral)\b", re.I)
_BRIGHT = re.compile(r"\b(?:playful|bright|vivid|colou?rful|bold|fun)\b", re.I)
_DARK = re.compile(r"\b(?:dark(?:er)?(?: mode| theme)?|night|midnight)\b(?! (?:green|blue|red|brown))", re.I)
_LIGHT = re.compile(
    r"\b(?:light(?:er)? (?:mode|theme|background|colou?rs)|light only|make it light(?:er)?)\b", re.I
)

FONTS = {
    "serif": '"Iowan Old Style","Palatino Linotype",Palatino,"URW Palladio L",P052,Georgia,serif',
    "sans": 'Seravek,"Gill Sans Nova",Ubuntu,Calibri,"Segoe UI",system-ui,sans-serif',
    "round": 'ui-rounded,"Hiragino Maru Gothic ProN",Quicksand,Comfortaa,Manjari,Nunito,"Segoe UI",system-ui,sans-serif',
    "slab": 'Rockwell,"Rockwell Nova","Roboto Slab","DejaVu Serif","Sitka Small",serif',
}
_FONT_ORDER = ("serif", "sans", "slab", "round")
_TURNS = (0, 155, 250, 75)
"""How far each variant's hue is turned, in degrees, when the prompt names no colour."""


@dataclass(frozen=True, slots=True)
class Look:
    hue: int
    chroma: float
    scheme: str
    """The CSS `color-scheme`: `light dark` follows the reader's setting."""
    font: str
    layout: int
    """0, 1 or 2."""


def hue_in(words: str) -> int | None:
    return HUES[found[1].lower()] if (found := _COLOUR.search(words)) else None


def chroma_in(words: str) -> float | None:
    if _GREY.search(words):
        return 0.02
    return 0.17 if _BRIGHT.search(words) else None


def scheme_in(words: str) -> str | None:
    if _LIGHT.search(words):
        return "light"
    return "dark" if _DARK.search(words) else None


def choose_look(brief: Brief, picture_hue: int | None = None) -> Look:
    asked = hue_in(brief.prompt)
    hue = next(hue for hue in (asked, picture_hue, brief.trade.hue, brief.seed % 360) if hue is not None)
    turn = (0, 18, -18, 9)[brief.variant % 4] if asked is not None else _TURNS[brief.variant % 4]
    font = _FONT_ORDER[(_FONT_ORDER.index(brief.trade.font) + brief.variant) % 4]
    return Look(
        hue=(hue + turn) % 360,
        chroma=chroma_in(brief.prompt) or 0.13,
        scheme=scheme_in(brief.prompt) or "light dark",
        font=font,
        layout=brief.variant % 3,
    )
