"""Pages that keep Chromium busy: a check ends all the same, with what it has and a word about the rest."""

import re

import pytest

from tests.kernel.test_chromium import look, profiles, pytestmark  # noqa: F401

PAGES = {
    "while it loads": ("<h1>Hi</h1>\n<script>\nwhile (true) {}\n</script>", "not loaded after 4 s"),
    "in a timer": ("<script>\nsetInterval(() => { while (true) {} })\n</script>", "ended after 10 s"),
    "in memory": (
        "<script>const a = []; for (;;) a.push(new Array(1e6).fill(1))</script>",
        "ended after 10 s|not loaded after 4 s",
    ),
    "in the console": (
        "<script>setInterval(() => { for (let i = 0; i < 2000; i++) console.log('x'.repeat(1000)) })</script>",
        "200 messages",
    ),
    "with one message": ("<h1>Hi</h1><script>console.log('x'.repeat(6e7))</script>", ""),
}


@pytest.mark.parametrize("busy", PAGES)
async def test_a_busy_page_ends(busy, profiles):  # noqa: F811
    page, word = PAGES[busy]
    check = await look({"index.html": f"<!doctype html>{page}"})
    assert re.search(word, " ".join(check.notes))
    assert check.notes
    assert profiles() == []
