"""The code of a run becomes cells with their outputs, in a real JupyterLab: one undo takes them away."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import LOAD, MODEL, Lab, run_notebook, wait_for_kernel
from tests.support.wire import Call, Say, reply

CODE = """\
print('first line')
sales = pd.DataFrame({'month': ['May', 'June'], 'sold': [3, 5]})
display(sales)
total = int(sales['sold'].sum())"""


@pytest.mark.wide
def test_a_run_is_kept_verified_and_undone(page: Page, lab: Lab, vendor) -> None:
    line = f"%%agent sums {MODEL} -t kernel --approve auto"
    vendor.plan(reply(Call("run_python", {"code": CODE}, id="toolu_1")), reply(Say("8 were sold.")))
    run_notebook(page, lab, "keep", f"{LOAD}\nimport pandas as pd", f"{line}\nSum up the sales", "#")
    expect(page.locator(".anb-status .phase").first).to_contain_text("done")
    wait_for_kernel(page)
    page.get_by_role("button", name="Keep as cells").click()
    cells = page.locator(".jp-Notebook .jp-Cell")
    expect(cells).to_have_count(5)
    kept = cells.nth(2).locator(".jp-Cell-outputArea")
    expect(kept).to_contain_text("first line")
    expect(kept.get_by_role("cell", name="June")).to_be_visible()
    expect(cells.nth(3).locator(".jp-RenderedMarkdown")).to_contain_text("8 were sold.")
    expect(cells.nth(3).locator(".cm-editor")).to_be_hidden()
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:undo-cell-action')")
    expect(cells).to_have_count(3)
    page.get_by_role("button", name="Verify", exact=True).click()
    expect(page.locator(".anb-names .told")).to_contain_text(
        "The code ran again in a fresh kernel. No number is claimed as computed."
    )
