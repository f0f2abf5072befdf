"""The room that the widget takes on the page, with scrollbars as people see them."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.widget_stage import CHROMIUM, FLAGS, Stage, needs_browser, wrote

pytest_plugins = ["tests.support.widget_stage"]
pytestmark = needs_browser
SECONDS = 1000
PAGE = "<!doctype html>\n<h1>Hello</h1>\n<p>Here.</p>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS, ignore_default_args=["--hide-scrollbars"]
        )
        yield browser
        browser.close()


def overflow(stage: Stage) -> list[int]:
    """By how many pixels the widget exceeds its output, which scrolls as in JupyterLab."""
    pixels: list[int] = stage.page.evaluate(
        """() => {
            const cell = document.querySelector('#cell');
            cell.style.cssText += 'overflow: auto; position: relative';
            return [cell.scrollWidth - cell.clientWidth, cell.scrollHeight - cell.clientHeight];
        }"""
    )
    return pixels


def test_output_needs_no_scrollbar(stage: Stage):
    stage.play(wrote("index.html", PAGE))
    stage.preview.get_by_text("Here.").wait_for(timeout=10 * SECONDS)
    assert overflow(stage) == [0, 0]
