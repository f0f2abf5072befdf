"""agent_nb in Pyodide, the Python of JupyterLite, under Node: runs, cassettes, tools and vendors over `fetch`."""

import json
import shutil
import subprocess

import pytest

from tests.support import ROOT
from tests.support.wire import Call, Hold, Say, WireServer, reply

VENDORS = ("anthropic:", "openai:", "chat:local")

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(shutil.which("node") is None, reason="Pyodide runs under Node, and there is none."),
]


def test_runs_in_pyodide(site_folder) -> None:
    pyodide = site_folder / "lite" / "static" / "pyodide"
    script = [ROOT / "tests" / "support" / name for name in ("pyodide.mjs", "in_pyodide.py")]
    with WireServer.in_thread() as server:
        for _ in VENDORS:
            server.plan(
                reply(Call("double", {"number": 21})), reply(Say("It is 42.")), reply(Say("One"), Hold())
            )
        command = ["node", script[0], pyodide, ROOT, script[1], f"http://127.0.0.1:{server.port}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stderr
        requests = server.requests
    assert json.loads(done.stdout) == {
        "platform": "emscripten",
        "replayed": True,
        "variants": ["end_turn", "end_turn"],
        "map": ["end_turn", "end_turn"],
        **{name: ["end_turn", "It is 42.", "42", "stopped", "One"] for name in VENDORS},
        "nobody": "The browser gets no answer from http://127.0.0.1:9/v1: fetch failed. The server there must be "
        "running and allow requests from this page's origin (CORS).",
    }
    assert not done.stderr
    assert [request.closed.is_set() for request in requests[2::3]] == [True] * 3
    assert requests[0].headers["anthropic-dangerous-direct-browser-access"] == "true"
    assert not [name for request in requests for name in request.headers if name.startswith("x-stainless")]
