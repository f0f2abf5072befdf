"""How close two images are."""

import PIL.Image
import PIL.ImageDraw
import pytest

from agent_nb.pages.closeness import closeness, side_by_side
from tests.support.drawings import as_image, opened


def page(*, down: int = 0, accent: str = "navy", height: int = 900) -> PIL.Image.Image:
    pixels = PIL.Image.new("RGB", (600, height), "white")
    pen = PIL.ImageDraw.Draw(pixels)
    pen.rectangle((0, down, 600, down + 90), fill=accent)
    for line in range(12):
        pen.rectangle((60, down + 140 + 50 * line, 300 + 20 * line, down + 160 + 50 * line), fill="#444")
    return pixels


def test_the_same_page_is_100_at_any_size():
    given = as_image(page())
    assert closeness(given, given) == 100
    assert closeness(given, as_image(page().resize((1200, 1800)))) > 95


def test_a_blank_page_is_0():
    assert closeness(as_image(page()), as_image(PIL.Image.new("RGB", (600, 900), "white"))) == 0
    assert closeness(as_image(page()), as_image(PIL.Image.new("RGBA", (9, 9)))) == 0


def test_shift_colour_and_missing_parts_count():
    given = as_image(page())
    shifts = [closeness(given, as_image(page(down=down))) for down in (0, 3, 8, 20)]
    assert shifts == sorted(shifts, reverse=True)
    assert shifts[-1] < shifts[0]
    assert closeness(given, as_image(page(accent="gold"))) < 90
    assert closeness(given, as_image(page().crop((0, 0, 600, 450)))) < 80


def test_what_is_below_the_given_image_does_not_count():
    assert closeness(as_image(page()), as_image(page(height=3000))) == 100


def test_an_image_of_one_colour_has_no_closeness():
    assert closeness(as_image(PIL.Image.new("RGB", (600, 900), "teal")), as_image(page())) is None


@pytest.mark.parametrize("height", [40, 9000])
def test_side_by_side_has_a_size(height: int):
    both = opened(side_by_side(as_image(page()), as_image(page(height=height))))
    assert both.size == (1296, 960 if height == 40 else 1600)
