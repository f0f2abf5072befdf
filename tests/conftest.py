"""Settings for all tests: no key of the user who runs them is used, and `make test-wide` tries more examples."""

import gc
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.support.kernels import KEYS

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

    from tests.support.shells import Shell

gc.set_threshold(100_000, 50, 100)  # the default takes a sixth of the time of the tests

# Shells without job control start background programs with SIGINT ignored, and some tests interrupt themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("quick", max_examples=12, deadline=None)
settings.register_profile("wide", max_examples=300, deadline=None)
settings.register_profile("fuzz", max_examples=5_000, deadline=None)
settings.load_profile("quick")


SLOW_FIRST = ("agents", "hosts", "lab", "browser", "wide", "kernel", "faults", "unit")
"""Folders in the order they run, so that no worker ends with a long file alone."""

IN_A_BROWSER = ("lab", "browser")
"""Folders of tests in a real browser, which has its own time limits, as JupyterLab has for the answer of a kernel: on a
busy machine one is exceeded now and then. Only such a test is run once more, and the summary lists it as `RERUN`."""


def pytest_configure() -> None:
    """Outside agents refuse a folder below one that anyone can write to, and some temporary folders are."""
    place = Path(tempfile.gettempdir()).resolve()
    if any(folder.stat().st_mode & 0o1002 == 0o002 for folder in (place, *place.parents)):
        private = Path.home() / ".cache" / "agent_nb-tests"
        private.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.tempdir = os.environ["TMPDIR"] = str(private)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def folder(item: pytest.Item) -> str:
        return item.path.relative_to(Path(__file__).parent).parts[0]

    items.sort(key=lambda item: SLOW_FIRST.index(folder(item)))
    for item in items:
        if folder(item) == "wide":
            item.add_marker("wide")
        if folder(item) in IN_A_BROWSER:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "LoadScopeScheduling | None":
    """One worker runs a whole file, and one runs all of JupyterLab's, because its server and page are slow to start."""
    from xdist.scheduler import LoadFileScheduling

    if config.getoption("dist") != "loadfile":
        return None

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "tests/lab" if nodeid.startswith("tests/lab/") else super()._split_scope(nodeid)

    return ByFile(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says why a test was run once more, which pytest-rerunfailures does not."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"RERUN {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)


def pytest_unconfigure() -> None:
    """Spares the collector the objects of all tests: at exit it would walk them for longer than the tests took."""
    gc.freeze()


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that need a key set their own."""
    for name in list(os.environ):
        if name.startswith(KEYS):
            monkeypatch.delenv(name)


@pytest.fixture
def shell(tmp_path: Path) -> "Iterator[Shell]":
    """A plain IPython shell with the extension loaded, working in `tmp_path`."""
    from tests.support.shells import start_shell

    with start_shell(tmp_path) as shell:
        yield shell
