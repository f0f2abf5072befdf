"""A vendor's server and a kernel that uses it, one of each for a module."""

from collections.abc import Callable, Generator, Iterator

import pytest

from tests.support.kernels import Kernel, start_kernel
from tests.support.live_page import Page
from tests.support.wire import Call, Say, WireServer, reply


@pytest.fixture(scope="module")
def server() -> Iterator[WireServer]:
    with WireServer.in_thread() as server:
        yield server


@pytest.fixture(scope="module")
def vendor(server: WireServer) -> dict[str, str]:
    """The environment of a kernel whose OpenAI is that server."""
    return server.as_openai()


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory, vendor: dict[str, str]) -> Iterator[Kernel]:
    with start_kernel(tmp_path_factory.mktemp("kernel"), **vendor) as kernel:
        yield kernel


@pytest.fixture(scope="module")
def page(kernel: Kernel) -> Page:
    return Page(kernel)


@pytest.fixture
def start_codes(page: Page, server: WireServer) -> Callable[..., str]:
    """Starts a cell whose model calls `run_python` with each code."""

    def start(cell: str, *codes: str) -> str:
        server.forget()
        calls = [reply(Call("run_python", {"code": code}, id=f"c{n}")) for n, code in enumerate(codes)]
        server.plan(*calls, reply(Say("Done.")))
        return page.start(cell)

    return start


@pytest.fixture
def run_codes(page: Page, start_codes: Callable[..., str]) -> Callable[..., None]:
    """The same, and waits for the end of the cell."""
    return lambda cell, *codes: page.finish(start_codes(cell, *codes))


@pytest.fixture(scope="module")
def patient(kernel: Kernel) -> None:
    """What is not read in time is not compared, and this machine may be busy."""
    kernel.run("from agent_nb.notebook.kernel_tools import in_place; in_place.SECONDS = 60")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Restarts the kernel of a test that failed: what is left running there would hold up the tests after it."""
    report = yield
    if call.when == "call" and report.failed:
        used = getattr(item, "funcargs", {}).values()
        for kernel in {
            each.kernel if isinstance(each, Page) else each
            for each in used
            if isinstance(each, Page | Kernel)
        }:
            kernel.restart()
    return report
