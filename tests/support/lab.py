"""A real JupyterLab (and Notebook 7) for browser tests: on loopback, with its own settings, ended by its id.

    with start_lab(tmp_path) as lab, open_browser() as browser:
        page = browser.new_page()
        open_notebook(page, lab, "demo.ipynb")
        run_all(page)

Playwright's sync API holds the thread's event loop while it is open, so no async test can run meanwhile: give
fixtures that hold a browser `scope="module"` at most, or `scope="package"` where no test is async.
"""

import json
import os
import secrets
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import nbformat
from nbformat.sign import NotebookNotary
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.support import ROOT, waiting
from tests.support.browser import CHROMIUM
from tests.support.kernels import quiet_environment
from tests.support.processes import end, hold_port

App = Literal["lab", "notebook"]

SHOTS = ROOT / "test-results"
LOAD = (
    "%load_ext agent_nb\n__import__('agent_nb.notebook.live.live_run', fromlist=['PATIENCE']).PATIENCE = 300"
)
"""On a slow machine a page may be late; the kernel would ask and look without it after 5 seconds."""
MODEL = "-m openai:gpt-6.1-sol"
"""Answered by the vendor of `tests/lab/conftest.py`, as it was planned."""

DEMO = '%config AgentMagics.model = "demo:"'
SOURCES = """() => [...window.jupyterapp.shell.currentWidget.context.model.sharedModel.cells]
    .map(({ source }) => source)"""
COUNTED = SOURCES.replace("({ source }) => source", "(cell) => [cell.source, cell.execution_count]")
"""The cells of the notebook in front, with and without their execution counts."""
COMMAND = "(name) => window.jupyterapp.commands.execute(name)"

PATIENCE = 1000 * waiting.PATIENCE
expect.set_options(timeout=PATIENCE)

# What Lab would otherwise show over a test: news, update notices, autosave in the middle of a reload.
_QUIET: dict[str, dict[str, Any]] = {
    "apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "apputils-extension/themes": {"theme": "JupyterLab Light"},
    "docmanager-extension/plugin": {"autosave": False},
    "extensionmanager-extension/plugin": {"enabled": False},
}
_OPTIONS = (
    "--no-browser",
    "--allow-root",
    "--ServerApp.port_retries=0",
    "--ServerApp.terminals_enabled=False",
    "--ServerApp.jpserver_extensions={'jupyter_lsp': False, 'notebook': True}",
    "--LabApp.expose_app_in_browser=True",
    "--JupyterNotebookApp.expose_app_in_browser=True",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)

# The toolbar says "idle" before there is a session, and running a cell then opens the dialog "Select Kernel".
_KERNEL_IS_IDLE = """() => {
  const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
  return context?.isReady && context.session?.kernel?.connectionStatus === "connected"
    && context.session.kernel.status === "idle";
}"""

_OPEN = """async (path) => {
  const { shell, commands } = window.jupyterapp;
  for (const widget of [...shell.widgets("main")]) if (widget.context) widget.dispose();
  await commands.execute("docmanager:open", { path });
}"""

# Kernels are shut down after their notebooks are gone, so that the live interface of a run says nothing about it.
_CLOSE_ALL = """async () => {
  const { shell, serviceManager } = window.jupyterapp;
  for (const widget of [...shell.widgets("main")]) if (widget.context) widget.dispose();
  await serviceManager.sessions.shutdownAll();
  // A kernel that died has a dialog that would stand in the way of the next one.
  document.querySelectorAll(".jp-Dialog .jp-mod-accept").forEach((button) => button.click());
  shell.expandLeft();
  Object.keys(localStorage).filter((key) => key.startsWith("agent_nb")).forEach((key) => localStorage.removeItem(key));
}"""


class Lab(NamedTuple):
    """A running server. `home` holds its settings and signatures, `root` the notebooks."""

    url: str
    token: str
    process: "subprocess.Popen[bytes]"
    root: Path
    home: Path

    def trust(self, path: str) -> None:
        """Trusts a notebook, and equal ones, as "Trust Notebook" does: saved outputs are shown unsanitised."""
        notebook = nbformat.read(self.root / path, as_version=4)
        NotebookNotary(data_dir=str(self.home / "data")).sign(notebook)


