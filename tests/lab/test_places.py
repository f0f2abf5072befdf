"""A run that is approved, stopped or counted where its output goes away or is covered while it is under way."""

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.kernels import ASKING
from tests.support.lab import LOAD, MODEL, Lab, open_notebook, run_all, save, wait_for_kernel, write_notebook
from tests.support.widget_stage import stand_still
from tests.support.wire import Call, Say, reply

pytestmark = pytest.mark.wide

MADE = Call("create_file", {"path": "index.html", "content": "<h1>Bread</h1>"})
CELL = 2
"""The number of the cell with the run."""


def begin(page: Page, lab: Lab, vendor, name: str) -> None:
    """Starts a run that waits for approval."""
    vendor.plan(reply(Call("run_shell", {"command": "ls"})), reply(MADE), reply(Say("Done.")))
    write_notebook(lab.root / f"{name}.ipynb", LOAD, ASKING, f"%%agent hero {MODEL} -t run_shell\nA page")
    lab.trust(f"{name}.ipynb")  # as every notebook is that JupyterLab has saved
    open_notebook(page, lab, f"{name}.ipynb")
    run_all(page)
    expect(place(page).locator(".phase")).to_contain_text("waiting for approval")


def place(page: Page) -> Locator:
    """The live interface in the run's cell."""
    return page.locator(".jp-Cell .anb")


def notebook_command(page: Page, command: str) -> None:
    """Runs one of JupyterLab's commands on the cell of the run, or on the last that is left."""
    page.evaluate(
        """([command, index]) => {
            const { shell, commands } = window.jupyterapp;
            shell.currentWidget.content.activeCellIndex = index;
            return commands.execute(`notebook:${command}`);
        }""",
        [command, CELL],
    )


def approve(where: Locator) -> None:
    stand_still(where.locator(".anb-acts"))
    where.get_by_role("button", name="Approve", exact=True).click()


def assert_saved_once(page: Page, lab: Lab, name: str) -> None:
    """The file has the result, once, and no trace of a run under way."""
    expect(place(page).locator(".phase")).to_contain_text("done")
    wait_for_kernel(page)
    page.wait_for_function(
        "() => !JSON.stringify(window.jupyterapp.shell.currentWidget.model.toJSON()).includes('data-anb-id')"
    )
    save(page)
    cells = json.loads((lab.root / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    html = ["".join(output["data"]["text/html"]) for cell in cells for output in cell.get("outputs", [])]
    assert [text.split("\n")[0] for text in html] == ["<!-- hero: done -->"]


def test_a_cell_that_is_cut_and_pasted_gets_its_result(page, lab, vendor):
    begin(page, lab, vendor, "cut")
    notebook_command(page, "cut-cell")
    notebook_command(page, "paste-cell-below")
    approve(place(page))
    assert_saved_once(page, lab, "cut")


NEIGHBOUR = """() => {
    const style = document.createElement("style");
    style.textContent = `.jp-Cell-outputArea { position: relative }
        .nbi-cell-output-toolbar { position: absolute; top: 0; right: 8px; width: 220px; height: 26px; z-index: 10 }`;
    document.head.append(style);
    const bar = document.createElement("div");
    bar.className = "nbi-cell-output-toolbar";
    document.querySelector(".jp-Cell-outputArea:has([data-anb-run])").append(bar);
}"""
"""What Notebook Intelligence 6.2 puts over an output while the pointer is on it."""


def test_buttons_of_a_neighbour_do_not_cover_ours(page: Page, lab: Lab, vendor):
    begin(page, lab, vendor, "neighbour")
    page.evaluate(NEIGHBOUR)
    place(page).get_by_role("button", name="Stop").first.click(timeout=5_000)
    expect(place(page).locator(".phase")).to_contain_text("stopped")


def test_the_run_of_a_deleted_cell_is_counted_until_it_is_stopped(page, lab, vendor):
    begin(page, lab, vendor, "deleted")
    notebook_command(page, "delete-cell")
    expect(place(page)).to_have_count(0)
    runs = page.locator("#jp-main-statusbar").get_by_text("1 agent question waits for you")
    expect(runs).to_be_visible()
    page.evaluate("() => window.jupyterapp.commands.execute('agent-nb:stop')")
    expect(runs).to_be_hidden()
    vendor.forget()


def test_a_run_that_waits_in_another_notebook_is_a_press_away(page, lab, vendor):
    begin(page, lab, vendor, "asks")
    write_notebook(lab.root / "other.ipynb", "1 + 1")
    open_other = "() => { window.jupyterapp.commands.execute('docmanager:open', {path: 'other.ipynb'}) }"
    card = place(page).locator(".anb-card.ask")
    for go in (
        page.locator("#jp-main-statusbar").get_by_role("button", name="1 agent question waits for you").click,
        lambda: page.keyboard.press("F8"),
    ):
        page.evaluate(open_other)
        expect(card).to_be_hidden()
        go()
        expect(card).to_be_focused()
    stand_still(place(page).locator(".anb-acts"))
    page.keyboard.press("y")
    expect(place(page).locator(".phase")).to_contain_text("done")
