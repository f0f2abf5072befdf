"""JupyterLab with our prebuilt extension switched off, or with another version of it: cells are copied."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import (
    LOAD,
    Lab,
    needs_chromium,
    open_browser,
    run_notebook,
    start_lab,
    wait_for_kernel,
)

pytestmark = [needs_chromium, pytest.mark.hosts]

OTHER_VERSION = "Object.defineProperty(window, Symbol.for('agent_nb.classroom'), { value: { version: 99 } })"
CELLS = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"


@pytest.mark.parametrize(
    ("disabled", "script"), [(["agent-nb"], ""), ([], OTHER_VERSION)], ids=["off", "other"]
)
def test_the_next_cell_is_copied(disabled: list[str], script: str, tmp_path):
    with start_lab(tmp_path, disabled=disabled) as lab, open_browser() as browser:
        window = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        window.add_init_script(script)
        page = window.new_page()
        ask_for_change(page, lab)
        assert page.evaluate("navigator.clipboard.readText()") == "%%agent hero_2 --from hero\nMake it darker"
        assert page.evaluate(CELLS) == 2


def ask_for_change(page: Page, lab: Lab) -> None:
    run_notebook(page, lab, "hero", LOAD, "%%agent hero -m demo: --pace 0\nA page for a bakery in Lyon")
    expect(page.locator(".anb-status .phase")).to_contain_text("done")
    wait_for_kernel(page)
    expect(page.get_by_role("button", name="Copy cell")).to_be_visible()
    page.get_by_role("textbox", name="Ask a question or for a change").click()
    page.keyboard.type("Make it darker")
    page.keyboard.press("Enter")
    expect(page.locator(".anb-toast")).to_have_text("Copied: paste it into a cell")
