"""Chooses the style of a page from a text or an image: hue, strength, light or dark, font."""

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_nb.core.messages import Image
from agent_nb.demo.brief import Brief
from agent_nb.demo.conversation import MAX_PROMPT
from agent_nb.demo.templates import Html

HUES = {
    "red": 25, "coral": 30, "rust": 40, "terracotta": 40, "orange": 55, "brown": 58, "warm": 64, "warmer": 50,
    "amber": 70, "golden": 85, "gold": 85, "yellow": 95, "olive": 115, "lime": 125, "sage": 145, "green": 150,
    "forest": 155, "mint": 165, "teal": 190, "turquoise": 195, "cyan": 210, "cool": 235, "cooler": 235, "sky": 235,
    "blue": 255, "navy": 262, "indigo": 278, "violet": 295, "purple": 305, "lilac": 310, "magenta": 335, "pink": 355,
    "rose": 8,
}  # fmt: skip
_COLOURS = ("red", "orange", "yellow", "green", "teal", "blue", "purple", "pink")
_HUE = re.compile(rf"\b({'|'.join(HUES)})(?:ish)?\b", re.I)
_QUIET = re.compile(r"\b(?:minimal\w*|monochrome|gr[ea]y|black and white|neutral)\b", re.I)
_BRIGHT = re.compile(r"\b(?:playful|bright\w*|vivid|colou?rful|bold)\b", re.I)
_DARK = re.compile(rf"\b(?:dark(?:er)?(?: mode| theme)?|night|midnight)\b(?! (?:{'|'.join(HUES)}))", re.I)
_LIGHT = re.compile(
    r"\b(?:light(?:er)? (?:mode|theme|background|colou?rs)|make (?:it|the page) light(?:er)?)\b", re.I
)
_HEX = re.compile(r"#(?:[0-9a-f]{6}|[0-9a-f]{3})\b", re.I)
_SERIF = '"Iowan Old Style",Palatino,"Palatino Linotype",P052,Georgia,serif'
_SANS = '"Avenir Next",Avenir,"Segoe UI",Ubuntu,"Helvetica Neue",Arial,sans-serif'
_ROUND = 'ui-rounded,"Hiragino Maru Gothic ProN",Quicksand,Nunito,"Segoe UI",Arial,sans-serif'
_SLAB = 'Rockwell,"Rockwell Nova","Roboto Slab","Sitka Small","DejaVu Serif",serif'
FONTS = {
    "serif": ("serif", "", _SERIF, "400", "3px", "3px", "4px"),
    "sans": ("sans-serif", "", _SANS, "700", "10px", "10px", "20px"),
    "round": ("rounded", f"font-family:{_ROUND};", _SANS, "700", "999px", "10px", "20px"),
    "slab": ("slab serif", f"font-family:{_SLAB};", _SANS, "600", "3px", "3px", "4px"),
}
"""For each font: its name, and the values of `_FONT_SLOTS`."""
_FONT_SLOTS = ("head_font", "body_font", "weight", "radius", "radius_field", "radius_large")
"""The last three are the radius of buttons, fields and cards."""
_TURNS, _SMALL_TURNS = (0, 155, 250, 75), (0, -22, 14, -12)
"""Hue shift of each variant in degrees; small if the prompt names a colour."""
_MUDDY = range(84, 132)
"""Hues that look olive when dark enough for text; used only on request."""
_COLOURFUL = 40
"""Minimum difference between the highest and lowest channel of a strong colour."""
_GREYISH = 0.03
"""The chroma below which a hue is hardly visible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColourRequest:
    """The colours that a text asks for; None where unset."""

    hue: int | None
    chroma: float | None
    scheme: str | None
    """The CSS `color-scheme`."""
    terms: str
    """The matched words, joined with commas; empty if there are none."""


@dataclass(frozen=True, slots=True)
class PageStyle:
    hue: int
    chroma: float
    scheme: str
    """The CSS `color-scheme`; `light dark` follows the reader's setting."""
    font: str

    def slots(self) -> dict[str, str]:
        """The slots of the shared styles."""
        font = dict(zip(_FONT_SLOTS, map(Html, FONTS[self.font][1:]), strict=True))
        return {"scheme": self.scheme, "hue": str(self.hue), "chroma": str(self.chroma), **font}

    def __str__(self) -> str:
        nearest = min(_COLOURS, key=lambda name: abs((self.hue - HUES[name] + 180) % 360 - 180))
        colour = nearest if self.chroma > _GREYISH else "grey"
        article = "an" if colour == "orange" else "a"
        return f"{article} {colour} palette and a {FONTS[self.font][0]} typeface"


def read_colours(text: str) -> ColourRequest:
    matches = [pattern.search(text) for pattern in (_HEX, _HUE, _QUIET, _BRIGHT, _LIGHT, _DARK)]
    exact, hue, quiet, bright, light, dark = matches
    return ColourRequest(
        hue=hue_of(exact[0]) if exact else HUES[hue[1].lower()] if hue else None,
        chroma=0.02 if quiet else 0.17 if bright else None,
        scheme="light" if light else "dark" if dark else None,
        terms=", ".join(match[0].lower() for match in matches if match),
    )


def hue_of(colour: str) -> int:
    """The OKLCH hue of a colour such as `#0a7d5a` or `#fff`."""
    digits = colour.lstrip("#")
    digits = "".join(digit * 2 for digit in digits) if len(digits) == 3 else digits
    encoded = (int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in encoded)
    long = math.cbrt(0.4122 * red + 0.5363 * green + 0.0514 * blue)
    medium = math.cbrt(0.2119 * red + 0.6807 * green + 0.1074 * blue)
    short = math.cbrt(0.0883 * red + 0.2817 * green + 0.6300 * blue)
    a = 1.9780 * long - 2.4286 * medium + 0.4506 * short
    b = 0.0259 * long + 0.7828 * medium - 0.8087 * short
    return round(math.degrees(math.atan2(b, a))) % 360


def choose_style(brief: Brief, images: Sequence[Image] = ()) -> PageStyle:
    """The style that the prompt asks for, else the colour of the first image, else that of the trade."""
    colours = read_colours(brief.prompt[:MAX_PROMPT])
    requested = colours.hue if colours.hue is not None else _main_hue(images)
    turns = _TURNS if requested is None else _SMALL_TURNS
    default = brief.trade.get("hue", brief.seed % 360)
    hue = ((default if requested is None else requested) + turns[brief.variant % len(turns)]) % 360
    if requested is None and hue in _MUDDY:
        hue = 68 if hue < 108 else 150
    fonts = [*FONTS]
    font = fonts[(fonts.index(brief.trade["font"]) + brief.variant) % len(fonts)]
    return PageStyle(hue, colours.chroma or 0.13, colours.scheme or "light dark", font)


def _main_hue(images: Sequence[Image]) -> int | None:
    """The hue of the most common strong colour in the first image, or None."""
    try:
        import PIL.Image

        with PIL.Image.open(io.BytesIO(images[0].data)) as image:
            small = image.convert("RGB").resize((24, 24)).quantize(8)
    except (ImportError, LookupError, OSError, ValueError, SyntaxError):
        return None
    palette = small.getpalette() or []
    for _, index in sorted(small.getcolors() or [], reverse=True):
        assert isinstance(index, int)  # in an image with a palette, colours are indices
        channels = palette[3 * index : 3 * index + 3]
        if max(channels) - min(channels) > _COLOURFUL:
            return hue_of(bytes(channels).hex())
    return None
