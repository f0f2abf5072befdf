"""Tries of a request and code that did not run, in a real JupyterLab, with a small model on the user's own server."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import LOAD, Lab, run_notebook
from tests.support.wire import Say, WireServer, reply

THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
ASKED = "%%agent {} -m chat:qwen --approve auto {}\n{}"


def start(page: Page, lab: Lab, vendor: WireServer, name: str, cell: str, *answers: str) -> None:
    vendor.plan(*(reply(Say(text)) for text in answers))
    server = f"import os\nos.environ['CHAT_BASE_URL'] = {vendor.base_url('chat')!r}"
    data = f"{LOAD}\n{server}\nimport pandas as pd\ndf = pd.DataFrame({{'price': [1.5, 2.5]}})"
    run_notebook(page, lab, name, data, cell)


def block(code: str) -> str:
    return f"```python\n{code}\n```"


@pytest.mark.parametrize(("theme", "last"), [("JupyterLab Light", 2), ("JupyterLab Dark", 3)])
def test_the_header_says_how_many_tries_agree(page: Page, lab: Lab, vendor, theme, last) -> None:
    answers = [
        text for n in (1, 2, last) for text in (block(f"print('The mean is {n}')"), "That is the mean.")
    ]
    name = f"tries{last}"
    cell = ASKED.format(name, "--agree 3", "The mean price of {{df}}?")
    start(page, lab, vendor, name, cell, *answers)
    page.evaluate(THEME, theme)
    words = "2 of 3 agree" if last == 2 else "none of 3 agree"
    expect(page.locator(".jp-Cell .anb-head .words").last).to_have_text(words)
    place = page.locator(".jp-Cell .anb-place")
    for number in (1, 2, 3):
        is_there = number == 2 or last == 3
        expect(place.get_by_text(f"The mean is {number}").last).to_be_visible(visible=is_there)
    page.wait_for_timeout(300)  # the picture


def test_code_that_did_not_run_is_marked_and_can_be_run(page: Page, lab: Lab, vendor) -> None:
    cell = ASKED.format("fun", "-t kernel", "Write a function that doubles {{df}}, and call it.")
    start(page, lab, vendor, "fun", cell, block("print(6 * 7)"))
    answer = page.locator(".jp-Cell .anb-say")
    expect(answer.locator(".anb-unrun")).to_have_text("not run")
    answer.get_by_role("button", name="Run as a cell").click()
    expect(page.locator(".jp-OutputArea-output pre", has_text="42")).to_be_visible()
