"""Fixtures for tests in a real JupyterLab: a vendor on loopback, a server whose kernels know it, a browser, a page.

pytest_plugins = ["tests.support.lab_fixtures"]
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.support.lab import Lab, open_browser, start_lab
from tests.support.wire import WireServer


@pytest.fixture(scope="module")
def vendor() -> Iterator[WireServer]:
    with WireServer.in_thread() as server:
        yield server


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, vendor: WireServer) -> Iterator[Lab]:
    environment = {"ANTHROPIC_API_KEY": "sk-ant-test-key", "ANTHROPIC_BASE_URL": vendor.base_url("anthropic")}
    with start_lab(tmp_path_factory.mktemp("lab"), environment=environment) as lab:
        yield lab


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def page(chromium: Browser, vendor: WireServer) -> Iterator[Page]:
    """A page of its own for each test: what the one before left behind would run in its place."""
    vendor.forget()
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()
