"""Runs in a real marimo, in Chromium."""

import mimetypes
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.support import ROOT
from tests.support.lab import open_browser
from tests.support.marimo_server import marimo_environment, start_marimo

pytestmark = pytest.mark.hosts

LESSON = ROOT / "notebooks" / "marimo_first_run.py"
NOTEBOOK = """
import marimo
app = marimo.App()

@app.cell
def _():
    import agent_nb
    import marimo as mo
    return agent_nb, mo

@app.cell
async def _(agent_nb):
    {before}
    run, view = await agent_nb.marimo.agent({call}, model="demo:")
    return run, view

@app.cell
def _(mo, run, view):
    _how = "replayed" if "replayed" in run.settings else "asked"
    mo.md(f"RESULT {{run.reason}}, {{_how}}, {{view.value}}, {after}")
    return
"""
HERO = '"A landing page for a bakery in Lyon", name="hero"'


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


def write_notebook(folder: Path, call: str, *, before: str = "", after: str = "") -> Path:
    notebook = folder / "notebook.py"
    notebook.write_text(NOTEBOOK.format(call=call, before=before, after=after))
    return notebook


@contextmanager
def opened(chromium: Browser, notebook: Path, mode: str = "edit") -> Iterator[Page]:
    with start_marimo(notebook, mode) as url:
        page = chromium.new_page(viewport={"width": 1400, "height": 1300})
        page.goto(url)
        try:
            yield page
        finally:
            page.close()


def phase(page: Page) -> Locator:
    return page.locator(".anb-frame .phase").first


def result(page: Page) -> Locator:
    return page.locator(".markdown", has_text="RESULT").first


def heading(page: Page) -> Locator:
    """Of the page in the live preview."""
    return page.frame_locator(".anb-page iframe").first.frame_locator("iframe").locator("h1")


def run_again(page: Page) -> None:
    page.locator(".cm-content").nth(1).click()
    page.keyboard.press("Control+Enter")


def test_a_run_streams_and_is_interrupted(chromium, tmp_path):
    notebook = write_notebook(tmp_path, f"{HERO}, pace=5")
    with opened(chromium, notebook) as page:
        expect(phase(page)).to_have_text("writing index.html")
        expect(result(page)).to_have_count(0)
        expect(heading(page)).to_contain_text("Bread worth")  # the page grows in the preview
        page.get_by_test_id("interrupt-button").click()
        expect(phase(page)).to_have_text("stopped")
        run_again(page)
        expect(phase(page)).to_have_text("writing index.html")  # what was stopped is not played
        assert not (tmp_path / "__marimo__" / "agent_nb").exists()


def test_an_approval_is_answered_the_cell_plays_again_and_an_element_is_pointed_at(chromium, tmp_path):
    tool = "opening_hours = agent_nb.tool(name='opening_hours', approval='ask')(lambda: '7 to 19')"
    call = '"Use opening_hours", name="ask", pace=0.1, tools=[opening_hours]'
    notebook = write_notebook(tmp_path, call, before=tool, after="{run.tool_uses[0].result.text}")
    with opened(chromium, notebook) as page:
        answer = page.get_by_test_id("console-input")
        answer.fill("yes")
        answer.press("Enter")
        expect(result(page)).to_contain_text("RESULT end_turn, asked")
        expect(result(page)).to_contain_text("7 to 19")
        run_again(page)
        expect(result(page)).to_contain_text("RESULT end_turn, replayed")
        page.reload()
        expect(phase(page)).to_have_text("done")
        page.get_by_role("button", name="Point at an element").click()
        expect(page.get_by_role("application", name="Point at an element")).to_be_focused()
        box = heading(page).bounding_box()
        page.mouse.move(box["x"] + 9, box["y"] + 9)
        page.mouse.move(box["x"] + 10, box["y"] + 10)
        expect(page.locator(".anb-outline")).to_contain_text("h1")
        page.mouse.click(box["x"] + 10, box["y"] + 10)
        expect(result(page)).to_contain_text("h1', 'file': 'index.html'}]}")


def test_a_cell_depends_on_the_picked_variant(chromium, tmp_path):
    notebook = write_notebook(tmp_path, f"{HERO}, pace=0.1, variants=2", after="shown {view.run.variant + 1}")
    with opened(chromium, notebook) as page:
        expect(result(page)).to_contain_text("'variant': 1, 'selection': []}, shown 1")
        page.get_by_role("button", name="Pick Variant 2").first.click()
        expect(result(page)).to_contain_text("'variant': 2, 'selection': []}, shown 2")
        expect(page.get_by_text('hero.pick(2).files["index.html"]').first).to_be_visible()


def test_an_app_and_an_export_show_the_result(chromium, tmp_path):
    notebook = write_notebook(tmp_path, f"{HERO}, pace=0.1")
    with opened(chromium, notebook, "run") as page:
        expect(result(page)).to_contain_text("RESULT end_turn, asked")
        expect(phase(page)).to_have_text("done")
    page = chromium.new_page()
    page.route(re.compile("^https:"), serve_front_end)
    page.goto(export(notebook, tmp_path).as_uri())
    expect(result(page)).to_contain_text("RESULT end_turn, replayed")
    stage = page.locator("[data-anb-run] .anb-stage")
    expect(stage.frame_locator("iframe").frame_locator("iframe").locator("h1")).to_contain_text("Bread worth")
    page.close()


def test_the_lesson_runs_as_a_script_and_is_exported(tmp_path):
    lesson = Path(shutil.copy(LESSON, tmp_path))
    environment = marimo_environment(tmp_path)
    subprocess.run([sys.executable, lesson], env=environment, cwd=tmp_path, check=True, timeout=120)
    assert len(list((tmp_path / "__marimo__" / "agent_nb").glob("*.jsonl"))) == 3
    html = export(lesson, tmp_path).read_text()
    assert "Variant 1 of 3" in html
    assert "data-anb-run" in html


def export(notebook: Path, folder: Path) -> Path:
    target = folder / "notebook.html"
    command = [sys.executable, "-m", "marimo", "-y", "-q", "export", "html", notebook, "-o", target, "-f"]
    subprocess.run(command, env=marimo_environment(folder), cwd=folder, check=True, timeout=120)
    return target


def serve_front_end(route: Route) -> None:
    """What an exported notebook loads from a CDN."""
    import marimo

    file = (
        Path(marimo.__file__).parent / "_static" / route.request.url.partition("?")[0].rpartition("/dist/")[2]
    )
    if not file.is_file():
        route.abort()
        return
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    route.fulfill(path=file, headers={"access-control-allow-origin": "*", "content-type": kind})


BOUND = """
import marimo
app = marimo.App()

@app.cell
async def _():
    import agent_nb.marimo
    import marimo as mo
    reviews = [{"id": 17, "text": "Warm bread"}, {"id": 18, "text": "A long wait"}]
    def score(text: str) -> int:
        return len(text)
    bind = {"reviews": reviews, "labels": None, "score": score}
    run = await agent_nb.Agent(agent_nb.model("demo:", pace=0), bind=bind).run("Label them.")
    page = mo.ui.anywidget(run.page)
    button = mo.ui.run_button(label="Read")
    return button, mo, page, run

@app.cell
def _(button, mo, page):
    mo.vstack([page, button])
    return

@app.cell
def _(button, mo, run):
    mo.md(f"RESULT {run.page.labels if button.value else ''}")
    return
"""
