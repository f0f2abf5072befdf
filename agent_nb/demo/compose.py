"""Chooses the style of a page from a text (hue, light or dark, font, layout), and fills its templates."""

import html
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from agent_nb.core.messages import Image
from agent_nb.demo.brief import Brief
from agent_nb.demo.texts import table, template

HUES = {
    "red": 25, "coral": 30, "rust": 40, "terracotta": 40, "orange": 55, "brown": 58, "warm": 64, "warmer": 50,
    "amber": 70, "golden": 85, "gold": 85, "yellow": 95, "olive": 115, "lime": 125, "sage": 145, "green": 150,
    "forest": 155, "mint": 165, "teal": 190, "turquoise": 195, "cyan": 210, "cool": 235, "cooler": 235, "sky": 235,
    "blue": 255, "navy": 262, "indigo": 278, "violet": 295, "purple": 305, "lilac": 310, "magenta": 335, "pink": 355,
    "rose": 8,
}  # fmt: skip

_HUE = re.compile(rf"\b({'|'.join(HUES)})(?:ish)?\b", re.I)
_QUIET = re.compile(r"\b(?:minimal\w*|monochrome|gr[ea]y|black and white|neutral)\b", re.I)
_BRIGHT = re.compile(r"\b(?:playful|bright\w*|vivid|colou?rful|bold)\b", re.I)
_DARK = re.compile(rf"\b(?:dark(?:er)?(?: mode| theme)?|night|midnight)\b(?! (?:{'|'.join(HUES)}))", re.I)
_LIGHT = re.compile(
    r"\b(?:light(?:er)? (?:mode|theme|background|colou?rs)|make (?:it|the page) light(?:er)?)\b", re.I
)
_HEX = re.compile(r"#(?:[0-9a-f]{6}|[0-9a-f]{3})\b", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColourRequest:
    """The colours that a text asks for; None where unset."""

    hue: int | None
    chroma: float | None
    scheme: str | None
    """The CSS `color-scheme`."""
    terms: str
    """The matched words, joined with commas; empty if there are none."""


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
    digits = colour.lstrip("#")
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    encoded = (int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in encoded)
    long = math.cbrt(0.4122 * red + 0.5363 * green + 0.0514 * blue)
    medium = math.cbrt(0.2119 * red + 0.6807 * green + 0.1074 * blue)
    short = math.cbrt(0.0883 * red + 0.2817 * green + 0.6300 * blue)
    a = 1.9780 * long - 2.4286 * medium + 0.4506 * short
    b = 0.0259 * long + 0.7828 * medium - 0.8087 * short
    return round(math.degrees(math.atan2(b, a))) % 360


FONTS = {
    "serif": '"Iowan Old Style",Palatino,"Palatino Linotype",P052,Georgia,serif',
    "sans": '"Avenir Next",Avenir,"Segoe UI",Ubuntu,"Helvetica Neue",Arial,sans-serif',
    "round": 'ui-rounded,"Hiragino Maru Gothic ProN",Quicksand,Nunito,"Segoe UI",Arial,sans-serif',
    "slab": 'Rockwell,"Rockwell Nova","Roboto Slab","Sitka Small","DejaVu Serif",serif',
}
_ORDER = tuple(FONTS)
_TURNS = (0, 155, 250, 75)
"""Hue shift of each variant in degrees, if the prompt names no colour."""
_SMALL_TURNS = (0, -22, 14, -12)
_MUDDY = range(84, 132)
"""Hues that look olive when dark enough for text; used only on request."""
_COLOURFUL = 40
"""Minimum difference between the highest and lowest channel of a strong colour."""


@dataclass(frozen=True, slots=True)
class PageStyle:
    hue: int
    chroma: float
    scheme: str
    """The CSS `color-scheme`; `light dark` follows the reader's setting."""
    font: str
    layout: int

    @property
    def weight(self) -> str:
        return {"serif": "400", "slab": "600"}.get(self.font, "700")


def choose_look(brief: Brief, image_hue: int | None = None) -> PageStyle:
    colours = read_colours(brief.prompt[:600])
    requested = colours.hue if colours.hue is not None else image_hue
    turns = _TURNS if requested is None else _SMALL_TURNS
    default = brief.trade.hue if brief.trade.hue is not None else brief.seed % 360
    hue = ((default if requested is None else requested) + turns[brief.variant % len(turns)]) % 360
    if requested is None and hue in _MUDDY:
        hue = 68 if hue < 108 else 150
    return PageStyle(
        hue=hue,
        chroma=colours.chroma or 0.13,
        scheme=colours.scheme or "light dark",
        font=_ORDER[(_ORDER.index(brief.trade.font) + brief.variant) % len(_ORDER)],
        layout=brief.variant % 3,
    )


def main_hue(images: Sequence[Image]) -> int | None:
    """The hue of the most common strong colour in the first image, or None."""
    if not images:
        return None
    try:
        import PIL.Image

        with PIL.Image.open(io.BytesIO(images[0].data)) as image:
            small = image.convert("RGB").resize((24, 24)).quantize(8)
    except (ImportError, OSError, ValueError, SyntaxError):
        return None
    palette = small.getpalette() or []
    for _, index in sorted(small.getcolors() or [], reverse=True):
        assert isinstance(index, int)  # in an image with a palette, colours are indices
        red, green, blue = palette[3 * index : 3 * index + 3]
        if max(red, green, blue) - min(red, green, blue) > _COLOURFUL:
            return hue_of(f"#{red:02x}{green:02x}{blue:02x}")
    return None


_SLOT = re.compile(r"\{\{(\w+)\}\}")


class Html(str):
    """HTML, CSS or a script. `fill` escapes all other values."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout of a kind of page, from `layouts.toml`."""

    name: str
    early: Html
    """Styles for the first screen of the page."""
    later: Html
    """Styles for everything below the first screen."""


@cache
def layouts(kind: str) -> tuple[Layout, ...]:
    entries = table("layouts")[kind].items()
    return tuple(
        Layout(name, Html(entry.get("early", "").strip()), Html(entry.get("later", "").strip()))
        for name, entry in entries
    )


def fill(text: str, /, **slots: str) -> Html:
    """Fill the `{{slots}}` of a template. Slots inside values are not filled."""

    def value(match: re.Match[str]) -> str:
        slot = slots[match[1]]
        return slot if isinstance(slot, Html) else html.escape(slot, quote=True)

    return Html(_SLOT.sub(value, text))


def join_html(items: Iterable[str], between: str = "\n") -> Html:
    return Html(between.join(items))


def spoken(copy: str, brief: Brief) -> str:
    values = {
        "name": brief.name,
        "subject": brief.subject,
        "Subject": brief.subject[:1].upper() + brief.subject[1:],
        "phrase": brief.phrase,
        "in_place": f" {brief.where}" if brief.where else "",
    }
    return _SLOT.sub(lambda match: values[match[1]], copy)


def head(title: str, look: PageStyle) -> Html:
    """The start of every page, up to the middle of its first style element, which the layout continues."""
    return fill(
        template("head.html").strip(),
        title=title,
        scheme=look.scheme,
        hue=str(look.hue),
        chroma=str(look.chroma),
        head_font=head_font(look),
        body_font=Html(FONTS["serif" if look.font == "serif" else "sans"]),
        weight=look.weight,
    )


def shared_styles(look: PageStyle) -> Html:
    """The shared styles of all pages, for a style element after the first screen."""
    soft_corners = look.font in ("round", "sans")
    return fill(
        template("rest.html").strip(),
        radius="999px" if look.font == "round" else "10px" if soft_corners else "3px",
        radius_field="10px" if soft_corners else "3px",
        radius_large="20px" if soft_corners else "4px",
    )


def head_font(look: PageStyle) -> Html:
    """A declaration for headings, if their font differs from that of the text."""
    return Html("" if look.font in ("serif", "sans") else f"font-family:{FONTS[look.font]};")


def emphasised(copy: str) -> Html:
    return Html(re.sub(r"\*(.+?)\*", r"<em>\1</em>", html.escape(copy, quote=True)))


def art(name: str, framing: str = "xMidYMid slice") -> Html:
    """A drawing; `framing` is its `preserveAspectRatio`."""
    return Html(
        template(f"art/{name}.svg").strip().replace("<svg ", f'<svg preserveAspectRatio="{framing}" ', 1)
    )


def note(text: str) -> Html:
    """A paragraph with a tool's result; empty without one."""
    return fill('<p class="small">{{text}}</p>\n', text=text) if text else Html("")


TITLES: dict[str, str] = {name: entry["title"] for name, entry in table("sections").items()}
_PANELS = ("0 0 320 240", "320 0 320 240", "0 240 320 240", "320 240 320 240")


def section(name: str, brief: Brief) -> Html:
    drawing = art(brief.trade.art)
    address = "<p>{{name}} is {{where}}.</p>\n" if brief.where else ""
    body = fill(
        table("sections")[name]["body"].strip(),
        name=brief.name,
        hours=_rows(brief.trade.hours),
        menu=_rows(brief.trade.menu),
        panels=join_html(f"<figure>{drawing.replace('0 0 640 480', panel, 1)}</figure>" for panel in _PANELS),
        address=fill(address, name=brief.name, where=brief.where),
    )
    return fill(
        '<section class="row" id="{{id}}">\n<h2>{{title}}</h2>\n<div>\n{{body}}\n</div>\n</section>',
        id=name,
        title=TITLES[name],
        body=body,
    )


def _rows(rows: Sequence[Sequence[str]]) -> Html:
    row = "<tr><td>{{a}}</td><td>{{b}}</td></tr>"
    return fill("<table>\n{{rows}}\n</table>", rows=join_html(fill(row, a=a, b=b) for a, b in rows))
