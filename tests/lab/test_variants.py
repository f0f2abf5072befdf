"""Variants in a real JupyterLab: a screenshot in, one of three pages picked, and what a reload keeps."""

import pytest
from PIL import Image as Picture
from playwright.sync_api import Page, expect

from tests.support.lab import LOAD, SOURCES, run_notebook, save, wait_for_kernel

CELL = "%%agent hero -m demo: -n 3 -i shot.png --pace 0\nA landing page for a bakery in Lyon"
NEXT = "%%agent hero_2 -m demo: --from hero.2\nMake it green"
PICKED = "hero.variant, hero.files is hero.variants[1].files, hero_2.messages[: len(hero.messages)] == hero.messages"


@pytest.fixture(scope="module")
def page(lab_pages, lab, request):
    """One page for all: each test goes on where the one before left it."""
    Picture.new("RGB", (640, 400), "orange").save(lab.root / "shot.png")
    with lab_pages.lend(request) as page:
        page.set_viewport_size({"width": 1400, "height": 1000})
        run_notebook(page, lab, "variants", LOAD, CELL)
        yield page


@pytest.fixture(scope="module")
def picked(page):
    """The same page once the second variant is picked, whichever tests have been selected."""
    page.get_by_title("Side by side").click()
    expect(page.locator(".anb-status .phase").first).to_contain_text("3 of 3 done")
    page.get_by_role("button", name="Pick").nth(1).click()
    expect(page.locator(".anb-foot .ready")).to_contain_text("Variant 2 of 3, as picked")
    return page


def run_cell(page: Page, code: str) -> None:
    """Adds a cell at the end and runs it."""
    page.evaluate(
        """async (code) => {
            const panel = window.jupyterapp.shell.currentWidget;
            const notebook = panel.content;
            notebook.model.sharedModel.addCell({ cell_type: "code", source: code });
            notebook.activeCellIndex = notebook.widgets.length - 1;
            await window.jupyterapp.commands.execute("notebook:run-cell");
        }""",
        code,
    )


def test_the_variables_follow_the_pick_and_the_next_cell_names_it(picked):
    picked.get_by_role("textbox", name="Ask a question or for a change").fill("Make it green")
    picked.keyboard.press("Enter")
    expect(picked.locator(".anb-status .phase").nth(1)).to_contain_text("done")
    assert picked.evaluate(SOURCES)[2] == NEXT
    run_cell(picked, PICKED)
    expect(picked.get_by_text("(1, True, True)")).to_be_visible()


@pytest.mark.wide
def test_a_reload_keeps_the_pick(picked):
    wait_for_kernel(picked)
    save(picked)
    picked.reload()
    wait_for_kernel(picked)
    expect(picked.locator(".anb-foot .ready").first).to_contain_text("Variant 2 of 3, as picked")
