"""The tag `no-ai` in the real front ends, which send the tags of a cell with its code."""

import nbformat
import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import LOAD, App, Lab, open_notebook, run_all, write_notebook

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
