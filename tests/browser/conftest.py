"""One Chromium and one page for all tests of this folder: starting them takes longer than most of the tests."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.widget_stage import (
    DevServer,
    Stage,
    open_chromium,
    open_playwright,
    serve_page,
    skip_without_page,
    stage,
)

__all__ = ["browser", "playwright", "server", "stage", "used_stages"]


@pytest.fixture(scope="package")
def playwright() -> Iterator[Any]:
    skip_without_page()
    with open_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(playwright: Any) -> Iterator[Any]:
    with open_chromium(playwright) as browser:
        yield browser


@pytest.fixture(scope="package")
def server() -> Iterator[DevServer]:
    with serve_page() as server:
        yield server


@pytest.fixture(scope="package")
def used_stages() -> dict[Any, Stage]:
    return {}
