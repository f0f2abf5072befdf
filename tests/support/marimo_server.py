"""A real marimo for browser tests: on loopback, with its own settings, ended by its id."""

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.kernels import quiet_environment
from tests.support.processes import end, hold_port

SETTINGS = "[tool.marimo.runtime]\nauto_instantiate = true\n"
"""A notebook that is opened runs all its cells."""
PATIENCE = 60


@contextmanager
def start_marimo(notebook: Path, mode: str = "edit") -> Iterator[str]:
    """Serves a notebook in `edit` or `run` mode; gives its address."""
    (notebook.parent / "pyproject.toml").write_text(SETTINGS)
    options = ["--headless", "--no-token", "--host", "127.0.0.1"]
    options += ["--skip-update-check"] if mode == "edit" else []
    with hold_port() as port:
        process = subprocess.Popen(
            [sys.executable, "-m", "marimo", "-y", "-q", mode, notebook.name, *options, "--port", str(port)],
            env=marimo_environment(notebook.parent),
            cwd=notebook.parent,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_until_ready(process, f"http://127.0.0.1:{port}")
            yield f"http://127.0.0.1:{port}"
        finally:
            end(process)


def marimo_environment(folder: Path) -> dict[str, str]:
    """The environment without anybody's keys and settings, marimo's included."""
    return quiet_environment(folder, XDG_CONFIG_HOME=str(folder / ".config"))


def _wait_until_ready(process: "subprocess.Popen[bytes]", url: str) -> None:
    # A proxy from the environment must not be asked about loopback.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with opener.open(f"{url}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("marimo did not start")
