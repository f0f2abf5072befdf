"""Placeholders: right in shape, the same every time, and never mistaken for the real thing."""

import colorsys

import pytest

from agent_nb.images.maker import ASPECTS, Charge, Order
from agent_nb.images.placeholder import LABEL, Placeholder, draw, palette
from tests.support.drawings import opened


@pytest.mark.parametrize("aspect", ASPECTS)
def test_the_aspect_ratio_is_exact(aspect):
    wide, high = map(int, aspect.split(":"))
    width, height = opened(draw("A bakery", aspect)).size
    assert width * high == height * wide
    assert 900 <= max(width, height) <= 1000


async def test_the_same_prompt_draws_the_same():
    first, again = [await Placeholder().make(Order("A bakery in Lyon", "16:9"), Charge()) for _ in range(2)]
    other = await Placeholder().make(Order("A bakery in Nice", "16:9"), Charge())
    assert first.data == again.data != other.data


@pytest.mark.parametrize(
    ("prompt", "low", "high"),
    [("a deep blue ocean", 180, 230), ("Red roses", 330, 370), ("forest path", 110, 160)],
)
def test_the_prompt_decides_the_palette(prompt, low, high):
    red, green, blue = (part / 255 for part in palette(prompt)[0])
    hue = colorsys.rgb_to_hls(red, green, blue)[0] * 360
    assert low <= hue <= high or low <= hue + 360 <= high


def test_a_grey_prompt_has_hardly_colour():
    for red, green, blue in palette("black and white portrait"):
        assert max(red, green, blue) - min(red, green, blue) < 30


def test_the_label_can_be_read():
    """The word's plate is there: dark, in the middle, with white letters."""
    pixels = opened(draw("Bread", "3:2")).convert("RGB")
    width, height = pixels.size
    middle = pixels.crop((width // 3, height // 3, width * 2 // 3, height * 2 // 3))
    colours = {colour for _, colour in middle.getcolors(1_000_000)}
    assert (255, 255, 255) in colours
    assert palette("Bread")[4] in colours
    assert LABEL == "placeholder"


def test_a_transparent_one_has_clear_corners():
    pixels = opened(draw("A logo", transparent=True))
    assert pixels.mode == "RGBA"
    assert [pixels.getpixel(place)[3] for place in ((0, 0), (pixels.width // 2, 40))] == [0, 255]


@pytest.mark.parametrize(
    "prompt", ["x" * 5_000, "日本語の写真", "Crème brûlée", "\ud800 half", "a\nb\tc", "<b>&"]
)
@pytest.mark.parametrize("aspect", ["9:16", "21:9"])
def test_any_prompt_can_be_drawn(prompt, aspect):
    pixels = draw(prompt, aspect)
    assert len(pixels.data) < 60_000


def test_the_model_is_told_what_it_is():
    assert "placeholder drawn locally, not a real image: no image model was asked." in Placeholder().note
