"""JupyterLab with its widget manager disabled stands for all front ends that show no widgets."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.kernels import ASKING
from tests.support.lab import LOAD, MODEL, Lab, open_browser, run_notebook, start_lab
from tests.support.wire import Call, Say, WireServer, reply

pytestmark = pytest.mark.hosts

MANAGER = "@jupyter-widgets/jupyterlab-manager"
INTERRUPT = "() => window.jupyterapp.commands.execute('notebook:interrupt-kernel')"


@pytest.fixture(scope="module")
def vendor():
    with WireServer.in_thread() as server:
        yield server


@pytest.fixture(scope="module")
def lab(tmp_path_factory, vendor):
    with start_lab(tmp_path_factory.mktemp("lab"), environment=vendor.as_openai(), disabled=[MANAGER]) as lab:
        yield lab


@pytest.fixture(scope="module")
def page(lab):
    with open_browser() as browser:
        yield browser.new_context(viewport={"width": 1280, "height": 900}).new_page()


def begin(page: Page, lab: Lab, name: str, *cells: str) -> None:
    run_notebook(page, lab, name, LOAD, *cells)


def test_the_run_is_seen_while_it_is_under_way_and_can_be_interrupted(page, lab):
    begin(page, lab, "streams", "%%agent hero -m demo: --pace 4\nA landing page for a bakery")
    head = page.locator(".anb-head")
    expect(head).to_contain_text("writing index.html")
    expect(page.locator(".anb-row")).to_contain_text("create")
    expect(page.locator(".anb-note")).to_contain_text("interrupt the kernel")
    expect(page.locator("[data-anb-run] iframe")).to_have_count(0)
    page.evaluate(INTERRUPT)
    expect(head).to_contain_text("stopped")
    expect(page.locator(".anb-stage iframe")).to_be_visible()


def test_a_question_is_asked_with_the_kernels_own_input(page, lab, vendor):
    made = Call("create_file", {"path": "index.html", "content": "<h1>Bread</h1>"})
    vendor.plan(reply(made), reply(Call("run_shell", {"command": "ls"})), reply(Say("All done.")))
    begin(page, lab, "asks", ASKING, f"%%agent hero {MODEL} -t run_shell\nA page")
    expect(page.locator(".anb-note")).to_contain_text(
        "Approval needed for run shell (run_shell): answer below."
    )
    expect(page.locator(".anb-head")).to_contain_text("waiting for approval")
    expect(page.locator(".anb-row").first).to_contain_text("14 bytes")
    expect(page.locator(".jp-OutputArea").last).to_contain_text("command: ls")
    page.locator(".jp-Stdin-input").fill("yes, once")
    page.locator(".jp-Stdin-input").press("Enter")
    expect(page.locator(".anb-head")).to_contain_text("done")
    expect(page.locator(".anb-text").last).to_contain_text("All done.")
