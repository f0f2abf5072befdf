"""A notebook with many saved runs: only pages near the screen are loaded, and nothing moves meanwhile."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Locator, Page, expect

from agent_nb.render import bundle
from tests.support.lab import LOAD, PATIENCE, Lab, open_notebook, write_notebook
from tests.support.shells import quick_run

pytestmark = pytest.mark.wide
RUNS = 30
HEIGHT = "() => document.querySelector('.jp-WindowedPanel-outer').scrollHeight"


def _scroll_to(stage: Locator) -> None:
    """JupyterLab only guesses the height of a cell that it has not drawn yet."""
    for _ in range(10):
        stage.scroll_into_view_if_needed()
        stage.page.wait_for_timeout(100)


def test_pages_far_from_the_screen_are_let_go(page: Page, lab: Lab) -> None:
    with ThreadPoolExecutor(1) as thread:  # Playwright's loop runs in this one
        run = thread.submit(quick_run, "A landing page for a bakery in Lyon").result()
    saved = bundle(run)
    cells = [(f"# Cell {number}", [saved]) for number in range(RUNS)]
    write_notebook(lab.root / "long.ipynb", LOAD, "%%agent hero -m demo: --pace 0\nA form", *cells)
    lab.trust("long.ipynb")
    open_notebook(page, lab, "long.ipynb")
    stages = page.locator("[data-anb-outcome] .anb-stage")
    expect(page.locator("[data-anb-outcome]")).to_have_count(RUNS, timeout=PATIENCE)
    for _ in range(2):
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')")
    expect(page.locator("[data-anb-live]")).to_have_count(1, timeout=PATIENCE)

    expect(stages.last.locator("iframe")).to_have_count(0, timeout=PATIENCE)
    expect(stages.last).to_contain_text("Lyon Bakery")

    _scroll_to(stages.last)
    height = page.evaluate(HEIGHT)
    inside = stages.last.frame_locator("iframe").frame_locator("iframe")
    expect(inside.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate(HEIGHT) == height
    inside.get_by_role("heading", level=1).click()
    _scroll_to(stages.nth(2))
    expect(stages.nth(2).locator("iframe")).to_have_count(1)
    expect(stages.nth(RUNS - 2).locator("iframe")).to_have_count(0, timeout=PATIENCE)
    expect(stages.last.locator("iframe")).to_have_count(1)  # it was clicked into
