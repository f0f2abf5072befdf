"""What the tests find on the machine: a browser under any of its names, ports that nobody else takes."""

import socket
import subprocess
import sys

import pytest

from tests.support import ROOT
from tests.support.processes import hold_port

OWN = "from playwright.sync_api import sync_playwright as s\nwith s() as p: print(p.chromium.executable_path)"


def python(tmp_path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Runs Python where only programs of this folder are found."""
    environment = {"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "own")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome", "Playwright's own"])
def test_a_browser_is_found_by_any_of_its_names(tmp_path, name):
    find = ("-m", "tests.support.browser")
    missing = python(tmp_path, *find)
    assert (missing.returncode, missing.stdout) == (1, "There is no browser.\n"), missing.stderr
    is_own = name.startswith("Playwright")
    path = type(tmp_path)(python(tmp_path, "-c", OWN).stdout.strip()) if is_own else tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    found = python(tmp_path, *find)
    assert (found.returncode, found.stdout) == (0, f"{path}\n"), found.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a server bind a port that is held")
def test_a_held_port_is_for_the_server_that_names_it():
    with hold_port() as port, socket.socket() as other, socket.socket() as server:
        with pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
        server.listen()
        socket.create_connection(("127.0.0.1", port)).close()
