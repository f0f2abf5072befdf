"""Markdown from a model, made safe to show."""

import re

import pytest

from agent_nb.render.safe_markdown import to_html


@pytest.mark.parametrize(
    ("markdown", "end"),
    [
        ("> " * 3000 + "x", "> x</p>"),
        ("- " * 3000 + "x", "- x</li>"),
        ("\n".join(f"{'  ' * level}- level {level}" for level in range(60)), "- level 59</li>"),
    ],
)
def test_what_is_nested_too_deep_is_shown_as_text(markdown, end):
    shown = to_html(f"{markdown}\n\nAn *end*.")
    assert len(re.findall("<(?:blockquote|[ou]l)>", shown)) <= 20
    assert end in shown.replace("&gt;", ">")
    assert shown.endswith("<p>An <em>end</em>.</p>\n")
