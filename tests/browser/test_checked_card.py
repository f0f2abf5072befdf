"""What a person sees of a look at the page: its images, small and large, and what was found."""

import pytest

from agent_nb._base.wire import to_wire
from agent_nb.pages.page_check import CheckRequest, outputs_of, read_report, summary_of
from tests.support.page_viewer import plain_png
from tests.support.widget_stage import Stage, event, findings, focused, returned, wrote

HTML = "<!doctype html><title>t</title><h1>Page</h1>"
REPORT = {
    "screenshots": [
        {"width": width, "height": height, "png": plain_png(width, height)}
        for width, height in ((390, 1800), (1280, 900))
    ],
    "console": [
        {"level": "error", "text": "boom", "line": 3, "file": "index.html"},
        {"level": "info", "text": "began"},
    ],
    "blocked": [{"address": "https://a.example/x.png", "reason": "the preview does not allow it"}],
    "overflow": {"pixels": 41, "selector": "table"},
    "findings": [
        {"rule": "label", "impact": "critical", "summary": "Elements must have labels", "targets": ["input"]}
    ],
    "notes": ["The page had not settled after 3 s."],
}


def looked(report: dict[str, object]) -> list[dict[str, object]]:
    """The events of a look at the page."""
    check = read_report(report, CheckRequest(files={"index.html": HTML}, path="index.html"), "your browser")
    outputs = [to_wire(output) for output in outputs_of(check)]
    return [
        event("tool_started", call_id="look", name="check_preview", title="look at the page"),
        event("tool_running", call_id="look", name="check_preview", title="look at the page"),
        returned("look", *outputs, summary=summary_of(check)),
    ]


def test_images_open_large_and_findings_unfold(stage: Stage):
    stage.play([*wrote("index.html", HTML), *looked(REPORT)])
    small = stage.widget.locator(".anb-thumb img")
    assert [image.get_attribute("alt") for image in small.all()] == [
        "390 px wide, 1800 px tall",
        "1280 px wide, 900 px tall",
    ]
    stage.widget.get_by_text("console and problems (6)").click()
    lines = stage.widget.locator(".anb-detail .anb-con li")
    assert [" ".join(line.inner_text().split()) for line in lines.all()] == [
        "boom index.html line 3",
        "began",
        "Not loaded: https://a.example/x.png (the preview does not allow it)",
        "41 px too wide for a phone: table",
        "Elements must have labels: input",
        "The page had not settled after 3 s.",
    ]
    assert findings(stage) == []
    stage.page.keyboard.press("Shift+Tab")
    stage.page.keyboard.press("Enter")
    large = stage.widget.locator("dialog img")
    assert large.bounding_box()["width"] > 600
    stage.page.keyboard.press("Escape")
    large.wait_for(state="detached")
    assert focused(stage) == ""  # the button is named by its image
    small.first.click()
    large.click()
    large.wait_for(state="detached")


@pytest.mark.wide
def test_a_good_page_has_nothing_to_unfold(stage: Stage):
    stage.play([*wrote("index.html", HTML), *looked({"screenshots": REPORT["screenshots"]})])
    stage.widget.get_by_text("no problems", exact=True).wait_for()
    assert stage.widget.get_by_text("console and problems").count() == 0
