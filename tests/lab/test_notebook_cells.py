"""Changes of cells that a run offers, in a real JupyterLab: accepted one by one, refused, undone, run."""

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from agent_nb import load
from tests.support.lab import LOAD, MODEL, Lab, keep_screenshot, open_notebook, run_all, save, wait_for_kernel
from tests.support.wire import Call, Say, reply

MODELS = """() => window.jupyterapp.shell.currentWidget.context.model.sharedModel.cells
    .map((cell) => cell.toJSON())"""
SOURCES = f"() => ({MODELS})().map(({{ source }}) => source)"
SET = """([id, source]) => window.jupyterapp.shell.currentWidget.context.model.sharedModel.cells
    .find((cell) => cell.id === id).setSource(source)"""
LOCK = """(id) => window.jupyterapp.shell.currentWidget.context.model.sharedModel.cells
    .find((cell) => cell.id === id).setMetadata("deletable", false)"""
HOSTILE = "<img src=x onerror=\"document.title='hit'\"> data-anb-run"
CALLS = [
    Call("list_cells", {}, id="list"),
    Call("read_cells", {"cells": ["2-4"]}, id="read"),
    Call("insert_cell", {"after": "top", "kind": "markdown", "source": "# Prices"}, id="title"),
    Call("change_cell", {"cell": "mean", "old": "/ 3", "new": "/ len(prices)"}, id="mean"),
    Call("insert_cell", {"after": "mean", "source": "print(mean * 2)"}, id="double"),
    Call("delete_cell", {"cell": "spare"}, id="spare"),
]
PROMPT = f"%%agent hero {MODEL} -t notebook\nTidy up"


def write(lab: Lab, name: str) -> str:
    rows = {
        "load": f"{LOAD}\nprices = [3, 5]",
        "mean": "mean = sum(prices) / 3\nprint(mean)",
        "spare": f"note = {HOSTILE!r}\nprint(note)",
        "prompt": PROMPT,
    }
    empty = {"cell_type": "code", "metadata": {"tags": ["mine"]}, "outputs": [], "execution_count": None}
    cells = [{**empty, "id": name, "source": source} for name, source in rows.items()]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "python3"}}}
    (lab.root / f"{name}.ipynb").write_text(json.dumps({**notebook, "cells": cells}))
    return f"{name}.ipynb"


@pytest.fixture
def offered(page: Page, lab: Lab, vendor, request) -> Page:
    vendor.plan(*(reply(call) for call in CALLS), reply(Say("I offer four changes.")))
    open_notebook(page, lab, write(lab, request.node.name))
    run_all(page)
    expect(card(page, "Cell 2")).to_be_visible()
    wait_for_kernel(page)
    return page


def card(page: Page, title: str) -> Locator:
    return page.locator(".anb-proposal").get_by_role("region", name=title, exact=True)


def press(place: Page | Locator, name: str) -> None:
    place.get_by_role("button", name=name, exact=True).click()


def has(page: Page, *sources: str) -> None:
    """Waits until the notebook has cells with these sources."""
    wanted = json.dumps(sources, separators=(",", ":"), ensure_ascii=False)
    page.wait_for_function(f"(wanted) => JSON.stringify(({SOURCES})()) === wanted", arg=wanted)


def test_changes_are_accepted_one_by_one_read_back_and_undone_in_one_step_each(offered: Page, vendor):
    sent = json.dumps(vendor.requests[-1].body)
    assert "[3] spare code In[3]" in sent
    assert "2.6666666666666665" in sent
    load, mean, spare, prompt = offered.evaluate(SOURCES)
    fixed = mean.replace("/ 3", "/ len(prices)")
    assert "onerror" in card(offered, "Cell 3, deleted").inner_text()
    press(card(offered, "Cell 2"), "Accept")
    has(offered, load, fixed, spare, prompt)
    expect(card(offered, "Cell 2")).to_contain_text("Accepted: the notebook has it")
    cell = offered.evaluate(MODELS)[1]
    assert cell["metadata"]["tags"] == ["mine", "agent"]
    made = cell["metadata"]["agent_nb"]
    assert sorted(made) == ["kind", "model", "run"]
    assert made["kind"] == "changed"
    assert cell["outputs"][0]["text"] == "2.6666666666666665\n"
    expect(offered.locator(".anb-older")).to_have_text("Older output: the cell has been changed since it ran")
    press(card(offered, "Cell 2"), "Show")
    expect(offered.locator(".jp-Cell.anb-marked .cm-content")).to_contain_text("len(prices)")
    offered.locator(".jp-Cell.anb-marked .cm-content").click()
    offered.keyboard.press("Control+z")
    has(offered, load, mean, spare, prompt)
    undone = offered.evaluate(MODELS)[1]["metadata"]
    assert undone["tags"] == ["mine"]
    assert "agent_nb" not in undone
    offered.keyboard.press("Control+Shift+z")
    has(offered, load, fixed, spare, prompt)
    press(card(offered, "Cell 3, deleted"), "Refuse")
    expect(card(offered, "Cell 3, deleted")).to_contain_text("Refused")
    press(offered.locator(".anb-review"), "Accept and run")
    has(offered, "# Prices", load, fixed, "print(mean * 2)", spare, prompt)
    outputs = offered.locator(".jp-CodeCell .jp-OutputArea-output")
    expect(outputs.filter(has_text="5.33")).to_be_visible()
    assert offered.title() != "hit"
    press(offered.locator(".anb-review"), "Undo")
    has(offered, load, fixed, spare, prompt)
    press(offered.locator(".anb-review"), "Undo")
    expect(card(offered, "Cell 3, deleted").get_by_role("button", name="Accept")).to_be_visible()


