"""A prompt that runs in a kernel without agent_nb, in a real JupyterLab: the button that loads it."""

import nbformat
import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import SOURCES, Lab, open_notebook, run_all, wait_for_kernel, write_notebook

PROMPT = "%%agent hero -m demo: --pace 0\nA form"
NOT_FOUND = "UsageError: Cell magic `%%agent` not found."
UNINSTALLED = """import sys
class Uninstalled:
    def find_spec(name, *_):
        if name == "agent_nb":
            raise ModuleNotFoundError("No module named 'agent_nb'")
sys.meta_path.insert(0, Uninstalled)"""
INSTALL = """() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel
    .requestExecute({ code: "sys.meta_path.remove(Uninstalled)" }).done"""


@pytest.mark.wide
def test_the_button_loads_agent_nb_and_runs_the_prompt(page: Page, lab: Lab) -> None:
    path = lab.root / "unloaded.ipynb"
    write_notebook(path, UNINSTALLED, PROMPT)
    notebook = nbformat.read(path, 4)
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", name="stderr", text=f"{NOT_FOUND}\n")]
    nbformat.write(notebook, path)
    open_notebook(page, lab, path.name)
    wait_for_kernel(page)
    prompt = page.locator(".jp-CodeCell").nth(1)
    button = page.get_by_role("button", name="Load agent_nb and run")
    expect(prompt).to_contain_text(NOT_FOUND)
    expect(button).to_have_count(0)
    run_all(page)
    button.click()
    expect(prompt.get_by_role("status")).to_contain_text("ModuleNotFoundError: No module named 'agent_nb'")
    expect(prompt.get_by_role("status")).to_contain_text("Run `%pip install agent-nb`, then press again.")
    page.evaluate(INSTALL)
    button.click()
    expect(prompt.locator(".anb").first).to_be_visible()
    expect(prompt).not_to_contain_text(NOT_FOUND)
    expect(button).to_have_count(0)
    assert page.evaluate(SOURCES) == [UNINSTALLED, PROMPT]
