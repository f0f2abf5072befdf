"""The preferences in JupyterLab's Settings Editor: the fix button, the prompts and the stage follow them."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import LOAD, Lab, run_notebook

OPEN = "() => { window.jupyterapp.commands.execute('settingeditor:open', {query: 'agent_nb'}) }"
CLOSE = "() => window.jupyterapp.shell.currentWidget.dispose()"
STAGE = "%config AgentMagics.model = 'demo:'\n%config AgentMagics.stage = True"


@pytest.fixture
def preferences(lab: Lab) -> Iterator[None]:
    yield
    (lab.home / "settings/agent-nb/cells.jupyterlab-settings").unlink(missing_ok=True)


def set_preferences(page: Page, *, on: bool) -> None:
    page.evaluate(OPEN)
    for name in ("fixButton", "prosePrompts", "stageFollows"):
        page.locator(f"[id='jp-SettingsEditor-agent-nb:cells_{name}']").set_checked(on)
    expect(page.locator("body.agent-nb-no-fix")).to_have_count(0 if on else 1)
    page.evaluate(CLOSE)


@pytest.mark.wide
@pytest.mark.usefixtures("preferences")
def test_the_settings_editor_has_the_preferences(page: Page, lab: Lab) -> None:
    dash = "%%agent dash --pace 0\nimport a page for the bakery"
    run_notebook(page, lab, "prefer", f"{LOAD}\n{STAGE}", "# none", "totl + 1")
    button = page.get_by_role("button", name="Fix with agent")
    expect(button).to_be_visible()
    set_preferences(page, on=False)
    expect(button).to_be_hidden()
    cells = page.locator(".jp-CodeCell")
    cells.nth(1).locator(".cm-content").fill(dash)
    word = cells.nth(1).locator(".anb-prose span", has_text="import").first
    colour = "(word) => getComputedStyle(word).color === getComputedStyle(word.parentElement).color"
    assert not word.evaluate(colour)
    page.keyboard.press("Control+Enter")
    stage = page.locator(".agent-nb-stage")
    expect(stage.get_by_role("button", name="Pin")).to_have_attribute("aria-pressed", "true")
    set_preferences(page, on=True)
    expect(button).to_be_visible()
    assert word.evaluate(colour)
