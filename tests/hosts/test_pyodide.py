"""agent_nb in Pyodide, the Python of JupyterLite, in Node and Chromium: runs, cassettes, tools, vendors by `fetch`."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.lite import START, open_watched, serve_site
from tests.support.wire import Call, Hold, Say, WireServer, reply

VENDORS = ("anthropic:", "openai:", "chat:local")
PYODIDE = Path("lite", "static", "pyodide")
SCRIPT = ROOT / "tests" / "support" / "in_pyodide.py"
IN_PAGE = """async ([folder, script, address]) => {
  const { loadPyodide } = await import(`${folder}/pyodide.mjs`);
  const python = await loadPyodide({ indexURL: folder, packages: ["agent-nb"] });
  python.runPython(script);
  return await python.globals.get("main")(address);
}"""
ASK_OPENAI = """from agent_nb import Agent, model

async def main(address):
    return (await Agent(model("openai:", api_key="none", base_url=address)).run("Hello?")).error
"""

pytestmark = pytest.mark.hosts
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="There is no Node.")


def in_node(site_folder: Path, address: str) -> str:
    script = ROOT / "tests" / "support" / "pyodide.mjs"
    command = ["node", script, site_folder / PYODIDE, ROOT, SCRIPT, address]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


def in_chromium(site_folder: Path, address: str, script: str = "", without: str = "") -> str:
    """In a page of another origin than the vendor's, which it reaches only as far as the vendor allows (CORS)."""
    with serve_site(site_folder, without=without) as site, open_watched() as (window, elsewhere):
        page = window.new_page()
        page.goto(f"{site}/index.html")
        script = script or SCRIPT.read_text(encoding="utf-8")
        given = [f"{site}/{PYODIDE.as_posix()}", script, address]
        found = page.wait_for_function(IN_PAGE, arg=given, timeout=3 * START).json_value()
        assert elsewhere == []
    return found


@pytest.mark.parametrize(
    ("place", "failure"),
    [pytest.param(in_node, "fetch failed", marks=needs_node), pytest.param(in_chromium, "Failed to fetch")],
)
def test_runs_in_pyodide(site_folder, place: Callable[[Path, str], str], failure: str) -> None:
    with WireServer.in_thread() as server:
        for _ in VENDORS:
            server.plan(
                reply(Call("double", {"number": 21})), reply(Say("It is 42.")), reply(Say("One"), Hold())
            )
        found = place(site_folder, f"http://127.0.0.1:{server.port}")
        requests = server.requests
    assert json.loads(found) == {
        "platform": "emscripten",
        "replayed": True,
        "variants": ["end_turn", "end_turn"],
        "map": ["end_turn", "end_turn"],
        **{name: ["end_turn", "It is 42.", "42", "stopped", "One"] for name in VENDORS},
        "nobody": f"The browser gets no answer from http://127.0.0.1:9/v1: {failure}. The server there must be "
        "running and allow requests from this page's origin (CORS).",
    }
    assert [request.closed.is_set() for request in requests[2::3]] == [True] * 3
    assert requests[0].headers["anthropic-dangerous-direct-browser-access"] == "true"
    assert not [name for request in requests for name in request.headers if name.startswith("x-stainless")]


def test_an_sdk_that_does_not_arrive(site_folder) -> None:
    wheel = next((site_folder / PYODIDE).glob("openai-*.whl")).name
    error = in_chromium(site_folder, "http://127.0.0.1:9/v1", ASK_OPENAI, without=wheel)
    assert error.startswith("The browser could not load the 'openai' package (")
    assert error.endswith("). Check the network, then run the cell again.")
