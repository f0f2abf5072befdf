"""Pictures in the saved page: found wherever a page names them, and small enough to be saved."""

import base64
import math
import re
import time
from collections.abc import Callable

import PIL.Image
import pytest

from agent_nb.files import Files
from agent_nb.pages.preview import TooLargeError, assembled
from tests.support.drawings import encoded, opened, png

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


def test_large_images_are_saved_small():
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


def test_what_is_no_image_is_still_too_large():
    with pytest.raises(TooLargeError):
        page_of("<img src=b.png><video src=c.mp4>", **{"b.png": b"x" * 2_000_000, "c.mp4": b"y" * 10})


def growth_exponent(work: Callable[[int], object]) -> float:
    """How the time grows with the size: 1 is linear. Ends early where it is plainly more."""
    seconds: dict[int, float] = {}
    for size in (2**power for power in range(8, 17)):
        seconds[size] = min(_seconds(work, size) for _ in range(3))
        if seconds[size] > 0.03:
            break
    large = max(seconds)
    small = max(min(seconds), large // 16)
    return math.log(seconds[large] / seconds[small]) / math.log(large / small)


def _seconds(work: Callable[[int], object], size: int) -> float:
    began = time.process_time()
    work(size)
    return max(time.process_time() - began, 1e-6)


@pytest.mark.parametrize(
    ("name", "begin", "again"),
    [
        ("index.html", "url(", " "),
        ("index.html", "url(a", " "),
        ("index.html", "url('a'", " "),
        ("index.html", "", "url(a "),
        ("index.html", "", 'url("'),
        ("index.html", "", "<img "),
        ("index.html", "", "<img src='a.png' "),
        ("index.html", "<img src=", " "),
        ("a.css", "", "@import  '"),
        ("a.js", "import", " "),
        ("a.js", "", "import( "),
    ],
)
def test_a_hostile_page_takes_linear_time(name, begin, again):
    def work(size: int) -> None:
        links = "<link href=a.css><script src=a.js></script>"
        files = Files({"index.html": links, "b.txt": "", name: begin + again * size})
        assembled(files, "index.html", 100_000_000)

    assert growth_exponent(work) < 1.5


@pytest.mark.parametrize(
    "page", ["<b style='background:url(x url(a.png)'>", "url(  url( 'a.png' )", "<img src=x\n<b>url(a.png)"]
)
def test_an_address_behind_an_unfinished_one_is_found(page):
    assert DATA in page_of(page)


def test_a_tag_that_never_ends_is_left_alone():
    assert page_of("<img src=a.png") == "<img src=a.png"