def test_a_cell_that_is_locked_or_has_changed_since_is_not_written_and_both_texts_are_shown(offered: Page):
    load, mean, spare, prompt = offered.evaluate(SOURCES)
    offered.evaluate(SET, ["mean", f"{mean}  # mine"])
    offered.evaluate(LOCK, "spare")
    press(offered.locator(".anb-review"), "Accept all")
    has(offered, "# Prices", load, f"{mean}  # mine", "print(mean * 2)", spare, prompt)
    expect(offered.locator(".anb-toast").first).to_contain_text("Not written: Cell 3, deleted.")
    changed = card(offered, "Cell 2")
    expect(changed).to_contain_text("The cell has changed since")
    expect(changed).to_contain_text("# mine")
    expect(changed).to_contain_text("len(prices)")
    expect(changed.get_by_role("button", name="Accept")).to_have_count(0)
    press(offered.locator(".anb-review"), "Undo")
    has(offered, load, f"{mean}  # mine", spare, prompt)


@pytest.mark.wide
def test_two_windows_have_one_proposal_and_a_read_only_notebook_offers_nothing(offered: Page, lab: Lab):
    offered.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    path = offered.evaluate("() => window.jupyterapp.shell.currentWidget.context.path")
    other = offered.context.new_page()
    other.goto(f"{lab.url}/lab/workspaces/other/tree/{path}?token={lab.token}")
    expect(card(other, "Cell 2")).to_be_visible()
    press(card(offered, "Cell 2"), "Accept")
    expect(card(other, "Cell 2")).to_contain_text("Accepted")
    expect(card(other, "Cell 2").get_by_role("button", name="Accept")).to_have_count(0)
    press(card(other, "Cell 3, deleted"), "Refuse")
    expect(card(offered, "Cell 3, deleted")).to_contain_text("Refused")
    other.evaluate("() => { window.jupyterapp.shell.currentWidget.context.model.readOnly = true }")
    other.locator("[data-tab=files]").click()
    other.locator("[data-tab=notebook]").click()
    expect(other.locator(".anb-proposal")).to_contain_text("This notebook is read-only")
    expect(other.locator(".anb-proposal").get_by_role("button", name="Accept")).to_have_count(0)


def test_new_cells_come_in_the_order_of_the_list_and_what_was_decided_is_saved(page: Page, lab: Lab, vendor):
    tops = [{"after": "top", "source": f"{name} = 1"} for name in "abc"]
    vendor.plan(reply(*(Call("insert_cell", top, id=top["source"][0]) for top in tops)), reply(Say("Three.")))
    open_notebook(page, lab, write(lab, "order"))
    run_all(page)
    wait_for_kernel(page)
    cards = page.locator(".anb-proposal .anb-card")
    expect(cards).to_have_count(3)
    sources = page.evaluate(SOURCES)
    press(cards.nth(0), "Refuse")
    press(cards.nth(2), "Accept")
    has(page, "c = 1", *sources)
    press(cards.nth(1), "Accept")
    has(page, "b = 1", "c = 1", *sources)
    keep_screenshot(page, "decided")
    save(page)
    saved = (lab.root / "order.ipynb").read_text()
    titles = [f"<summary>New code cell at the top ({word})</summary>" for word in ("refused", "accepted")]
    assert [saved.count(title) for title in titles] == [1, 2]
    assert "that it offers" not in saved
    file = max((lab.root / ".agent_nb" / "runs").glob("*-hero-*.run.jsonl"))
    assert [*load(file).decided.values()] == ["refused", "accepted", "accepted"]
