"""Placeholder images, drawn locally and labelled as such; deterministic for a given prompt."""

import colorsys
import hashlib
import random
import re
import textwrap
import unicodedata
from typing import Any

from agent_nb._base.threads import off_loop
from agent_nb.core.messages import Image
from agent_nb.images.maker import Charge, Order
from agent_nb.images.pillow import PIL, saved

LONG_EDGE = 960
LABEL = "placeholder"
_LONGEST_PROMPT = 160
_WORDS = {
    2: "red",
    28: "orange warm bread bakery coffee wood sunset autumn",
    46: "gold yellow sun honey desert",
    125: "green forest leaf garden nature tea mint",
    197: "teal sea ocean water sky ice winter cool",
    222: "blue night tech space",
    268: "violet purple lavender",
    340: "rose pink berry wine",
}
_HUES = {word: hue for hue, words in _WORDS.items() for word in words.split()}
_GREYS = {"black", "white", "grey", "gray", "monochrome", "silver", "stone", "concrete"}

Colour = tuple[int, int, int]


class Placeholder:
    name = LABEL
    edits = False
    transparent = True

    def __init__(self, why: str = "no image model was asked") -> None:
        self.note = (
            f"This is a placeholder drawn locally, not a real image: {why}."
            " Tell the user so; do not pass it off as a photo or an illustration."
        )

    def price(self, order: Order) -> float | None:
        return 0.0

    async def make(self, order: Order, charge: Charge) -> Image:
        return await off_loop(draw, order.prompt, order.aspect, transparent=order.transparent)

    async def close(self) -> None:
        """No-op: nothing is open."""


def draw(prompt: str, aspect: str = "1:1", *, transparent: bool = False) -> Image:
    """Draw labelled hills, or a plain tile if transparent, in colours the prompt suggests. Blocking."""
    size = size_of(aspect)
    chance = random.Random(hashlib.sha256(prompt.encode("utf-8", "replace")).digest())
    colours = palette(prompt)
    canvas = PIL.Image.new("RGBA", size, (0, 0, 0, 0) if transparent else (*colours[0], 255))
    pencil = PIL.ImageDraw.Draw(canvas)
    if transparent:
        inset = min(size) // 24
        box = (inset, inset, size[0] - inset, size[1] - inset)
        pencil.rounded_rectangle(box, radius=min(size) // 6, fill=(*colours[0], 255))
    else:
        _scenery(pencil, size, colours, chance)
    _label(pencil, size, colours, prompt)
    pixels = canvas if transparent else canvas.convert("RGB")
    return Image(saved(pixels, "PNG", optimize=True), "image/png", LABEL)


def size_of(aspect: str) -> tuple[int, int]:
    """Width and height in exactly this aspect ratio, with the longer side close to `LONG_EDGE`."""
    wide, high = (int(part) for part in (aspect or "1:1").split(":"))
    factor = LONG_EDGE // max(wide, high)
    return wide * factor, high * factor


def palette(prompt: str) -> tuple[Colour, ...]:
    """Five colours from light to dark, in the hue of the first colour word or else of a hash of the prompt."""
    prompt_words = re.findall(r"[a-z]+", prompt.lower())
    singular = [word[:-1] if word.endswith("s") and word[:-1] in _HUES else word for word in prompt_words]
    hues = [_HUES[word] for word in singular if word in _HUES]
    fallback_hue = int.from_bytes(hashlib.sha256(prompt.encode("utf-8", "replace")).digest()[:2], "big") % 360
    hue = hues[0] if hues else fallback_hue
    saturation = 0.06 if not hues and _GREYS & set(prompt_words) else 0.48
    shades = ((0, 0.86), (8, 0.74), (-10, 0.60), (14, 0.46), (-6, 0.24))
    colours = (
        colorsys.hls_to_rgb((hue + shift) % 360 / 360, lightness, saturation) for shift, lightness in shades
    )
    return tuple((round(red * 255), round(green * 255), round(blue * 255)) for red, green, blue in colours)


def _scenery(pencil: Any, size: tuple[int, int], colours: tuple[Colour, ...], chance: random.Random) -> None:
    """Draw a disc in the sky and three ranges of hills, in flat colours to keep the file small."""
    width, height = size
    radius = min(size) * chance.uniform(0.09, 0.15)
    x, y = width * chance.uniform(0.15, 0.85), height * chance.uniform(0.16, 0.3)
    pencil.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colours[1])
    for level, colour in enumerate(colours[1:4]):
        base = height * (0.5 + 0.17 * level)
        peaks = 3 + level
        points = [(0.0, float(height)), (0.0, base)]
        for peak in range(peaks + 1):
            rise = height * chance.uniform(0.02, 0.16)
            points.append((width * peak / peaks, base - rise if peak % 2 else base + rise / 2))
        points += [(float(width), float(height))]
        pencil.polygon(points, fill=colour)


def _label(pencil: Any, size: tuple[int, int], colours: tuple[Colour, ...], prompt: str) -> None:
    width, height = size
    unit = max(14, min(size) // 18)
    font = PIL.ImageFont.load_default(size=unit)
    letters = int(width * 0.78 / pencil.textlength("m", font=font))
    max_lines = max(2, int(height * 0.7 / (unit * 1.6)) - 1)
    lines = textwrap.wrap(_plain(prompt)[:_LONGEST_PROMPT], letters, max_lines=max_lines, placeholder="…")
    text = "\n".join([LABEL, *lines])
    layout: Any = {"font": font, "anchor": "mm", "align": "center", "spacing": unit // 2}
    middle = width / 2, height / 2
    left, top, right, bottom = pencil.multiline_textbbox(middle, text, **layout)
    plate = (left - unit, top - unit, right + unit, bottom + unit)
    pencil.rounded_rectangle(plate, radius=unit * 0.6, fill=(*colours[4], 255))
    pencil.multiline_text(middle, text, fill=(255, 255, 255, 255), **layout)


def _plain(text: str) -> str:
    """The text in ASCII, all that the built-in font covers: accents are stripped, other scripts dropped."""
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return " ".join(folded.split())
