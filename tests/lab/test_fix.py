"""From a failed cell to a corrected one, in a real JupyterLab: the button, Accept, Insert below, undo."""

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.lab import COMMAND, DEMO, LOAD, SOURCES, Lab, open_notebook, run_notebook, wait_for_kernel

HOSTILE = "print?\nopen('planted', 'w').write('x')\nprint('innocent')"
FAILED, FIXED = "print(totl + 1)", "print(total + 1)"


@pytest.fixture
def failed(page: Page, lab: Lab) -> Page:
    run_notebook(page, lab, "fix", f"{LOAD}\n{DEMO}\ntotal = 41", FAILED, "# the last cell")
    expect(page.locator(".anb-fix")).to_have_count(1)
    return page


def fix(page: Page) -> Locator:
    page.get_by_role("button", name="Fix with agent").click()
    card = page.locator(".anb-proposal").get_by_role("region", name="The failed cell", exact=True)
    expect(card).to_be_visible()
    wait_for_kernel(page)
    return card


def press(place: Page | Locator, name: str) -> None:
    place.get_by_role("button", name=name, exact=True).click()


def test_the_button_fixes_the_cell_which_is_undone_in_one_step_and_run(failed: Page):
    card = fix(failed)
    assert failed.evaluate(SOURCES)[1:] == [FAILED, "%agent fix 2", "# the last cell"]
    press(card, "Accept")
    failed.wait_for_function(f"() => ({SOURCES})()[1] === {FIXED!r}")
    expect(card).to_contain_text("Accepted: the notebook has it")
    failed.locator(".jp-CodeCell .cm-content").nth(1).click()
    failed.keyboard.press("Control+z")
    failed.wait_for_function(f"() => ({SOURCES})()[1] === {FAILED!r}")
    failed.keyboard.press("Control+Shift+z")
    failed.wait_for_function(f"() => ({SOURCES})()[1] === {FIXED!r}")
    press(failed.locator(".anb-review"), "Undo")
    failed.wait_for_function(f"() => ({SOURCES})()[1] === {FAILED!r}")
    press(failed.locator(".anb-review"), "Accept and run")
    expect(failed.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea-output")).to_have_text("42")
    expect(failed.locator(".anb-fix")).to_have_count(0)
    assert not failed.evaluate("() => window.jupyterapp.commands.isEnabled('agent-nb:fix')")


def test_an_execution_count_of_a_strangers_notebook_is_not_run(page: Page, lab: Lab):
    error = {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["E"]}
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": FAILED, "outputs": [error]}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "python3"}}}
    cells = [{**cell, "execution_count": HOSTILE}, {**cell, "id": "b", "execution_count": 7}]
    (lab.root / "strange.ipynb").write_text(json.dumps({**notebook, "cells": cells}))
    open_notebook(page, lab, "strange.ipynb")
    wait_for_kernel(page)
    for number in (0, 1):
        page.locator(".jp-CodeCell .cm-content").nth(number).click()
        page.evaluate(COMMAND, "agent-nb:fix")
    page.wait_for_function(f"() => ({SOURCES})().length === 3")
    wait_for_kernel(page)
    assert page.evaluate(SOURCES) == [FAILED, FAILED, "%agent fix 7"]
    assert not (lab.root / "planted").exists()
