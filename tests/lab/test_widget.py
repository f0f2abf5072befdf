"""The widget in a real JupyterLab and a real Chromium: a run from start to end, and everything that gets in its way."""

import json
import os
import signal
from functools import partial

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.lab import (
    COUNTED,
    LOAD,
    MODEL,
    Lab,
    open_notebook,
    run_all,
    run_notebook,
    save,
    wait_for_kernel,
    write_notebook,
)
from tests.support.waiting import wait_until
from tests.support.wire import Call, Hold, Pause, Say, Think, reply

PAGE = "<!doctype html><title>Bread</title><h1>Bread</h1>" + "<p>Slow dough, real butter.</p>" * 40
MADE = Call("create_file", {"path": "index.html", "content": PAGE})
HALF = Call("create_file", json.dumps({"path": "index.html", "content": PAGE})[:400])
OUTPUTS = """JSON.stringify(window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells
    .map(cell => cell.getOutputs?.()))"""
SCROLLED = "() => document.querySelector('.jp-WindowedPanel-outer').scrollTop"


def phase(page: Page, words: str) -> None:
    expect(page.locator(".anb-status .phase").first).to_contain_text(words)


def shown_page(page: Page):
    """The document inside the preview's sandboxed frame."""
    return page.frame_locator(".anb-page iframe").first.frame_locator("iframe")


def saved_outputs(lab: Lab, name: str) -> str:
    return (lab.root / f"{name}.ipynb").read_text(encoding="utf-8")


def test_a_run_streams_from_start_to_end(page, lab, vendor):
    vendor.plan(
        reply(Think("A bakery wants warmth."), Say("I write it."), MADE, Pause(1.5)), reply(Say("**Done.**"))
    )
    run_notebook(
        page,
        lab,
        "stream",
        LOAD,
        f"%%agent hero {MODEL}\nA page for a bakery",
        "print(hero.reason, list(files))",
    )
    phase(page, "writing index.html")
    expect(shown_page(page).locator("h1")).to_have_text("Bread")
    phase(page, "done")
    expect(page.locator(".anb-foot .ready")).to_contain_text("hero and files are ready")
    expect(page.get_by_text("end_turn ['index.html']")).to_be_visible()
    expect(shown_page(page).locator("p")).to_have_count(40)


@pytest.mark.wide
def test_a_reload_in_the_middle_loses_nothing(page, lab, vendor):
    vendor.plan(reply(Think("Hm."), HALF, Hold()))
    run_notebook(page, lab, "reload", LOAD, f"%%agent hero {MODEL}\nA page")
    phase(page, "writing index.html")
    save(page)
    page.reload()
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    phase(page, "writing index.html")
    expect(page.get_by_text("Thought").first).to_be_visible()
    expect(shown_page(page).locator("h1")).to_have_text("Bread")
    page.get_by_role("button", name="Stop", exact=True).click()
    phase(page, "stopped")


@pytest.mark.wide
def test_a_killed_kernel_leaves_what_was_seen(page, lab, vendor):
    look = Call("read_file", {"path": "index.html"})
    vendor.plan(
        reply(Say("First the page."), MADE),
        reply(Say("Then a look."), Pause(3), look),
        reply(Say("At last the rest."), Pause(3), HALF, Hold()),
    )
    run_notebook(
        page,
        lab,
        "killed",
        LOAD,
        "import os; open('pid', 'w').write(str(os.getpid()))",
        f"%%agent hero {MODEL}\nA page",
    )
    expect(page.get_by_text("Then a look.")).to_be_visible()
    shown_page(page).locator("h1").evaluate("h1 => { h1.dataset.loaded = 'once'; }")
    scrolled = page.evaluate(SCROLLED)
    page.wait_for_function(f"() => {OUTPUTS}.includes('Then a look.')")
    expect(shown_page(page).locator("h1")).to_have_attribute("data-loaded", "once")
    assert page.evaluate(SCROLLED) == scrolled
    phase(page, "writing index.html")
    expect(shown_page(page).locator("h1")).to_have_text("Bread")
    pid = int((lab.root / "pid").read_text())
    while not list((lab.root / ".agent_nb" / "runs").glob("*hero-*.part.run.jsonl")):
        page.wait_for_timeout(50)
    os.kill(pid, signal.SIGKILL)
    phase(page, "the kernel was restarted")
    expect(shown_page(page).locator("h1")).to_have_text("Bread")
    expect(page.locator(".anb-foot .ready")).to_contain_text("Run the cell again")
    retry = page.get_by_role("button", name="Retry").locator("xpath=..").locator("code")
    assert len({code.bounding_box()["x"] for code in retry.all()}) == 1 < retry.count()
    save(page)
    for words in ("First the page.", "Then a look."):
        assert saved_outputs(lab, "killed").count(words) == 3, "as HTML, Markdown and text"
    assert "not kept" not in page.locator(".anb-card").last.inner_text()
    assert "Error displaying widget" not in page.content()
    page.get_by_role("button", name="Ok", exact=True).click()  # JupyterLab's own message
    page.get_by_role("button", name="Load what was saved").click()
    expect(page.get_by_text("Loaded `hero`")).to_be_visible()


