"""VS Code and Colab, emulated after what is documented of them. The kernel of Colab has the versions of its image."""

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from docs.scripts import matrix
from tests.support.front_end import COLAB, IN_COLAB, VS_CODE, FrontEnd
from tests.support.kernels import PATIENCE, start_kernel
from tests.support.lab import open_browser

pytestmark = pytest.mark.hosts

CELL = "%%agent {} -m demo: --pace 1\nA landing page for a bakery"


@pytest.fixture
def page():
    with open_browser() as browser:
        yield browser.new_page(viewport={"width": 1280, "height": 900})


def watch(front_end: FrontEnd, name: str) -> None:
    """Runs a cell and sees it stream in the live interface, to its end."""
    front_end.start(CELL.format(name))
    phase = front_end.frame().locator(".phase")
    front_end.until(lambda: phase.count() and "writing index.html" in phase.last.inner_text())
    front_end.finish()
    expect(phase.last).to_contain_text("done")


def expect_once(frame: FrameLocator) -> None:
    """The frame has one live interface, over the saved form of the run."""
    expect(frame.locator(".anb")).to_have_count(1)
    expect(frame.locator("[data-anb-outcome]")).to_have_count(1)


def test_vs_code_streams_runs_in_its_webview(page: Page, tmp_path):
    with start_kernel(tmp_path, VSCODE_PID="1") as kernel, FrontEnd(page, kernel, VS_CODE) as front_end:
        watch(front_end, "hero")
        expect_once(front_end.frame())
        watch(front_end, "second")
        expect(front_end.frame().locator(".anb")).to_have_count(2)


def test_vs_code_shows_the_light_form_if_the_kernel_does_not_know_of_it(page: Page, tmp_path):
    """A kernel on a remote server has no `VSCODE_PID`: it displays no view, and the widget is not loaded."""
    with start_kernel(tmp_path) as kernel, FrontEnd(page, kernel, VS_CODE) as front_end:
        front_end.start(CELL.format("hero"))
        head = front_end.frame().locator(".anb-head")
        front_end.until(lambda: head.count() and "writing index.html" in head.inner_text())
        front_end.finish()
        expect(head).to_contain_text("done in")
        expect(front_end.frame().locator(".anb-stage iframe")).to_be_visible()
        expect(front_end.frame().locator(".anb")).to_have_count(0)


@pytest.fixture(scope="module")
def colab_python() -> str:
    """The environment of `make test-matrix` with Colab's versions, made when it is first needed."""
    python = matrix.find_python(matrix.COLAB.python, ())
    if python is None:
        pytest.skip(f"needs Python {matrix.COLAB.python}, as Colab has it")
    matrix.make_environment(matrix.COLAB, python)
    return str(matrix.COLAB.folder / "bin" / "python")


@pytest.fixture
def colab_kernel(tmp_path, colab_python):
    with start_kernel(tmp_path, python=colab_python) as kernel:
        kernel.run(COLAB)
        yield kernel


def test_a_cell_runs_and_tab_completes_with_colabs_versions(colab_kernel):
    assert colab_kernel.value("__import__('IPython').__version__") == "'7.34.0'"
    assert colab_kernel.run("%%agent hero -m demo: --pace 0\nA form").status == "ok"
    code = "%%agent second\nLike {{her"
    colab_kernel.client.complete(code, len(code))
    assert colab_kernel.client.get_shell_msg(timeout=PATIENCE)["content"]["matches"] == ["hero"]


def test_colab_streams_each_run_in_the_frame_of_its_cell(page: Page, colab_kernel):
    with FrontEnd(page, colab_kernel, IN_COLAB) as front_end:
        watch(front_end, "hero")
        watch(front_end, "second")
        expect_once(front_end.frame(0))
        expect_once(front_end.frame(1))
