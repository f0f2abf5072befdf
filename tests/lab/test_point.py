"""From an element of the preview to the next run, in a real JupyterLab."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.lab import DEMO, LOAD, SOURCES, run_notebook, save, wait_for_kernel
from tests.support.waiting import wait_until

CELL = '%%agent hero_2 --from hero\n{{hero.element("h1")}}: larger'


@pytest.mark.wide
def test_element_is_pointed_at_and_changed_after_a_reload(page, lab):
    run_notebook(page, lab, "point", LOAD, DEMO, "%%agent hero\nA landing page for a bakery in Lyon")
    expect(page.locator(".anb-status .phase").first).to_contain_text("done")
    page.get_by_role("button", name="Point at an element").click()
    expect(page.get_by_role("application", name="Point at an element")).to_be_focused()
    heading = page.frame_locator(".anb-page iframe").first.frame_locator("iframe").locator("h1")
    box = heading.bounding_box()
    page.mouse.move(box["x"] + 9, box["y"] + 9)
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    expect(page.locator(".anb-outline")).to_contain_text("h1 ")
    page.mouse.click(box["x"] + 10, box["y"] + 10)
    page.keyboard.type("larger")
    chip = page.locator(".anb-chips button")
    expect(chip).to_have_text("the heading")
    expect(chip).to_have_attribute("title", re.compile("turn 1: create index.html", re.IGNORECASE))
    note = page.get_by_role("textbox", name="What should change")
    expect(note).to_have_value("larger")
    assert page.evaluate(SOURCES)[0] == LOAD
    save(page)
    page.reload()
    expect(note).to_have_value("larger")
    expect(page.locator(".anb-status .phase").first).to_contain_text("done")
    height = "node => node.getBoundingClientRect().height"
    before = heading.evaluate(height)
    wait_for_kernel(page)
    note.press("Enter")
    page.wait_for_function(f"() => ({SOURCES})().length === 4")
    assert page.evaluate(SOURCES)[3] == CELL
    second = page.locator(".jp-Cell .anb").nth(1)
    expect(second.locator(".anb-status .phase")).to_contain_text("done")
    second.scroll_into_view_if_needed()  # a page out of sight is not drawn
    changed = second.frame_locator(".anb-page iframe").frame_locator("iframe").locator("h1")
    wait_until(page, lambda: changed.evaluate(height) > before)
