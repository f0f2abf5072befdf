"""The site that needs no other host: built, served from this machine, and its lessons in Chromium's own Python."""

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import BrowserContext, Locator, Page, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from tests.support import ROOT
from tests.support.browser import CHROMIUM
from tests.support.lab import PATIENCE, keep_screenshot, wait_for_kernel

SITE_PYTHON = ROOT / ".venv-site" / "bin" / "python"
START = 400_000
"""Milliseconds for Python to start in the browser: 25 s alone, minutes on a machine that does other things."""

_RUN = """(command) => {
  window.ended = false;
  window.jupyterapp.commands.execute(command).finally(() => { window.ended = true; });
}"""
_CELLS = (
    "() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells.map((cell) => cell.toJSON())"
)
_RUNNING = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .filter((cell) => cell.model.executionState === "running")
  .map((cell) => cell.model.sharedModel.getSource())"""
# JupyterLab draws only the cells in sight, and has gone to the last one.
_SHOW_CELL = """async (source) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  const index = notebook.widgets.findIndex((cell) => cell.model.sharedModel.getSource().startsWith(source));
  await notebook.scrollToItem(index, "start");
}"""
_ADD_CELL = """async (source) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = notebook.widgets.length - 1;
  await window.jupyterapp.commands.execute("notebook:insert-cell-below");
  notebook.activeCell.model.sharedModel.setSource(source);
  await notebook.scrollToItem(notebook.activeCellIndex, "start");
}"""


class _Files(SimpleHTTPRequestHandler):
    """Serves a folder, except files whose name ends with `without`."""

    def __init__(self, *given: object, without: str, **more: object) -> None:
        self.without = without
        super().__init__(*given, **more)

    def send_head(self):
        if self.without and self.path.endswith(self.without):
            return self.send_error(404)
        return super().send_head()

    def log_message(self, *_: object) -> None:
        pass


class _Proxy(BaseHTTPRequestHandler):
    """The proxy for Chromium's requests to other machines. It notes the address and answers nothing."""

    def do_GET(self) -> None:
        self.server.addresses.append(self.path)
        self.send_error(502)

    do_CONNECT = do_POST = do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def _serving(handler: type) -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.addresses = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def build_site(folder: Path) -> None:
    """Builds the site, and lets tests use JupyterLab's commands in it."""
    command = [SITE_PYTHON, "-m", "docs.scripts.site", "--offline", "--output", folder]
    subprocess.run(command, cwd=ROOT, check=True, timeout=600)
    settings = folder / "lite" / "jupyter-lite.json"
    read = json.loads(settings.read_text(encoding="utf-8"))
    read["jupyter-config-data"]["exposeAppInBrowser"] = True
    settings.write_text(json.dumps(read), encoding="utf-8")


@contextmanager
def serve_site(folder: Path, *, without: str = "") -> Iterator[str]:
    handler = partial(_Files, directory=folder, without=without)
    with _serving(handler) as server:
        yield f"http://127.0.0.1:{server.server_port}"


@contextmanager
def open_watched(*options: str) -> Iterator[tuple[BrowserContext, list[str]]]:
    """A window of Chromium, and the addresses on other machines that its pages have asked for and not reached.

    The proxy is the window's own, because Chromium asks for updates; it would also look up text fields.
    """
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    arguments += ["--disable-features=AutofillServerCommunication", *options]
    with _serving(_Proxy) as elsewhere, sync_playwright() as playwright:
        proxy = {"server": f"http://127.0.0.1:{elsewhere.server_port}", "bypass": "127.0.0.1"}
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            window = browser.new_context(viewport={"width": 1280, "height": 900}, proxy=proxy)
            yield window, elsewhere.addresses
        finally:
            browser.close()


class LiveNotebook:
    """A lesson that is open in JupyterLite. Every wait has an end."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.set_default_timeout(PATIENCE)

    def wait(self) -> None:
        """Until the lesson is shown and its Python is idle."""
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        wait_for_kernel(self.page, START)

    def run_all(self) -> None:
        self.page.evaluate(_RUN, "notebook:run-all-cells")

    def add(self, source: str) -> Locator:
        """Starts a new cell at the end of the notebook."""
        self.page.evaluate(_ADD_CELL, source)
        self.page.evaluate(_RUN, "notebook:run-cell")
        return self.cell(source.splitlines()[0])

    def cell(self, source: str) -> Locator:
        """The cell that begins so, scrolled into sight."""
        self.page.evaluate(_SHOW_CELL, source)
        return self.page.locator(
            ".jp-CodeCell", has=self.page.locator(".jp-InputArea", has_text=source)
        ).first

    def outputs(self) -> dict[str, list[dict]]:
        """What the code cells have put out, by their sources, when what was started last has ended."""
        try:
            self.page.wait_for_function("() => window.ended", timeout=START)
        except PlaywrightTimeoutError:
            keep_screenshot(self.page, "site-stuck")
            raise AssertionError(f"These cells do not end: {self.page.evaluate(_RUNNING)}") from None
        return {
            cell["source"]: cell["outputs"]
            for cell in self.page.evaluate(_CELLS)
            if cell["cell_type"] == "code"
        }

    def result(self, source: str) -> str:
        """What a new cell shows as text."""
        self.add(source)
        found = self.outputs()[source]
        return "\n".join(each.get("text") or each["data"]["text/plain"] for each in found)
