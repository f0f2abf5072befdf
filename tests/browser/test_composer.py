"""Asking for a change below a run: by keyboard, and as a cell that the person has seen."""

from typing import Any

from playwright.sync_api import expect

from agent_nb.run.protocol import Repeat
from tests.support.widget_stage import (
    Stage,
    event,
    findings,
    focused,
    needs_axe,
    needs_browser,
    wrote,
)

pytestmark = needs_browser
PAGE = "<!doctype html>\n<h1>Hello</h1>\n<p>Here.</p>"

CLIPBOARD = """() => {
    window.copied = [];
    Object.defineProperty(navigator, 'clipboard', {
        value: { writeText: async (text) => { window.copied.push(text) } }
    });
}"""


def started(stage: Stage) -> Any:
    """A run with a page, and the field below it."""
    stage.play([event("turn_started", step=1), *wrote("index.html", PAGE)])
    stage.page.evaluate(CLIPBOARD)
    return stage.widget.get_by_role("textbox", name="Ask a question or for a change")


@needs_axe
def test_change_becomes_a_cell_by_keyboard(stage: Stage):
    field = started(stage)
    field.focus()
    stage.page.keyboard.press("Enter")
    assert focused(stage) == "Ask a question or for a change"
    stage.page.keyboard.type("Larger {{df}} text, f")
    stage.page.keyboard.press("Shift+Enter")
    stage.page.keyboard.type("and warmer.")
    stage.page.keyboard.press("Enter")
    assert focused(stage) == "Copy: Insert below"
    cell = "%%agent hero_2 --from hero\nLarger {{df}} text, f\nand warmer."
    insert = stage.widget.get_by_role("button", name="Insert below", description=cell.replace("\n", " "))
    insert.wait_for()
    assert stage.widget.locator(".anb-next code").inner_text() == cell
    assert findings(stage) == []
    stage.page.keyboard.press("Escape")
    assert focused(stage) == "Ask a question or for a change"
    stage.page.keyboard.press("Enter")
    stage.page.keyboard.press("Enter")
    stage.widget.locator(".anb-toast", has_text="Copied: paste it into a cell").wait_for()
    assert stage.page.evaluate("window.copied") == [cell]


@needs_axe
def test_the_options_of_the_run_are_repeated_and_can_be_left_out(stage: Stage):
    repeats = (Repeat(text="-t kernel", label="kernel"), Repeat(text="--budget 0.2", label="$0.20"))
    stage.play([event("turn_started", step=1), *wrote("index.html", PAGE)], repeats=repeats)
    field = stage.widget.get_by_role("textbox", name="Ask a question or for a change")
    field.fill("Why?")
    field.press("Enter")
    cell = stage.widget.locator(".anb-next code")
    expect(cell).to_have_text("%%agent hero_2 --from hero -t kernel --budget 0.2\nWhy?")
    options = stage.widget.get_by_role("list", name="Options of the next cell")
    assert options.get_by_role("listitem").all_inner_texts() == ["kernel", "$0.20"]
    assert findings(stage) == []
    options.get_by_role("button", name="Leave out -t kernel").click()
    assert focused(stage) == "Ask a question or for a change"
    field.press("Enter")
    expect(cell).to_have_text("%%agent hero_2 --from hero --budget 0.2\nWhy?")


def test_what_is_typed_after_the_cell_was_shown_is_shown_before_it_is_inserted(stage: Stage):
    field = started(stage)
    field.fill("Larger")
    stage.widget.get_by_role("button", name="Next cell").click()
    insert = stage.widget.get_by_role("button", name="Insert below")
    insert.wait_for()
    field.press_sequentially(" and blue")
    assert insert.count() == 0
    field.fill("Larger\u202e")
    field.press("Enter")
    stage.widget.locator(".anb-toast", has_text="hidden characters").wait_for()
    assert insert.count() == 0


def test_export_is_the_cell_that_the_menu_shows(stage: Stage):
    usage = {"input": 1, "cached_read": 0, "cached_write": 0, "output": 1, "reasoning": 0}
    end = event("run_finished", reason="end_turn", usage=usage, cost=None, seconds=1.0, error=None)
    stage.play([event("turn_started", step=1), *wrote("index.html", PAGE), end])
    stage.page.evaluate(CLIPBOARD)
    stage.widget.get_by_role("button", name="Actions").click()
    stage.widget.get_by_role("menuitem", name="Export replay %agent export hero").click()
    stage.widget.locator(".anb-toast", has_text="Copied: paste it into a cell").wait_for()
    assert stage.page.evaluate("window.copied") == ["%agent export hero"]
