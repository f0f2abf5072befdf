"""The page of all states (js/dev/states.html): no text is covered or cut, and nothing is wider than its box."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.widget_stage import PATIENCE, DevServer

pytestmark = pytest.mark.wide

UNFOLD = """() => {
    for (const run of document.querySelectorAll('[data-anb-run]'))
        run.shadowRoot.querySelector('.anb-body.folded .anb-fold')?.click();
    return new Promise(resolve => setTimeout(resolve, 300));
}"""


@pytest.fixture(scope="module")
def page(browser: Any, server: DevServer) -> Iterator[Any]:
    page = browser.new_page()
    page.emulate_media(reduced_motion="reduce")
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server.address}/states.html")
    page.evaluate("window.ready")
    yield page
    page.close()


@pytest.mark.parametrize(
    ("width", "theme"), [(420, "dark"), (1400, "light"), (1400, "dark"), (700, "light"), (420, "light")]
)
def test_no_text_is_covered_or_cut(page: Any, width: int, theme: str):
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("dark => document.documentElement.classList.toggle('dark', dark)", theme == "dark")
    page.evaluate(UNFOLD)
    assert page.evaluate("findings()") == []


RING = """() => {
    const { shadowRoot } = document.querySelector('[data-anb-run="a retry"]');
    shadowRoot.querySelector('.anb-ring').style.marginRight = '-42px';
}"""


def test_a_ring_over_the_message_is_found(page: Any):
    page.set_viewport_size({"width": 1400, "height": 900})
    page.evaluate(RING)
    assert any(found.startswith("a retry: overlap") for found in page.evaluate("findings('a retry')"))


def code_of(page: Any) -> Any:
    return page.locator('[data-anb-run="code"]').locator(".anb-lines")


def test_the_end_of_a_long_line_can_be_reached_or_wrapped(page: Any):
    code = code_of(page)
    code.scroll_into_view_if_needed()
    page.evaluate("() => new Promise(resolve => setTimeout(resolve, 300))")
    reached = code.evaluate(
        """node => {
            node.scrollLeft = 1e6;
            const range = document.createRange();
            range.selectNodeContents(node.querySelector('.anb-block > span'));
            return range.getBoundingClientRect().right <= node.getBoundingClientRect().right;
        }"""
    )
    assert reached
    page.locator('[data-anb-run="code"]').get_by_role("button", name="Wrap long lines").click()
    code.locator("xpath=ancestor::section[contains(@class, 'wrap')]").wait_for()
    assert code.evaluate("node => node.scrollWidth <= node.clientWidth")
