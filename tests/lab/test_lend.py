"""Two clients of a notebook that is lent, at work in JupyterLab: their cards, a proposal, Apply."""

import json
import os

import pytest
from playwright.sync_api import Page, expect

from agent_nb._base.threads import start_thread
from agent_nb.features.lend.lease import leases
from tests.support.lab import LOAD, Lab, keep_screenshot, open_notebook, run_all, wait_for_kernel
from tests.support.lent import LentClient
from tests.support.waiting import wait_until
from tests.support.widget_stage import stand_still

THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
SOURCE = """(id) => window.jupyterapp.shell.currentWidget.context.model.sharedModel.cells
    .find((cell) => cell.id === id).getSource()"""
CELLS = {
    "load": f"{LOAD}\nprices = [3, 5, 8]",
    "mean": "mean = sum(prices) / 2",
    "lend": "%agent lend",
}
PLOT = """\
import matplotlib.pyplot as plt
plt.figure(figsize=(3, 1.5))
plt.plot(prices)
plt.show()
prices.append(13)
mean = sum(prices) / len(prices)"""


@pytest.fixture
def lent(page: Page, lab: Lab, monkeypatch) -> Page:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", os.fspath(lab.home / "runtime"))
    empty = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**empty, "id": name, "source": source} for name, source in CELLS.items()]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "python3"}}}
    (lab.root / "lent.ipynb").write_text(json.dumps({**notebook, "cells": cells}))
    page.set_viewport_size({"width": 1280, "height": 1300})
    open_notebook(page, lab, "lent.ipynb")
    run_all(page)
    wait_for_kernel(page)
    wait_until(page, leases)
    return page


def keep_pictures(page: Page, name: str) -> None:
    for theme in ("Dark", "Light"):
        page.evaluate(THEME, f"JupyterLab {theme}")
        expect(page.locator("#jupyterlab-splash")).to_have_count(0)
        page.wait_for_timeout(500)
        keep_screenshot(page, f"lend-{name}-{theme}")


def test_two_clients_work_ask_and_offer_and_the_user_decides(lent: Page):
    page, [lease] = lent, leases()
    assert lease.notebook.endswith("lent.ipynb")

    def start(work):
        """Call in a thread, while the page goes on; what it returns waits for the result."""
        results = []
        start_thread("client", lambda: results.append(work()))
        return lambda: (wait_until(page, lambda: results), results[0])[1]

    ann, bob = (start(lambda name=name: LentClient(lease, name))() for name in ("claude-code", "codex <b>"))
    assert "mean = sum" in start(lambda: ann.call("list_cells"))()
    plotted = start(lambda: ann.run(PLOT))
    offered = start(lambda: bob.call("change_cell", cell="mean", old="/ 2", new="/ len(prices)"))()
    assert "accepted it yet" in offered
    keep_pictures(page, "both")
    page.locator(".anb-answer:visible").first.click()
    card = page.locator(".jp-Cell .anb .anb-card.ask")
    expect(card).to_be_visible()
    keep_pictures(page, "asks")
    stand_still(page.locator(".jp-Cell .anb .anb-acts:not(.sent):visible"))
    card.get_by_role("button", name="Approve", exact=True).click()
    assert "prices: 3 items" in plotted()
    expect(card).to_be_hidden()
    keep_pictures(page, "ran")
    page.get_by_role("tab").filter(has_text="codex <b>").click()
    expect(page.locator(".anb-proposal")).to_be_visible()
    keep_pictures(page, "offers")
    assert page.evaluate(SOURCE, "mean") == CELLS["mean"]
    page.get_by_role("button", name="Stop", exact=True).first.click()
    wait_until(page, lambda: not leases())
    page.locator(".anb-proposal").get_by_role("button", name="Accept", exact=True).click()
    page.wait_for_function(f"(id) => ({SOURCE})(id) === 'mean = sum(prices) / len(prices)'", arg="mean")
