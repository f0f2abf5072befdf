"""The site that needs no other host: built, served from this machine, and a lesson run in Chromium's own Python."""

import json
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect, sync_playwright

from tests.support import ROOT
from tests.support.lab import keep_screenshot, needs_chromium, wait_for_kernel

SITE_PYTHON = ROOT / ".venv-site" / "bin" / "python"
START = 400_000
"""Milliseconds for Python to start in the browser: 25 s alone, minutes on a machine that does other things."""

TEAS = "A one-page menu for a tea house in Kyoto: five teas with prices, quiet colours."

pytestmark = [
    pytest.mark.hosts,
    needs_chromium,
    pytest.mark.skipif(not SITE_PYTHON.exists(), reason="needs the environment that `make site` makes"),
]

_RUN_ALL = "() => { window.finished = window.jupyterapp.commands.execute('notebook:run-all-cells') }"
_CELLS = """async () => {
  await window.finished;
  return window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells.map((cell) => cell.toJSON());
}"""
# JupyterLab draws only the cells in sight, and has gone to the last one.
_SHOW_CELL = """async (source) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  const index = notebook.widgets.findIndex((cell) => cell.model.sharedModel.getSource().startsWith(source));
  await notebook.scrollToItem(index, "start");
}"""
_ADD_CELL = """async (source) => {
  const { commands, shell } = window.jupyterapp;
  const notebook = shell.currentWidget.content;
  notebook.activeCellIndex = notebook.widgets.length - 1;
  await commands.execute("notebook:insert-cell-below");
  notebook.activeCell.model.sharedModel.setSource(source);
  window.finished = commands.execute("notebook:run-cell");
  await notebook.scrollToItem(notebook.activeCellIndex, "start");
}"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class _Proxy(BaseHTTPRequestHandler):
    """Where Chromium sends what is not for this machine. It notes the address and answers nothing."""

    def do_GET(self) -> None:
        self.server.addresses.append(self.path)
        self.send_error(502)

    do_CONNECT = do_POST = do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


def serve(handler: type) -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.addresses = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[ThreadingHTTPServer]:
    yield from serve(_Proxy)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("site") / "built"
    subprocess.run(
        [SITE_PYTHON, "-m", "docs.scripts.site", "--offline", "--output", folder], cwd=ROOT, check=True
    )
    # So that a test can use JupyterLab's commands.
    settings = folder / "lite" / "jupyter-lite.json"
    read = json.loads(settings.read_text(encoding="utf-8"))
    read["jupyter-config-data"]["exposeAppInBrowser"] = True
    settings.write_text(json.dumps(read), encoding="utf-8")
    for server in serve(partial(_Quiet, directory=folder)):
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.fixture(scope="module")
def page(elsewhere) -> Iterator[Page]:
    proxy = {"server": f"http://127.0.0.1:{elsewhere.server_port}", "bypass": "127.0.0.1"}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
            proxy=proxy,
        )
        yield browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        browser.close()


def cell(page: Page, source: str) -> Locator:
    """The cell that begins so, scrolled into sight."""
    page.evaluate(_SHOW_CELL, source)
    return page.locator(".jp-CodeCell", has=page.locator(".jp-InputArea", has_text=source)).first


def outputs(page: Page) -> dict[str, list[dict]]:
    """What the code cells have put out, by their sources, when what was started last has ended."""
    return {cell["source"]: cell["outputs"] for cell in page.evaluate(_CELLS) if cell["cell_type"] == "code"}


def add_cell(page: Page, source: str) -> Locator:
    """Runs a new cell at the end of the notebook."""
    page.evaluate(_ADD_CELL, source)
    return cell(page, source.splitlines()[0])


def phase(run: Locator, text: str) -> None:
    expect(run.locator(".anb-status .phase")).to_contain_text(text)


def shown_page(run: Locator):
    return run.frame_locator(".anb-page iframe").first.frame_locator("iframe")


def test_lesson_one_runs_with_no_other_host(page, site, elsewhere):
    page.goto(f"{site}/notebooks/01_first_run.html")
    page.get_by_role("link", name="Open it live").click()
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    wait_for_kernel(page, START)
    page.evaluate(_RUN_ALL)

    hero = cell(page, "%%agent hero")
    expect(hero.locator(".anb-status .phase")).to_contain_text("writing index.html", timeout=START)
    expect(shown_page(hero).locator("h1")).to_be_visible()
    keep_screenshot(page, "site-streaming")
    phase(hero, "done")
    keep_screenshot(page, "site-done")
    ran = outputs(page)
    assert [each for found in ran.values() for each in found if each["output_type"] == "error"] == []
    files = ran["hero.reason, list(hero.files), len(hero.html)"][0]["data"]["text/plain"]
    assert files.startswith("('end_turn', ['index.html'], ")

    replayed = add_cell(page, f"%%agent by_claude -m anthropic:claude-opus-5-5\n{TEAS}")
    phase(replayed, "done")
    expect(replayed.locator(".anb-status")).to_contain_text("replayed")
    expect(shown_page(replayed).locator("h1")).to_be_visible()
    outputs(page)

    stopped = add_cell(page, "%%agent slow -m demo: --pace 20\nA landing page for a bakery in Lyon.")
    stopped.get_by_role("button", name="Stop", exact=True).click()
    phase(stopped, "stopped")
    outputs(page)
    add_cell(page, "slow.reason")
    assert outputs(page)["slow.reason"][0]["data"]["text/plain"] == "'stopped'"

    assert elsewhere.addresses == []
