"""Numbers that nothing computed, in a real JupyterLab: also in a formula, which its typesetter draws."""

from playwright.sync_api import Page, expect

from tests.support.lab import LOAD, MODEL, Lab, run_notebook
from tests.support.wire import Call, Say, reply

DATA = f"{LOAD}\nimport pandas as pd\nsales = pd.DataFrame({{'bread': [410, 380, 450]}})"
CODE = "sales['share'] = sales.bread / sales.bread.sum()\nprint(sales.bread.mean())"
ANSWER = (
    "On average **413.3** loaves, 18.4 % more. The slope is $\\beta = 20.5$, the mean $m = 413.3$, at 475."
)


def test_a_number_in_a_formula_is_marked_and_the_words_stand_below_the_answer(
    page: Page, lab: Lab, vendor
) -> None:
    vendor.plan(reply(Call("run_python", {"code": CODE}, id="toolu_0")), reply(Say(ANSWER)))
    run_notebook(page, lab, "num", DATA, f"%%agent num {MODEL} -t kernel --approve auto\nSum up the sales")
    answer = page.locator(".jp-Cell .anb-say")
    expect(answer.locator("p").last).to_have_text("Not computed: 18.4, 20.5, 475")
    expect(answer.locator(".anb-number.none")).to_have_count(3)
    for kind, style in ((".none", "dotted"), ("a", "solid")):
        formula = answer.locator(f".anb-number{kind}" if kind == ".none" else "a.anb-number").filter(
            has=page.locator(".anb-formula")
        )
        expect(formula).to_have_css("border-bottom-style", style)
    expect(page.locator(".jp-Cell [slot^=anb-math] mjx-container").first).to_be_visible()
