"""Cells, notebooks and labs without agents, in the real front ends: the tag `no-ai`, `agent_nb.off`, `mode = "off"`."""

import nbformat
import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import LOAD, App, Lab, open_notebook, run_all, run_notebook, write_notebook

pytestmark = pytest.mark.wide


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_tagged_cell_runs_no_agent(page: Page, lab: Lab, app: App) -> None:
    path = lab.root / f"tagged-{app}.ipynb"
    write_notebook(path, LOAD, "%%agent free -m demo:\nA form", "%%agent hero -m demo:\nA form")
    notebook = nbformat.read(path, 4)
    notebook.cells[2].metadata["tags"] = ["exercise", "no-ai"]
    nbformat.write(notebook, path)
    open_notebook(page, lab, path.name, app)
    run_all(page)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    expect(cells.nth(2)).to_contain_text("This cell is tagged `no-ai`, so no agent runs in it.")
    expect(cells.nth(1).locator(".anb").first).to_be_visible()


VISIBLE = """() => window.jupyterapp.commands.listCommands().filter((id) => id.startsWith("agent-nb:")
    && window.jupyterapp.commands.isVisible(id)).length"""


def test_a_lab_file_that_switches_agents_off_hides_the_button(page: Page, lab: Lab) -> None:
    (lab.root / "exam" / "one").mkdir(parents=True)
    (lab.root / "exam" / "lab.toml").write_text('[lab]\nmode = "off"\n')
    run_notebook(page, lab, "exam/one/a", LOAD, "totl + 1")
    expect(page.locator(".anb-fix")).to_have_count(1)
    expect(page.locator(".agent-nb-off")).to_have_count(1)
    expect(page.get_by_role("button", name="Fix with agent")).to_be_hidden()
    assert page.evaluate(VISIBLE) == 0
