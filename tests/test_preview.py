"""Pictures in the saved page: found wherever a page names them, and small enough to be saved."""

import base64
import re

import PIL.Image
import pytest

from agent_nb.files import Files
from agent_nb.render.preview import TooLargeError, assembled
from tests.drawings import encoded, opened, png

DATA = "data:image/png;base64," + base64.b64encode(png()).decode()


def page_of(page: str, **files) -> str:
    return assembled(Files({"index.html": page, "a.png": png(), **files}), "index.html", 1_000_000)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<b style=\"background:url('a.png')\">", f"<b style=\"background:url('{DATA}')\">"),
        ("<b style='background:url(\"a.png\")'>", f"<b style='background:url(\"{DATA}\")'>"),
        ('<b style="background:url(a.png)">', f'<b style="background:url({DATA})">'),
        ("<style>b{background:url( 'a.png' )}</style>", f"<style>b{{background:url('{DATA}')}}</style>"),
        ("<image href=a.png>", f'<image href="{DATA}">'),
        ("<video poster='a.png'>", f'<video poster="{DATA}">'),
    ],
)
def test_an_address_keeps_its_quotes(before, after):
    assert page_of(before) == after


def test_every_entry_of_a_source_set_is_resolved():
    before = '<img srcset="a.png 1x, https://x.example/b.png 2x, a.png">'
    assert page_of(before) == f'<img srcset="{DATA} 1x, https://x.example/b.png 2x, {DATA}">'


def test_a_drawing_without_quotes_stays_whole():
    inside = re.search(
        r"url\((.*)\)", page_of("<b style='background:url(d.svg)'>", **{"d.svg": "<svg> (x) </svg>"})
    )
    assert inside is not None
    assert not re.search(r"[()\s'\"]", inside[1])


def test_large_pictures_are_saved_small():
    noise = encoded(PIL.Image.effect_noise((1536, 1024), 80).convert("RGB"))
    names = [f"{number}.png" for number in range(6)]
    page = "".join(f'<img src="{name}">' for name in names)
    assert len(noise) * 6 > 5_000_000
    whole = page_of(page, **dict.fromkeys(names, noise))
    found = re.findall(r'src="data:image/jpeg;base64,([^"]+)"', whole)
    assert len(found) == 6
    width, height = opened(base64.b64decode(found[0])).size
    assert width * 2 == height * 3
    assert len(whole) < 600_000


def test_small_pictures_are_saved_as_they_are():
    assert DATA in page_of("<img src=a.png>")


def test_what_is_no_picture_is_still_too_large():
    with pytest.raises(TooLargeError):
        page_of("<img src=b.png><video src=c.mp4>", **{"b.png": b"x" * 2_000_000, "c.mp4": b"y" * 10})
