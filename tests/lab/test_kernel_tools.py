"""`run_python` in a real JupyterLab: output as it streams, an endless loop, undo, the code as a cell."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.lab import LOAD, MODEL, Lab, run_notebook, wait_for_kernel
from tests.support.widget_stage import press_how, stand_still
from tests.support.wire import Call, Say, reply

pytestmark = pytest.mark.wide

BEGIN = (
    f"{LOAD}\nimport asyncio, pathlib\nimport matplotlib.pyplot as plt\nimport pandas as pd\ntotal = 'mine'"
)
CODE = """\
print('first line')
sales = pd.DataFrame({'month': ['May', 'June'], 'sold': [3, 5]})
display(sales)
while not pathlib.Path('go').exists():
    await asyncio.sleep(0.05)
figure, axes = plt.subplots(figsize=(4, 2))
axes.bar(sales['month'], sales['sold'])
total = int(sales['sold'].sum())
%config AgentMagics.python_seconds = 2
print('total', total)"""
LOOP = "print('looping')\nwhile True: pass"


VALUE = """async (expression) => {
    const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
    const request = { code: "", silent: true, user_expressions: { value: expression } };
    const { content } = await kernel.requestExecute(request).done;
    return content.user_expressions.value.data["text/plain"];
}"""


def row(page: Page, number: int) -> Locator:
    return page.locator(
        ".jp-Cell .anb .anb-item", has=page.locator(".anb-row .lab", has_text="run Python")
    ).nth(number)


def approve(page: Page) -> None:
    stand_still(page.locator(".jp-Cell .anb .anb-acts:not(.sent):visible"))
    page.locator(".jp-Cell .anb").get_by_role("button", name="Approve", exact=True).click()


def test_code_runs_in_its_card(page: Page, lab: Lab, vendor) -> None:
    codes = (CODE, LOOP)
    calls = [reply(Call("run_python", {"code": code}, id=f"toolu_{at}")) for at, code in enumerate(codes)]
    vendor.plan(*calls, reply(Say("8 were sold.")))
    run_notebook(page, lab, "sums", BEGIN, f"%%agent sums {MODEL} -t kernel\nSum up the sales")
    approve(page)
    expect(row(page, 0).locator(".anb-source pre")).to_contain_text("axes.bar(sales['month']")
    expect(row(page, 0).locator(".anb-code pre").first).to_contain_text("first line")
    expect(row(page, 0).get_by_role("cell", name="June")).to_be_visible()
    (lab.root / "go").touch()
    approve(page)
    expect(row(page, 1).locator(".anb-code pre").first).to_contain_text("looping")
    expect(row(page, 1)).to_contain_text("The code was stopped after 2 seconds.")
    _undo_and_insert(page)


def test_code_is_tried_in_the_card_and_then_approved(page: Page, lab: Lab, vendor) -> None:
    code = "total = sales.sold.sum()\nsales['share'] = sales.sold / total\nsales.plot.bar(x='month')\nprint(total)"
    vendor.plan(reply(Call("run_python", {"code": code}, id="toolu_0")), reply(Say("8 were sold.")))
    data = "sales = pd.DataFrame({'month': ['May', 'June'], 'sold': [3, 5]})"
    run_notebook(page, lab, "tried", f"{BEGIN}\n{data}", f"%%agent sums {MODEL} -t kernel\nSum up the sales")
    card = page.locator(".jp-Cell .anb .anb-card.ask")
    for label in ("Try it", "Try it again"):
        stand_still(page.locator(".jp-Cell .anb .anb-acts:not(.sent):visible"))
        card.get_by_role("button", name=label, exact=True).click()
        expect(card.locator(".anb-trial pre")).to_have_text("8")
        expect(card.locator(".anb-trial .anb-figure img")).to_have_count(1)
        expect(card.locator(".anb-trial .anb-names")).to_contain_text("changed totalsales: + share")
    assert "share" not in str(vendor.requests[-1].body)
    approve(page)
    expect(card).to_be_hidden()
    press_how(page)
    expect(row(page, 0).locator(".anb-names:visible")).to_contain_text("changed totalsales: + share")


def _undo_and_insert(page: Page) -> None:
    wait_for_kernel(page)
    press_how(page)
    names = row(page, 0).locator(".anb-names")
    expect(names).to_contain_text("changed total")
    expect(row(page, 0).locator("img")).to_have_count(1)
    names.get_by_role("button", name="Undo").click()
    expect(names).to_contain_text("Put back: total. Removed: sales, figure, axes.")
    names.get_by_role("button", name="Insert as a cell").click()
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(3)
    expect(page.locator(".jp-Notebook .jp-CodeCell").nth(2)).to_contain_text("axes.bar(sales['month']")
