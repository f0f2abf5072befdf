"""The stage: a panel beside the notebook that shows one of its runs, in a real JupyterLab."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.lab import DEMO, LOAD, Lab, run_all, run_notebook, save, wait_for_kernel, write_notebook

OPENS = f"{DEMO}\n%config AgentMagics.stage = True"
DASH = "%%agent dash --pace 0\nA landing page for a bakery in Lyon"
BLUE = "%%agent dash_2 --pace 0 --from dash\nmake it blue"
SOURCES = """(path) => {
    const panels = [...window.jupyterapp.shell.widgets("main")];
    const { context } = panels.find((panel) => panel.context?.path === path);
    return [...context.model.sharedModel.cells].map(({ source }) => source);
}"""


def stage_of(page: Page, name: str) -> Locator:
    """The stage of a notebook, which its tab names."""
    tab = page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab").filter(has_text=f"Stage: {name}.ipynb")
    return page.locator(f"#{tab.get_attribute('data-id')}")


def open_run(page: Page, lab: Lab, name: str, *cells: str) -> Locator:
    """A notebook whose run has ended on the stage."""
    run_notebook(page, lab, name, LOAD, *cells, "# the last cell")
    expect(page.locator(".agent-nb-stage .run")).to_contain_text("done")
    wait_for_kernel(page)
    return stage_of(page, name)


def versions(stage: Locator) -> list[str]:
    """The versions in the history; the one that is shown in brackets."""
    labels = "all => all.map((one) => one.ariaCurrent ? `[${one.ariaLabel}]` : one.ariaLabel)"
    return list(stage.locator("ol button").evaluate_all(labels))


def press(stage: Locator, name: str) -> None:
    stage.get_by_role("button", name=name, exact=True).click()


def page_on(stage: Locator) -> Locator:
    return stage.frame_locator("iframe >> nth=-1").frame_locator("iframe").locator("body")


def in_cells(page: Page) -> Locator:
    return page.locator(".jp-Notebook .anb-frame")


def test_a_press_puts_a_run_on_the_stage_and_the_next_one_follows(page: Page, lab: Lab):
    run_notebook(page, lab, "press", LOAD, DEMO, DASH, "# the last cell")
    expect(page.locator(".anb-status .phase").first).to_contain_text("done")
    wait_for_kernel(page)
    page.get_by_role("button", name="Stage", exact=True).click()
    stage = stage_of(page, "press")
    expect(page_on(stage)).to_contain_text("Lyon Bakery")
    expect(in_cells(page)).to_have_class("anb-frame shut")
    stage.get_by_role("textbox", name="Ask a question or for a change").click()
    page.keyboard.type("call it Petit Four")
    page.keyboard.press("Enter")
    expect(page_on(stage)).to_contain_text("Petit Four")
    expect(stage.get_by_role("button", name="dash_2")).to_have_attribute("aria-current", "step")
    assert versions(stage) == ["dash v1", "dash v2", "[dash_2]"]
    press(stage, "dash v1")
    expect(stage.get_by_role("button", name="Continue from v1")).to_be_visible()
    press(stage, "Continue from here")
    expect(page.locator(".jp-CodeCell .cm-content").nth(4)).to_be_focused()
    page.keyboard.type("In green")
    field = stage.get_by_role("textbox", name="Ask a question or for a change")
    field.fill("make it blue")
    field.press("Enter")
    assert page.evaluate(SOURCES, "press.ipynb")[3:] == [
        "%%agent dash_2 --from dash\ncall it Petit Four",
        "%%agent dash_3 --from dash.at(1)\nIn green",
        "%%agent dash_4 --from dash.at(1)\nmake it blue",
        "# the last cell",
    ]
    expect(stage.locator(".run")).to_have_text(re.compile("dash_4.*done"))
    expect(page_on(stage)).not_to_contain_text("Petit Four")
    assert versions(stage)[-1] == "[dash_4]"
    expect(stage.get_by_role("button", name="Pin")).to_have_attribute("aria-pressed", "false")
    page.locator(".lm-TabBar-tab", has_text="Stage: press").locator(".lm-TabBar-tabCloseIcon").click()
    expect(in_cells(page).first).not_to_have_class("anb-frame shut")


@pytest.mark.wide
def test_one_bar_leaves_the_page_its_room_at_the_width_of_a_desktop(page: Page, lab: Lab):
    """At 900 px, the height of the window."""
    stage = open_run(page, lab, "room", OPENS, DASH)
    height = "node => node.getBoundingClientRect().height"
    assert stage.locator(".bar").evaluate(height) <= 44
    assert stage.locator(".anb-page").evaluate(height) >= 0.8 * stage.evaluate(height)
    stage.get_by_role("radio", name="Desktop, 1280 px").click()
    frame = stage.locator(".anb-page > iframe")
    expect(frame).to_have_js_property("offsetWidth", 1280)
    assert frame.bounding_box()["width"] == stage.locator(".anb-panels").bounding_box()["width"]
    press(stage, "Show figures, files and actions")
    stage.get_by_role("tab", name="Files").click()
    expect(stage.get_by_role("button", name="Save index.html")).to_be_visible()
    press(stage, "Hide figures, files and actions")
    expect(page_on(stage)).to_be_visible()
    expect(stage.get_by_role("tab", name="Files")).to_be_hidden()


@pytest.mark.wide
@pytest.mark.parametrize("width", [1400, 1000, 700])
def test_nothing_of_the_bar_is_cut(page: Page, lab: Lab, width: int):
    stage = open_run(page, lab, f"bar{width}", OPENS, DASH, BLUE)
    page.set_viewport_size(
        {"width": width, "height": 900}
    )  # which makes an open stage narrower than a new one
    outside = """line => [...line.querySelectorAll(':scope > :not(ol), :scope > :not(ol) *')].filter((one) =>
        one.getBoundingClientRect().right > line.getBoundingClientRect().right).length"""
    assert stage.locator(".line").evaluate(outside) == 0
    assert stage.locator(".run b").evaluate("name => name.scrollWidth <= name.clientWidth")
    assert stage.locator("li small").all_inner_texts() == ["1", "2"]


@pytest.mark.wide
def test_the_stage_stays_with_a_pinned_run_over_a_reload_and_a_restart(page: Page, lab: Lab):
    stage = open_run(page, lab, "kept", OPENS, DASH, BLUE)
    press(stage, "dash v2")
    press(stage, "Pin")
    expect(stage.get_by_role("button", name="Pin")).to_have_attribute("aria-pressed", "true")
    page.locator(".jp-Notebook .cm-content").first.click()
    save(page)
    page.reload()
    wait_for_kernel(page)
    stage = stage_of(page, "kept")
    expect(stage.locator(".run b")).to_have_text("dash")
    expect(stage.get_by_role("button", name="Pin")).to_have_attribute("aria-pressed", "true")
    expect(stage.locator("[data-anb-live]")).to_be_visible()
    page.evaluate("() => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart() }")
    expect(stage).to_contain_text("Not in this kernel")
    expect(page_on(stage)).to_contain_text("Lyon Bakery")
    press(stage, "Follow newest")
    expect(stage.get_by_role("status")).to_contain_text("no kernel has this run")
    expect(page_on(stage)).to_contain_text("Lyon Bakery")
    assert "allow-same-origin" not in stage.locator("iframe").first.get_attribute("sandbox")


@pytest.mark.wide
def test_two_notebooks_with_the_same_cells_have_two_stages(page: Page, lab: Lab):
    one = open_run(page, lab, "one", OPENS, DASH)
    write_notebook(lab.root / "two.ipynb", LOAD, OPENS, DASH, "# the last cell")
    page.evaluate("() => { window.jupyterapp.commands.execute('docmanager:open', {path: 'two.ipynb'}) }")
    page.wait_for_function("() => window.jupyterapp.shell.currentWidget.context?.path === 'two.ipynb'")
    run_all(page)
    expect(page.locator(".agent-nb-stage")).to_have_count(2)
    two = stage_of(page, "two")
    expect(two.locator(".run")).to_contain_text("done")
    two.get_by_role("textbox", name="Ask a question or for a change").fill("make it blue")
    page.keyboard.press("Alt+Enter")
    page.wait_for_function(f"() => ({SOURCES})('two.ipynb').length === 5")
    assert len(page.evaluate(SOURCES, "one.ipynb")) == 4
    page.evaluate(
        "() => [...window.jupyterapp.shell.widgets('main')].find((one) => one.context?.path === 'two.ipynb').dispose()"
    )
    expect(page.locator(".agent-nb-stage")).to_have_count(1)
    expect(one.locator(".run b")).to_have_text("dash")
    page.evaluate("() => { window.jupyterapp.commands.execute('docmanager:open', {path: 'two.ipynb'}) }")
    expect(page.locator(".agent-nb-stage")).to_have_count(2)
