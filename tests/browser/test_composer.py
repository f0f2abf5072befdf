"""The field below a run, where cells can only be copied."""

from typing import Any

import pytest
from playwright.sync_api import expect

from agent_nb.run.protocol import Repeat
from tests.support.widget_stage import CLIPBOARD, Stage, event, findings, focused, wrote

PAGE = "<!doctype html>\n<h1>Hello</h1>\n<p>Here.</p>"


def started(stage: Stage) -> Any:
    """A run with a page, and the field below it."""
    stage.play([event("turn_started", step=1), *wrote("index.html", PAGE)])
    stage.page.evaluate(CLIPBOARD)
    return stage.widget.get_by_role("textbox", name="Ask a question or for a change")


def copied(stage: Stage) -> list[str]:
    """The cells that were copied, after the toast says so."""
    stage.widget.locator(".anb-toast", has_text="Copied: paste it into a cell").wait_for()
    cells: list[str] = stage.page.evaluate("window.copied")
    return cells


def test_enter_copies_the_cell_where_none_can_be_inserted(stage: Stage):
    field = started(stage)
    assert "(/)" not in field.get_attribute("placeholder")  # JupyterLab's extension hears the key
    field.focus()
    stage.page.keyboard.press("Enter")
    assert focused(stage) == "Ask a question or for a change"
    height = field.bounding_box()["height"]
    stage.page.keyboard.type("Larger {{df}} text, f")
    stage.page.keyboard.press("Shift+Enter")
    stage.page.keyboard.type("and warmer.")
    assert field.bounding_box()["height"] > height
    assert findings(stage) == []
    stage.page.keyboard.press("Enter")
    assert copied(stage) == ["%%agent hero_2 --from hero\nLarger {{df}} text, f\nand warmer."]
    assert stage.widget.get_by_role("button", name="Next cell").count() == 0


def test_enter_that_ends_a_composition_sends_nothing(stage: Stage):
    field = started(stage)
    field.focus()
    session = stage.page.context.new_cdp_session(stage.page)
    session.send("Input.imeSetComposition", {"text": "大き", "selectionStart": 2, "selectionEnd": 2})
    enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
    session.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **enter})
    assert stage.page.evaluate("window.copied") == []
    session.send("Input.insertText", {"text": "大きく"})
    expect(field).to_have_value("大きく")
    stage.page.keyboard.press("Enter")
    assert copied(stage) == ["%%agent hero_2 --from hero\n大きく"]


@pytest.mark.wide
def test_the_options_of_the_run_are_repeated_and_can_be_left_out(stage: Stage):
    options = {"-t kernel": ("kernel", True), "--budget 0.2": ("$0.20", True), "--data all": ("all", False)}
    repeats = tuple(Repeat(text=text, label=label, ticked=on) for text, (label, on) in options.items())
    stage.play([event("turn_started", step=1), *wrote("index.html", PAGE)], repeats=repeats)
    stage.page.evaluate(CLIPBOARD)
    field = stage.widget.get_by_role("textbox", name="Ask a question or for a change")
    field.fill("Why?")
    field.press("Enter")
    assert copied(stage) == ["%%agent hero_2 --from hero -t kernel --budget 0.2\nWhy?"]
    options = stage.widget.get_by_role("list", name="Options for the next cell")
    assert options.get_by_role("listitem").all_inner_texts() == ["kernel", "$0.20", "all"]
    assert findings(stage) == []
    options.get_by_role("button", name="Leave out -t kernel").click()
    assert focused(stage) == "Ask a question or for a change"
    options.get_by_role("button", name="Add --data all").click()
    expect(options.get_by_role("button", name="Add -t kernel")).to_be_visible()
    assert findings(stage) == []
    field.press("Enter")
    stage.page.wait_for_function("window.copied.length === 2")
    assert copied(stage)[1] == "%%agent hero_2 --from hero --budget 0.2 --data all\nWhy?"
