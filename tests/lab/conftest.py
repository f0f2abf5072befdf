"""Fixtures for the tests in a real JupyterLab.

There is one server, one browser and one page for all of them: JupyterLab takes 8 s of work to load, and several
more to start. `page` is for one test, `lab_pages.lend(request)` for the tests of a module.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page

from tests.support.lab import PATIENCE, Lab, close_notebooks, keep_screenshot, open_browser, start_lab
from tests.support.widget_stage import CHROMIUM
from tests.support.wire import WireServer

VIEWPORT = {"width": 1280, "height": 900}


class LabPages:
    """Lends out a page that has JupyterLab loaded as soon as one test has opened a notebook in it."""

    def __init__(self, chromium: Browser, lab: Lab) -> None:
        self._chromium, self._lab = chromium, lab
        self._free: list[Page] = []

    @contextmanager
    def lend(self, request: pytest.FixtureRequest) -> Iterator[Page]:
        page = self._free.pop() if self._free else self._chromium.new_context(viewport=VIEWPORT).new_page()
        page.context.set_default_timeout(PATIENCE)
        failures = request.session.testsfailed
        yield page
        keep_screenshot(page, request.node.name.replace("/", "-"))
        if request.session.testsfailed > failures:
            page.context.close()
            return
        for other in page.context.pages:
            if other is not page:
                other.close()
        page.unroute_all()
        page.context.unroute_all()
        close_notebooks(page, self._lab)
        page.set_viewport_size(VIEWPORT)
        self._free.append(page)


@pytest.fixture(scope="package")
def vendor() -> Iterator[WireServer]:
    with WireServer.in_thread() as server:
        yield server


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory, vendor: WireServer) -> Iterator[Lab]:
    with start_lab(tmp_path_factory.mktemp("lab"), environment=vendor.as_openai()) as lab:
        yield lab


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium")
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="package")
def lab_pages(chromium: Browser, lab: Lab) -> LabPages:
    return LabPages(chromium, lab)


@pytest.fixture
def page(lab_pages: LabPages, vendor: WireServer, request: pytest.FixtureRequest) -> Iterator[Page]:
    vendor.forget()
    with lab_pages.lend(request) as page:
        yield page
