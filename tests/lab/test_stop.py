"""Stop and the kernel's interrupt end Run All in a real JupyterLab, and stopped variants can be continued."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import COUNTED, LOAD, MODEL, Lab, keep_screenshot, run_notebook, wait_for_kernel
from tests.support.wire import Call, Hold, Say, reply

pytestmark = pytest.mark.wide

CUT = reply(Call("create_file", '{"path": "index.html", "content": "<h1>Bread</h1>'), Hold())
BLOCKS = reply(Call("run_python", {"code": "import time\nprint('begin')\ntime.sleep(600)"}))
PRESS_STOP = ".jp-Cell .anb .anb-stop button"


CHANGE = "theme => { window.jupyterapp.commands.execute('apputils:change-theme', { theme }) }"


def keep_both(page: Page, name: str) -> None:
    """Keeps a picture in each theme."""
    keep_screenshot(page, name)
    for theme, is_light in (("JupyterLab Dark", "false"), ("JupyterLab Light", "true")):
        page.evaluate(CHANGE, theme)
        page.wait_for_selector(f"body[data-jp-theme-light={is_light}]", state="attached")
        expect(page.locator("#jupyterlab-splash")).to_have_count(0)
        keep_screenshot(page, f"{name}-{theme[-5:].strip().lower()}")


@pytest.mark.parametrize("how", ["stop", "blocked", "interrupt"])
def test_run_all_ends_with_a_run_that_is_stopped(page: Page, lab: Lab, vendor, how: str) -> None:
    vendor.plan(BLOCKS if how == "blocked" else CUT)
    options = "-t kernel --approve run_python=auto" if how == "blocked" else ""
    cells = (f"%%agent a {MODEL} {options}\nA page", "later = True", f"%%agent b {MODEL}\nAnother page")
    before = len(vendor.requests)
    run_notebook(page, lab, f"stopped-{how}", LOAD, *cells)
    text = "begin" if how == "blocked" else "index.html"
    expect(page.locator(".jp-Cell .anb").first).to_contain_text(text)
    if how == "interrupt":
        page.evaluate("window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
    else:
        page.locator(PRESS_STOP).click()
    error = page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']")
    expect(error).to_have_text("RunStopped: `a` contains the results so far.")
    wait_for_kernel(page)
    counts = [count for _, count in page.evaluate(COUNTED)]
    assert [bool(count) for count in counts] == [True, True, False, False]
    assert len(vendor.requests) == before + 1
    expect(page.locator(".jp-Cell .anb .phase")).to_have_text(["stopped"])
    keep_both(page, f"stop-{how}")


def test_stopped_variants_have_continue_in_place_of_a_pick_of_nothing(page: Page, lab: Lab, vendor) -> None:
    vendor.plan(*[reply(Say("I begin."), Hold())] * 3)
    run_notebook(page, lab, "stopped-variants", LOAD, f"%%agent e {MODEL} -n 3\nA page")
    grid = page.locator(".jp-Cell .anb .anb-grid")
    expect(grid.get_by_text("I begin.")).to_have_count(3)
    page.locator(PRESS_STOP).click()
    more = grid.get_by_role("button", name="Continue Variant")
    expect(more).to_have_count(3)
    expect(grid.locator(".anb-pick:visible")).to_have_count(0)
    keep_both(page, "stop-variants")
    vendor.plan(reply(Say("Done.")))
    more.nth(1).click()
    expect(page.locator(".jp-Cell .anb .phase").nth(1)).to_have_text("done")
    assert "--from e.2" in str(page.evaluate(COUNTED))
