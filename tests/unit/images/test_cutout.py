"""Cutting out by filling from the border, measured against the masks the images were drawn with."""

import random
import sys

import PIL.Image
import PIL.ImageDraw
import pytest

from agent_nb.core.errors import ToolError
from agent_nb.core.messages import Image
from agent_nb.images.cutout import BORDER, LIMITS, REMBG, local_cutter, without_border
from agent_nb.images.maker import Charge
from tests.support.drawings import as_image, encoded, on_ground, opened, overlap, png

SIZE = (240, 180)


def ellipse(pencil, width, height):
    pencil.ellipse((width * 0.25, height * 0.2, width * 0.75, height * 0.85), fill=255)


def star(pencil, width, height):
    points = [
        (50, 10),
        (60, 40),
        (90, 40),
        (65, 60),
        (75, 90),
        (50, 70),
        (25, 90),
        (35, 60),
        (10, 40),
        (40, 40),
    ]
    pencil.polygon([(x * width / 100, y * height / 100) for x, y in points], fill=255)


def standing(pencil, width, height):
    pencil.rectangle((width * 0.3, height * 0.3, width * 0.7, height), fill=255)


def plain(colour):
    return PIL.Image.new("RGB", SIZE, colour)


def shaded():
    shade = PIL.Image.linear_gradient("L").resize(SIZE).point(lambda value: 150 + value // 3)
    return PIL.Image.merge("RGB", [shade] * 3)


def noisy(pixels, strength=12):
    chance = random.Random(1)
    data = bytes(max(0, min(255, value + chance.randint(-strength, strength))) for value in pixels.tobytes())
    return PIL.Image.frombytes("RGB", pixels.size, data)


def through_jpeg(pixels):
    return opened(encoded(pixels, "JPEG", quality=75)).convert("RGB")


SET = {
    "white": (plain((250, 250, 250)), ellipse, None, 0.97),
    "green": (plain((20, 180, 90)), star, None, 0.96),
    "shaded": (shaded(), ellipse, None, 0.97),
    "noise": (plain((250, 250, 250)), star, noisy, 0.95),
    "jpeg": (plain((20, 180, 90)), ellipse, through_jpeg, 0.92),
    "standing": (plain((235, 235, 240)), standing, None, 0.97),
}
"""The ground, the shape, what happens to the image, and the overlap that is wanted."""


@pytest.mark.parametrize("name", SET)
def test_the_cut_overlaps_the_mask(name):
    ground, shape, after, wanted = SET[name]
    pixels, mask = on_ground(ground, shape)
    cut = opened(without_border(as_image(after(pixels) if after else pixels)))
    assert overlap(cut.getchannel("A"), mask) >= wanted


def test_the_whole_of_a_plain_image_is_kept():
    with pytest.raises(ToolError, match=r"No plain background was found: .* removed 100% of the image"):
        without_border(Image(png()))


def test_a_scene_is_left_as_it_is():
    chance = random.Random(2)
    scene = PIL.Image.frombytes("RGB", (120, 90), bytes(chance.randrange(256) for _ in range(120 * 90 * 3)))
    with pytest.raises(ToolError, match="The border of the image is not a plain background"):
        without_border(as_image(scene))


def test_what_is_transparent_stays_so():
    pixels, mask = on_ground(plain("white"), ellipse)
    pixels.putalpha(mask)
    cut = opened(without_border(as_image(pixels)))
    assert cut.getpixel((0, 0))[3] == 0
    assert overlap(cut.getchannel("A"), mask) > 0.97


def test_holes_keep_their_background():
    pixels, _ = on_ground(plain("white"), ellipse)
    PIL.ImageDraw.Draw(pixels).ellipse((105, 80, 135, 110), fill="white")
    cut = opened(without_border(as_image(pixels)))
    assert cut.getpixel((120, 95))[3] == 255
    assert "holes inside the subject keep their background" in LIMITS


async def test_the_result_says_its_limits():
    pixels, _ = on_ground(plain("white"), ellipse)
    assert (await BORDER.cut_out(as_image(pixels), Charge()))[1] == LIMITS


async def test_rembg_is_used_where_installed(tmp_path, monkeypatch):
    """A package of that name with the one function we call."""
    assert local_cutter() is BORDER
    (tmp_path / "rembg.py").write_text("def remove(data):\n    return data\n")
    monkeypatch.syspath_prepend(tmp_path)
    cutter = local_cutter()
    assert cutter is REMBG
    cutout, note = await cutter.cut_out(Image(png()), Charge())
    assert (cutout.data, note) == (png(), "Cut out by rembg.")
    del sys.modules["rembg"]
