"""A page finds the same window in all forms: live, in a tab of its own and saved."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Error, Locator, expect

from agent_nb.pages.preview import frame_attributes
from tests.support.waiting import wait_until
from tests.support.widget_stage import Stage, wrote

pytestmark = pytest.mark.wide

USES = """<!doctype html><h1>Page</h1><p>waiting</p><script>
const said = [document.compatMode];
localStorage.setItem('a', 1);
said.push(localStorage.getItem('a'), sessionStorage.length, 'RTCPeerConnection' in window, self.origin);
history.pushState({ at: 'x' }, '', '/x');
history.back();
said.push(history.state.at);
document.querySelector('p').textContent = said.join(' ');
addEventListener('load', () => document.querySelector('h1').textContent = 'Loaded');
</script>"""


def live(stage: Stage, page: str) -> Any:
    stage.play(wrote("index.html", page))
    return stage.preview


def tab(stage: Stage, page: str) -> Any:
    live(stage, page).locator("h1").wait_for()
    with stage.page.context.expect_page() as opened:
        stage.widget.get_by_role("button", name="Open in new tab").first.click()
    stage.page = opened.value
    expect(stage.page.locator("iframe")).to_have_attribute("sandbox", "allow-scripts allow-forms")
    return stage.page.frame_locator("iframe")


def saved(stage: Stage, page: str) -> Any:
    stage.page.goto(f"{stage.server.address}/nowhere")
    stage.page.evaluate(
        "html => { document.body.innerHTML = html }", f"<iframe {frame_attributes(page)}></iframe>"
    )
    return stage.page.frame_locator("iframe").frame_locator("iframe")


FORMS = pytest.mark.parametrize("show", [live, tab, saved])


@FORMS
def test_the_window_is_the_same_in_every_form(stage: Stage, show: Callable[[Stage, str], Any]):
    page = show(stage, USES)
    page.get_by_role("heading", name="Loaded").wait_for()
    assert page.locator("p").inner_text() == "CSS1Compat 1 0 false null x"


MOVES = """<!doctype html><h1>Page</h1><a href="#end">Go</a><p id=end>end</p><script>
addEventListener('hashchange', () => { document.querySelector('h1').textContent = 'At ' + location.hash; });
const moves = {
  push: (n) => history.pushState(n, ''),
  click: (n) => { const a = document.querySelector('a'); a.href = '#' + n; a.click(); },
};
const start = (move) => new Promise((done) => {
  for (let n = 0; n < 60; n++) setTimeout(moves[move], 5 * n, n);
  setTimeout(done, 400);
});
</script>"""


def entries(stage: Stage) -> int:
    return int(stage.page.evaluate("history.length"))


@FORMS
def test_a_page_moves_without_filling_the_history_of_the_tab(stage: Stage, show: Callable[[Stage, str], Any]):
    page = show(stage, MOVES)
    heading = page.locator("h1")
    heading.wait_for()
    before = entries(stage)
    page.get_by_text("Go").click()
    page.get_by_role("heading", name="At #end").wait_for()
    assert entries(stage) == before
    for move in ("push", "click"):
        heading.evaluate("(_, move) => start(move)", move)
        assert entries(stage) == before


@FORMS
def test_a_page_that_keeps_setting_its_hash_ends(stage: Stage, show: Callable[[Stage, str], Any]):
    page = show(stage, MOVES)
    heading = page.locator("h1")
    heading.wait_for()
    heading.evaluate("() => { let n = 0; setInterval(() => { location.hash = n++ }, 5) }")
    wait_until(stage.page, lambda: not is_there(heading))


def is_there(element: Locator) -> bool:
    try:
        return element.count() > 0
    except Error:  # its frame is being removed
        return True