@contextmanager
def start_lab(
    root: Path, *, environment: dict[str, str] | None = None, disabled: Sequence[str] = ()
) -> Iterator[Lab]:
    """Serves the notebooks below `root`. Kernels see this process's environment without keys, and `environment`.

    `disabled` are extensions of the page, as `jupyter labextension disable` takes them.
    """
    home = root / ".lab-home"
    log = home / "server.log"
    for folder in ("config", "data", "runtime", "settings", "workspaces", "ipython"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    extensions = home / "data" / "labextensions"
    extensions.mkdir(exist_ok=True)
    (extensions / "agent-nb").symlink_to(ROOT / "agent_nb" / "static" / "lab")
    for plugin, setting in _QUIET.items():
        _write_setting(home, plugin, setting)
    page_config = home / "config" / "labconfig" / "page_config.json"
    page_config.parent.mkdir()
    page_config.write_text(json.dumps({"disabledExtensions": dict.fromkeys(disabled, True)}))
    token = secrets.token_hex(8)
    command = [sys.executable, "-m", "jupyterlab", *_OPTIONS, f"--ServerApp.root_dir={root}"]
    command += [f"--IdentityProvider.token={token}", "--ServerApp.ip=127.0.0.1"]
    with hold_port() as port:
        with log.open("wb") as sink:
            process = subprocess.Popen(
                [*command, f"--ServerApp.port={port}"],
                env=quiet_environment(home) | _directories(home) | (environment or {}),
                cwd=root,
                stdout=sink,
                stderr=subprocess.STDOUT,
            )
        lab = Lab(f"http://127.0.0.1:{port}", token, process, root, home)
        try:
            _wait_until_ready(lab, log)
            yield lab
        finally:
            end(process)


@contextmanager
def open_browser(*, scrollbars: bool = False) -> Iterator[Browser]:
    """Chromium, headless; with `scrollbars` they take up space, as they do for most people."""
    options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=options,
            ignore_default_args=["--hide-scrollbars"] if scrollbars else None,
        )
        try:
            yield browser
        finally:
            browser.close()


def open_notebook(page: Page, lab: Lab, path: str, app: App = "lab") -> None:
    """Opens a notebook and waits until its cells are drawn. No kernel is awaited: see `wait_for_kernel`.

    A page that shows JupyterLab keeps it, and has only this notebook open afterwards.
    """
    if app == "lab" and shows_lab(page, lab):
        page.evaluate(_OPEN, path)
    else:
        place = f"lab/tree/{path}?reset&" if app == "lab" else f"notebooks/{path}?"
        page.goto(f"{lab.url}/{place}token={lab.token}")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=PATIENCE)


def run_notebook(page: Page, lab: Lab, name: str, *cells: str, app: App = "lab") -> None:
    """Writes a notebook of these cells, opens it and starts them all."""
    write_notebook(lab.root / f"{name}.ipynb", *cells)
    open_notebook(page, lab, f"{name}.ipynb", app)
    run_all(page)


def shows_lab(page: Page, lab: Lab) -> bool:
    return page.url.startswith(f"{lab.url}/lab")


def close_notebooks(page: Page, lab: Lab) -> None:
    """Leaves JupyterLab as it was when it had been loaded; a page that shows something else is left empty."""
    if shows_lab(page, lab):
        page.evaluate(_CLOSE_ALL)
    else:
        page.goto("about:blank")


def wait_for_kernel(page: Page, patience: int = PATIENCE) -> None:
    """Until the notebook in front is connected to an idle kernel."""
    page.wait_for_function(_KERNEL_IS_IDLE, timeout=patience)


def run_all(page: Page) -> None:
    """Starts every cell of the notebook in front; it does not wait for them."""
    wait_for_kernel(page)
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells') }")


def keep_screenshot(page: Page, name: str) -> None:
    """Saves a picture of the page below `test-results/` when a test has ended, if SCREENSHOTS is set."""
    if os.environ.get("SCREENSHOTS"):
        page.screenshot(path=SHOTS / f"{name}.png")  # it makes the folder


def save(page: Page) -> None:
    """Saves the notebook in front until it is saved: an output that comes meanwhile makes it dirty again."""
    for _ in range(20):
        page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        page.wait_for_timeout(250)
        if not page.evaluate("() => window.jupyterapp.shell.currentWidget.context.model.dirty"):
            return
    raise AssertionError("the notebook stayed dirty")


def write_notebook(path: Path, *cells: tuple[str, list[dict[str, Any]]] | str) -> None:
    """A notebook of code cells: a source each, or a source with its saved outputs (mime bundles)."""
    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for number, cell in enumerate(cells):
        source, bundles = (cell, []) if isinstance(cell, str) else cell
        made = nbformat.v4.new_code_cell(source, id=f"cell-{number}")
        made.outputs = [nbformat.v4.new_output("display_data", data=bundle) for bundle in bundles]
        made.execution_count = number + 1 if bundles else None
        notebook.cells.append(made)
    nbformat.write(notebook, path)


def _directories(home: Path) -> dict[str, str]:
    return {
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_PLATFORM_DIRS": "1",
    }


def _write_setting(home: Path, plugin: str, setting: dict[str, Any]) -> None:
    target = home / "settings" / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(setting))


def _wait_until_ready(lab: Lab, log: Path, seconds: float = waiting.PATIENCE) -> None:
    request = urllib.request.Request(f"{lab.url}/api/status", headers={"Authorization": f"token {lab.token}"})
    # A proxy from the environment must not be asked about loopback.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and lab.process.poll() is None:
        try:
            with opener.open(request, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(errors='replace')[-3000:]}")
