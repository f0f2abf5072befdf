"""Keys typed in the widget, in a real JupyterLab: those it shows are its own, all others are the notebook's."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import DEMO, LOAD, Lab, run_notebook

CELLS = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
SOURCES = """() => [...window.jupyterapp.shell.currentWidget.context.model.sharedModel.cells]
    .map(({ cell_type, source }) => cell_type === "code" ? source : cell_type)"""
SETTLED = (
    "() => window.jupyterapp.shell.currentWidget.content.activeCell.node.contains(document.activeElement)"
)


@pytest.fixture(scope="module")
def hero(lab_pages, lab: Lab, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A notebook with a finished run in its third cell. Each test goes on where the one before left it."""
    with lab_pages.lend(request) as page:
        run_notebook(
            page, lab, "keys", LOAD, DEMO, "%%agent hero --pace 0\nA landing page for a bakery in Lyon"
        )
        expect(page.locator(".anb-status .phase").first).to_contain_text("done")
        yield page


def press_for_a_cell(page: Page, key: str) -> None:
    """Presses a key of the command mode that inserts a cell."""
    count = page.evaluate(CELLS)
    page.keyboard.press(key)
    page.wait_for_function(f"() => ({CELLS})() === {count + 1}")
    page.wait_for_function(SETTLED)  # JupyterLab moves the focus to the new cell a moment later


def test_the_shortcuts_of_the_notebook_work_in_the_widget(hero: Page):
    hero.get_by_role("tab", name="Code").click()
    cells = hero.evaluate(CELLS)
    collapsed = "() => window.jupyterapp.shell.leftCollapsed"
    before = hero.evaluate(collapsed)
    hero.keyboard.press("Control+b")
    hero.wait_for_function(f"() => ({collapsed})() === {str(not before).lower()}")
    field = hero.get_by_role("textbox", name="Ask a question or for a change")
    hero.keyboard.press("/")
    expect(field).to_be_focused()
    hero.keyboard.type("bdd zc")
    expect(field).to_have_value("bdd zc")
    hero.keyboard.press("Control+s")
    hero.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    assert hero.evaluate(CELLS) == cells
    field.fill("")


def test_undo_and_a_line_break_are_those_of_the_field(hero: Page):
    field = hero.get_by_role("textbox", name="Ask a question or for a change")
    field.fill("")
    expect(field).to_be_focused()
    hero.keyboard.insert_text("darker")  # one step of undo, however slow the machine is
    hero.keyboard.press("Control+z")
    expect(field).to_have_value("")
    hero.keyboard.press("Control+Shift+z")
    hero.keyboard.press("Shift+Enter")
    expect(field).to_have_value("darker\n")


def test_escape_and_a_click_beside_it_lead_back_to_the_cell(hero: Page):
    field = hero.get_by_role("textbox", name="Ask a question or for a change")
    field.click()
    hero.keyboard.press("Escape")
    press_for_a_cell(hero, "b")
    hero.get_by_role("tab", name="Code").click()
    hero.locator(".jp-Cell:has([data-anb-run]) .jp-InputPrompt").click()
    press_for_a_cell(hero, "b")
    hero.get_by_role("tab", name="Code").click()
    hero.keyboard.press("Escape")
    press_for_a_cell(hero, "a")


def test_ctrl_s_and_escape_leave_the_preview(hero: Page):
    hero.get_by_role("tab", name="Preview").click()
    page = hero.frame_locator(".anb-page iframe >> nth=-1").frame_locator("iframe")
    page.locator("h1").first.click()
    hero.keyboard.press("Control+s")
    hero.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    hero.keyboard.press("Escape")
    hero.wait_for_function("() => document.activeElement.matches('.jp-Cell')")
    press_for_a_cell(hero, "b")


def test_slash_on_the_cell_leads_to_its_field_and_enter_to_that_of_the_next_run(hero: Page):
    field = hero.get_by_role("textbox", name="Ask a question or for a change")
    prompt = hero.locator(".jp-Cell:has([data-anb-run]) .jp-InputPrompt")
    sources = hero.evaluate(SOURCES)
    field.fill("")
    hero.get_by_role("button", name="Fold this run to one line").click()
    expect(field).to_be_hidden()
    prompt.click()
    hero.keyboard.press("/")
    expect(field).to_be_focused()
    page = hero.frame_locator(".anb-page iframe >> nth=-1").frame_locator("iframe")
    page.locator("h1").first.click()
    hero.keyboard.press("Escape")
    hero.wait_for_function("() => document.activeElement.matches('.jp-Cell')")
    hero.keyboard.type("/make it blue\n")
    hero.keyboard.type("call it Petit Four")
    expect(field).to_have_count(2)
    expect(field.nth(1)).to_be_focused()
    expect(field.nth(1)).to_have_value("call it Petit Four")
    expect(field.nth(0)).to_have_value("")
    composers = hero.locator(".anb-compose")
    hero.mouse.move(0, 0)
    expect(composers.nth(0)).to_have_css("opacity", "0")
    expect(composers.nth(1)).to_have_css("opacity", "1")
    at = 1 + next(number for number, source in enumerate(sources) if "agent hero" in source)
    sources.insert(at, "%%agent hero_2 --from hero\nmake it blue")
    assert hero.evaluate(SOURCES) == sources
