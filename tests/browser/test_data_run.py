"""A run that explores data: a transcript as wide as its cell, until there is a page to show."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.widget_stage import Stage, ended, event, returned, wrote

STARTED = event("run_started", prompt="p", model="demo:", base=None, settings={})
TURN = event("turn_started", step=1)
FINISHED = ended()


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


def table(text: str) -> str:
    return f"<table><tr><td>{text}</td></tr></table>"


def said(text: str) -> dict[str, Any]:
    return event("text_delta", text=text)


def widths(stage: Stage) -> tuple[float, float]:
    frame = stage.widget.locator(".anb-frame").bounding_box()
    left = stage.widget.locator(".anb-left").bounding_box()
    return frame["width"], left["width"]


@pytest.mark.parametrize("width", [pytest.param(1400, marks=pytest.mark.wide), 700])
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


def test_a_finished_run_without_files_can_be_exported_and_fills_the_screen(stage: Stage) -> None:
    stage.page.set_viewport_size({"width": 700, "height": 900})
    stage.play([STARTED, TURN, said("North earns most."), FINISHED])
    stage.widget.get_by_role("button", name="Actions").click()
    items = stage.widget.get_by_role("menuitem").all_inner_texts()
    assert [" ".join(item.split()) for item in items] == ["Export replay %agent export hero"]
    stage.page.keyboard.press("Escape")
    stage.page.keyboard.press("f")
    stage.page.wait_for_function("() => document.fullscreenElement !== null")
    expect(stage.widget.get_by_role("textbox", name="Ask a question or for a change")).to_be_in_viewport()
    assert stage.widget.locator(".anb-frame").bounding_box()["height"] == 900


def displayed(*outputs: dict[str, Any]) -> list[dict[str, Any]]:
    """A call that ran code and displayed this."""
    return [
        event("tool_started", call_id="c1", name="run_python", title="run Python"),
        event("tool_ready", call_id="c1", title="run Python", args={"code": "show()"}),
        returned("c1", *outputs),
    ]


def test_the_answer_comes_first_with_its_last_figure_and_table(stage: Stage) -> None:
    figure = {"image/png": PIXEL, "text/plain": "<Figure size 1x1>"}
    outputs = ({"text/html": table("early")}, figure, {"text/plain": "print"}, {"text/html": table("last")})
    stage.play([STARTED, TURN, *displayed(*outputs), said("North earns most."), FINISHED])
    answer, how = stage.widget.locator(".anb-final"), stage.widget.get_by_role("button", name="How: 1 step")
    expect(answer.locator(".anb-say")).to_have_text("North earns most.")
    expect(answer.locator("img")).to_have_count(1)
    expect(answer.locator("table")).to_have_text("last")
    transcript = stage.widget.get_by_role("region", name="Transcript")
    expect(transcript).to_be_hidden()
    field = stage.widget.get_by_role("textbox", name="Ask a question or for a change")
    tops = [part.bounding_box()["y"] for part in (answer, field, how)]
    assert tops == sorted(tops)
    how.click()
    expect(transcript.locator("table")).to_have_text(["early", "last"])
    expect(transcript.locator(".anb-say")).to_have_count(0)
    expect(transcript.locator(".anb-source pre")).to_have_text("show()")


def test_html_that_needs_a_frame_has_its_own_height(stage: Stage) -> None:
    rows = "".join(f"<tr><td id=c{number}>{number}</td></tr>" for number in range(30))
    styled = f"<style>#c1 {{ background: red }}</style><table>{rows}</table><b onclick='document.title = 1'>press</b>"
    stage.play([STARTED, TURN, *displayed({"text/html": styled}), FINISHED])
    frame = stage.widget.locator("iframe.anb-html")
    content = stage.widget.frame_locator("iframe.anb-html")
    expect(content.locator("#c1")).to_have_css("background-color", "rgb(255, 0, 0)")
    content.get_by_text("press").click()
    assert content.locator("body").evaluate("() => document.title") == ""
    body = content.locator("body").evaluate("body => body.scrollHeight")
    stage.page.wait_for_function(
        """height => document.querySelector('[data-anb-run]').shadowRoot.querySelector('.anb-html')
            .offsetHeight === height""",
        arg=body + 18,
    )
    assert frame.bounding_box()["height"] > 600


def test_interactive_html_runs_when_it_is_asked_for_and_reaches_nothing(stage: Stage) -> None:
    script = f"""<p style="height: 700px">chart</p><script>document.body.append('drawn at ' + origin);
        try {{ parent.parent.document }} catch {{ document.body.append(' alone') }}</script>
        <button onclick="location = '{stage.server.address}/left?secret'">Go</button>"""
    loads = "<script src='https://cdn.example/plot.js'></script>"
    stage.play([STARTED, TURN, *displayed({"text/html": script}, {"text/html": loads}), FINISHED])
    expect(
        stage.widget.get_by_text("Interactive output: run the code in a cell of its own to see it.")
    ).to_be_visible()
    assert stage.widget.locator("iframe.anb-html").count() == 0
    stage.widget.get_by_role("button", name="Show it").click()
    frame = stage.widget.locator("iframe.anb-html")
    page = frame.content_frame.frame_locator("iframe")
    expect(page.get_by_text("drawn at null alone")).to_be_visible()
    expect(frame).to_have_attribute("style", re.compile(r"height: 7\d\dpx"))
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_text("drawn at null alone")).to_have_count(0)
    assert not [path for path in stage.server.asked if "plot.js" in path or "left" in path]
