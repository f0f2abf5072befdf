"""A run that explores data: a transcript as wide as its cell, until there is a page to show."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.widget_stage import Stage, event, needs_browser, wrote

pytest_plugins = ["tests.support.widget_stage"]
pytestmark = needs_browser

STARTED = event("run_started", prompt="p", model="demo:", base=None, settings={})
TURN = event("turn_started", step=1)
USAGE = {"input": 10, "cached_read": 0, "cached_write": 0, "output": 5, "reasoning": 0}
FINISHED = event("run_finished", reason="end_turn", usage=USAGE, cost=None, seconds=9, error=None)


def said(text: str) -> dict[str, Any]:
    return event("text_delta", text=text)


def widths(stage: Stage) -> tuple[float, float]:
    frame = stage.widget.locator(".anb-frame").bounding_box()
    left = stage.widget.locator(".anb-left").bounding_box()
    return frame["width"], left["width"]


@pytest.mark.parametrize("width", [1400, 700])
def test_the_transcript_has_the_whole_width_until_there_is_a_page(stage: Stage, width: int) -> None:
    stage.page.set_viewport_size({"width": width, "height": 900})
    stage.play([STARTED, TURN, said("I look at the table.")])
    expect(stage.widget.get_by_text("I look at the table.")).to_be_visible()
    frame, left = widths(stage)
    assert frame - left < 4
    expect(stage.widget.locator(".anb-right")).to_be_hidden()
    stage.more(*wrote("index.html", "<h1>Sales</h1>"))
    expect(stage.widget.locator(".anb-right")).to_be_visible()
    expect(stage.preview.get_by_role("heading", name="Sales")).to_be_visible()
    frame, left = widths(stage)
    assert frame - left < 4 or (width > 680 and left < frame / 2)
    stage.widget.get_by_role("button", name="Hide result").click()
    stage.more(FINISHED)
    expect(stage.widget.locator(".anb-right")).to_be_hidden()