@pytest.mark.wide
def test_a_finished_run_can_be_loaded_after_a_restart(page, lab, vendor):
    vendor.plan(reply(MADE), reply(Say("Done.")))
    run_notebook(page, lab, "restarted", LOAD, f"%%agent hero {MODEL}\nA page", "print(hero.reason)")
    expect(page.locator(".anb-foot .ready")).to_contain_text("are ready")  # it is saved by then
    wait_for_kernel(page)
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    expect(page.locator(".anb-foot .ready")).to_have_text("Not in this kernel:")
    wait_for_kernel(page)
    source = "%load_ext agent_nb\n%agent load hero"
    assert page.locator(".anb-foot .anb-cell:not(.anb-code-runs) code").inner_text() == source
    page.get_by_role("button", name="Load", exact=True).click()
    page.wait_for_function(f"() => ({COUNTED})()[2][1] === 1")  # inserted, and run
    assert page.evaluate(COUNTED)[2:] == [[source, 1], ["print(hero.reason)", 3]]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(f"() => ({COUNTED})()[3][1] === 2")
    expect(page.locator(".jp-OutputArea-output pre", has_text="end_turn")).to_be_visible()


@pytest.mark.wide
def test_a_second_view_shows_the_same_and_fills_its_panel(page, lab, vendor):
    vendor.plan(reply(MADE), reply(Say("Done.")))
    run_notebook(page, lab, "second", LOAD, f"%%agent hero {MODEL}\nA page")
    phase(page, "done")
    page.locator(".jp-Cell").nth(1).locator(".jp-InputArea-editor").click()
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:create-output-view')")
    expect(page.locator(".anb-status .phase")).to_have_count(2)
    expect(page.locator(".anb-status .phase").nth(1)).to_contain_text("done")
    panel = page.locator(".jp-LinkedOutputView")
    page.wait_for_function(
        """() => {
            const panel = document.querySelector('.jp-LinkedOutputView');
            const { shadowRoot } = panel.querySelector('[data-anb-live]');
            const [box, frame] = [panel, shadowRoot.querySelector('.anb-frame')].map(e => e.getBoundingClientRect());
            return frame.bottom <= box.bottom + 1 && frame.height > 0.9 * box.height;
        }"""
    )
    expect(panel.get_by_role("separator", name="Resize height")).to_have_count(0)


IN_FRONT = """async path => {
  const { shell, commands } = window.jupyterapp;
  if (shell.currentWidget?.context?.path === path) return shell.currentWidget.id;
  const open = [...shell.widgets("main")].find(widget => widget.context?.path === path);
  if (open) shell.activateById(open.id);
  else await commands.execute("docmanager:open", { path });
  return "";
}"""


def open_beside(page: Page, name: str) -> Locator:
    """Opens a notebook in the page, or brings it to the front: a page that restores its tabs may do otherwise first."""
    wait_until(page, lambda: page.evaluate(IN_FRONT, f"{name}.ipynb"))
    return page.locator(f"[id='{page.evaluate(IN_FRONT, f'{name}.ipynb')}']")


def shows_its_page(page: Page, name: str) -> bool:
    """Whether the notebook of this name, in front, shows the page of its run; it must not show another."""
    inside = open_beside(page, name).frame_locator(".anb-page iframe").frame_locator("iframe")
    headings = inside.locator("h1").all_inner_texts()
    assert headings in ([], [name])
    return headings != []


@pytest.mark.wide
def test_the_same_cell_in_two_notebooks_survives_a_reload(page, lab, vendor):
    for name in ("east", "west"):
        made = Call("create_file", {"path": "index.html", "content": f"<h1>{name}</h1>"})
        vendor.plan(reply(made), reply(Say("Done.")))
        write_notebook(lab.root / f"{name}.ipynb", LOAD, f"%%agent hero {MODEL}\nA page")
        if name == "east":
            open_notebook(page, lab, "east.ipynb")
        panel = open_beside(page, name)
        run_all(page)
        expect(panel.locator(".anb-status .phase")).to_contain_text("done")
        wait_for_kernel(page)
        save(page)
    page.reload()
    wait_for_kernel(page)
    for name in ("east", "west", "east"):
        wait_until(page, partial(shows_its_page, page, name))
        expect(open_beside(page, name).locator(".anb-status .phase")).to_contain_text("done")


@pytest.mark.wide
def test_notebook_seven_shows_it_too(page, lab, vendor):
    vendor.plan(reply(MADE), reply(Say("Done.")))
    run_notebook(page, lab, "seven", LOAD, f"%%agent hero {MODEL}\nA page", app="notebook")
    phase(page, "done")
    expect(shown_page(page).locator("h1")).to_have_text("Bread")
