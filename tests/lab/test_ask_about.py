"""\"Ask About This Cell\" in a real JupyterLab: the model gets what the cell shows at the moment of the question."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import COMMAND, LOAD, SOURCES, Lab, keep_screenshot, run_notebook, wait_for_kernel
from tests.support.wire import Say, reply

MODEL = """%config AgentMagics.model = "openai:gpt-6.1-sol"
__import__('agent_nb.notebook.notebook_tools.open_notebook', fromlist=['FIRST_ANSWER']).FIRST_ANSWER = 60"""
PLOT = "from PIL import Image\nprint('a red square')\nImage.new('RGB', (40, 40), 'red')"


@pytest.fixture
def plotted(page: Page, lab: Lab, vendor) -> Page:
    """Nothing of the notebook's outputs is saved: only the page has them."""
    vendor.plan(reply(Say("It is red.")))
    run_notebook(page, lab, "ask", f"{LOAD}\n{MODEL}", PLOT, "# spare")
    expect(page.locator(".jp-OutputArea img")).to_be_visible()
    wait_for_kernel(page)
    return page


def select(page: Page, number: int) -> None:
    page.locator(".jp-Cell").nth(number).locator(".jp-InputPrompt").click()


def ask(page: Page, question: str) -> None:
    page.evaluate(COMMAND, "agent-nb:ask")
    editor = page.locator(".jp-Cell.jp-mod-active .cm-content")
    expect(editor).to_be_focused()
    page.keyboard.type(question)
    expect(editor).to_contain_text(question)


def sent(page: Page, vendor) -> str:
    """The prompt of the notebook's first run, once that has ended."""
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".anb-status .phase")).to_contain_text("done")
    wait_for_kernel(page)
    return json.dumps(vendor.requests[-1].body["input"], ensure_ascii=False)


def test_the_model_gets_the_source_the_output_and_the_figure_of_the_cell(plotted: Page, vendor):
    select(plotted, 1)
    ask(plotted, "Why is it red?")
    asking = "%%agent about_1 -t kernel\nWhy is it red?\nThis is about {{cell:cell-1}}."
    assert plotted.evaluate(SOURCES)[2] == asking
    prose = plotted.locator(".jp-Cell.jp-mod-active .anb-prose span")
    assert {*prose.evaluate_all("nodes => nodes.map(node => getComputedStyle(node).fontWeight)")} <= {"400"}
    plotted.keyboard.press("Escape")
    select(plotted, 1)
    plotted.evaluate(COMMAND, "notebook:move-cell-up")
    select(plotted, 2)
    prompt = sent(plotted, vendor)
    assert (
        "Why is it red?\\nThis is about cell 1.\\n\\nCell 1 (id cell-1, code, In[2]):\\n```python\\nfrom PIL"
        in prompt
    )
    assert "Output:\\n```\\na red square\\n" in prompt
    assert "Figures: 1, 1 of them attached." in prompt
    assert "data:image/png;base64," in prompt
    assert "run_python" in json.dumps(vendor.requests[-1].body["tools"])


def test_the_menu_is_about_the_cell_where_it_opened_and_the_palette_about_the_active_one(plotted: Page):
    select(plotted, 2)
    plotted.locator(".jp-Cell").nth(1).locator(".cm-content").click(button="right")
    keep_screenshot(plotted, "ask-menu")
    plotted.get_by_role("menuitem", name="Agent: Ask About This Cell").click()
    expect(plotted.locator(".jp-Cell.jp-mod-active .cm-content")).to_be_focused()
    assert plotted.evaluate(SOURCES)[2] == "%%agent about_1 -t kernel\n\nThis is about {{cell:cell-1}}."
    plotted.keyboard.press("Escape")
    select(plotted, 3)
    ask(plotted, "Why?")
    assert plotted.evaluate(SOURCES)[4] == "%%agent about_2 -t kernel\nWhy?\nThis is about {{cell:cell-2}}."
