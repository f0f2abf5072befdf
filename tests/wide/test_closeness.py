"""The closeness of two images, on 20 pages: 100 for the same page, low for a blank one, falling with blur and shift."""

import io
from collections.abc import Callable

import PIL.Image
import pytest
from PIL import ImageChops, ImageFilter

from agent_nb.looking.closeness import closeness
from agent_nb.messages import Image
from tests.support import ROOT
from tests.wide.test_demo_pages import ALL, Visit, page_for
from tests.wide.test_demo_pages import pytestmark as pytestmark  # noqa: PLC0414
from tests.wide.test_demo_pages import visit as visit  # noqa: PLC0414

SAVED = ROOT / "tests" / "support" / "pages"
MORE = ("A landing page for a zoo in Berlin", "A quiz about rivers")
PAGES = {prompt: page_for(prompt) for prompt in [*ALL, *MORE]} | {
    name: (SAVED / name).read_text(encoding="utf-8")
    for name in ("pottery/shop.html", "train/claude.html", "train/gemini.html", "train/gpt.html")
}
WIDTH = 1280
BLURS = (2, 8, 24, 64)
SHIFTS = (10, 40, 120, 360)
"""In pixels of the page."""


def encoded(pixels: PIL.Image.Image) -> Image:
    buffer = io.BytesIO()
    pixels.save(buffer, "BMP")
    return Image(buffer.getvalue())


def blurred(pixels: PIL.Image.Image, radius: int) -> PIL.Image.Image:
    return pixels.reduce(2).filter(ImageFilter.GaussianBlur(radius / 2))


def shifted(pixels: PIL.Image.Image, by: int) -> PIL.Image.Image:
    moved = PIL.Image.new("RGB", pixels.size, "white")
    moved.paste(pixels, (0, by))
    return moved


def screenshot(visit: Visit, name: str) -> PIL.Image.Image:
    page = visit(PAGES[name], width=WIDTH)
    return PIL.Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")


def test_there_are_twenty_pages() -> None:
    assert len(PAGES) == 20


@pytest.mark.parametrize("name", PAGES)
def test_closeness_falls_with_every_difference(visit: Visit, name: str) -> None:
    pixels = screenshot(visit, name)
    given = encoded(pixels)

    def series(
        change: Callable[[PIL.Image.Image, int], PIL.Image.Image], amounts: tuple[int, ...]
    ) -> list[float]:
        return [100.0, *(closeness(given, encoded(change(pixels, amount))) for amount in amounts)]

    assert closeness(given, given) == 100
    blank = [
        closeness(given, encoded(PIL.Image.new("RGB", pixels.size, colour)))
        for colour in ("white", "black", "grey")
    ]
    blur, shift = series(blurred, BLURS), series(shifted, SHIFTS)
    inverted = closeness(given, encoded(ImageChops.invert(pixels)))
    half = closeness(given, encoded(pixels.crop((0, 0, WIDTH, pixels.height // 2))))
    print(f"{name[:24]:24} blank {max(blank)} blur {blur} shift {shift} inverted {inverted} half {half}")
    assert max(blank) < 30
    assert inverted < 30
    assert half < 90
    for falling in (blur, shift):
        assert falling == sorted(falling, reverse=True)
        above = [value for value in falling if value]
        assert len({*above}) == len(above) >= 3
