"""What a conversation holds: pages in texts, messages in dicts."""

import pytest

from agent_nb._base.text import fenced
from agent_nb.engine.history import page_in, to_message
from agent_nb.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("Here:\n```html\n<p>Hi</p>\n```\nBye", "<p>Hi</p>"),
        ("cut off:\n```html\n<p>Hi", "<p>Hi"),
        ("<!DOCTYPE html><html><p>Hi</p></html> and so on", "<!DOCTYPE html><html><p>Hi</p></html>"),
        ("no page, only `<p>` in words", None),
        ("```html\nnothing\n```", None),
    ],
)
def test_a_page_is_found_in_a_text(text, page):
    assert page_in(text) == page


def test_a_fence_is_longer_than_those_inside():
    assert fenced("a\n```\nb").startswith("````\n")


@pytest.mark.parametrize("bad", [{"content": "x"}, {"role": "robot", "content": "x"}, "hello"])
def test_a_message_needs_a_known_role(bad):
    with pytest.raises(ConfigError, match="role"):
        to_message(bad)
