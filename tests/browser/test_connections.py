"""No page without scripts makes Chromium connect to a host, in any of the forms in which it is shown.

A connection alone tells the host's name, which can hold data. No policy of a page forbids it.
"""

import html
from collections.abc import Iterator
from typing import Any

import pytest

from agent_nb.pages.preview import frame_attributes, still_frame_attributes
from tests.support.canary import Connections, with_profile
from tests.support.connecting_pages import ISSUED, generated
from tests.support.waiting import wait_until
from tests.support.widget_stage import Stage, edited, event, returned, wrote

pytestmark = pytest.mark.trust

SETTLE = 400
"""Milliseconds in which a page that connects has connected."""


@pytest.fixture(scope="module")
def connections() -> Iterator[Connections]:
    connections = Connections()
    yield connections
    connections.close()


@pytest.fixture(scope="module")
def context(
    playwright: Any, connections: Connections, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    context = with_profile(playwright, connections, tmp_path_factory.mktemp("browser"))
    yield context
    context.close()


@pytest.fixture
def stage(context: Any, server: Any) -> Iterator[Stage]:
    stage = Stage(context.new_page(), server)
    yield stage
    stage.page.close()


def known(form: str) -> dict[str, str]:
    """The pages by the name of the host that each connects to."""
    start = "<!doctype html><h1>Page</h1>"
    return {
        f"{form}-{name}": start + ISSUED[name].format(f"https://{form}-{name}.example") for name in ISSUED
    }


def random_pages(form: str) -> dict[str, str]:
    hosts = (f"{form}-{seed}" for seed in range(200))
    return {host: generated(seed, f"https://{host}.example") for seed, host in enumerate(hosts)}


def framed(stage: Stage, frames: list[str]) -> None:
    stage.page.goto(f"{stage.server.address}/nowhere")
    for at in range(0, len(frames), 5):
        shown = "".join(f"<iframe {frame}></iframe>" for frame in frames[at : at + 5])
        stage.page.evaluate("html => { document.body.innerHTML = html }", shown)
        stage.page.wait_for_timeout(SETTLE)
    stage.page.wait_for_timeout(SETTLE)


def played(stage: Stage, page: str) -> None:
    stage.play([event("turn_started", step=1), *wrote("index.html", page)])
    stage.preview.get_by_role("heading", name="Page").wait_for()
    stage.page.wait_for_timeout(SETTLE)


def heard(connections: Connections, form: str) -> set[str]:
    return {host for host in connections.hosts if host.startswith(f"{form}-")}


def test_each_page_connects_without_our_frame(stage: Stage, connections: Connections):
    stage.page.goto(f"{stage.server.address}/nowhere")
    for host, page in known("plain").items():
        frame = f'<iframe srcdoc="{html.escape(page)}"></iframe>'
        stage.page.evaluate("html => { document.body.innerHTML = html }", frame)
        wait_until(stage.page, lambda host=host: host in connections.hosts)


def test_a_saved_page_does_not_connect(stage: Stage, connections: Connections):
    framed(stage, [frame_attributes(page) for page in known("saved").values()])
    assert heard(connections, "saved") == set()


def test_the_html_of_a_tool_does_not_connect(stage: Stage, connections: Connections):
    framed(stage, [still_frame_attributes(page) for page in known("still").values()])
    for page in known("still").values():
        show_output(stage, page)
    assert heard(connections, "still") == set()


def show_output(stage: Stage, markup: str) -> None:
    started = event("tool_started", call_id="c", name="any", title="show")
    stage.play([event("turn_started", step=1), started, returned("c", {"text/html": markup})])
    stage.widget.locator("summary", has_text="show").first.click()
    show_it = stage.widget.get_by_role("button", name="Show it")
    shown = stage.widget.locator("iframe.anb-html, .anb-plain, p.anb-cap:has-text('Interactive output')")
    shown.or_(show_it).first.wait_for()
    if show_it.count():
        show_it.click()
        shown.first.wait_for()
    stage.page.wait_for_timeout(SETTLE)


def test_a_live_page_does_not_connect(stage: Stage, connections: Connections):
    """Neither in the notebook nor in a tab of its own."""
    for page in known("live").values():
        played(stage, page)
        with stage.page.context.expect_page() as opened:
            stage.widget.get_by_role("button", name="Open in new tab").first.click()
        opened.value.wait_for_timeout(SETTLE)
        opened.value.close()
    assert heard(connections, "live") == set()


def test_an_edit_does_not_connect(stage: Stage, connections: Connections):
    """It changes the page in place, with another parser than the one that wrote it."""
    played(stage, "<!doctype html>\n<h1>Page</h1>")
    pages = {
        **known("edit"),
        "edit-noscript": "<noscript><link rel=preconnect href=https://edit-noscript.example>",
    }
    for version, page in enumerate(pages.values(), 2):
        stage.more(edited("index.html", version, [[1, 1, f"<h1>Page {version}</h1>{page}"]]))
        stage.preview.get_by_role("heading", name=f"Page {version}").wait_for()
    stage.page.wait_for_timeout(SETTLE)
    assert heard(connections, "edit") == set()


def test_a_frame_that_was_blocked_is_listed(stage: Stage):
    played(stage, '<!doctype html><h1>Page</h1><iframe src="https://listed.example/video"></iframe>')
    stage.wait_for_report('Blocked by the sandbox: <iframe src="https://listed.example/video">')


def test_generated_pages_do_not_connect(stage: Stage, connections: Connections):
    """200 pages, in each form; without our frame more than half of them connect."""
    framed(stage, [f'srcdoc="{html.escape(page)}"' for page in random_pages("any").values()])
    assert len(heard(connections, "any")) > 100
    framed(stage, [frame_attributes(page) for page in random_pages("kept").values()])
    assert heard(connections, "kept") == set()
    framed(stage, [still_frame_attributes(page) for page in random_pages("drawn").values()])
    assert heard(connections, "drawn") == set()
    for page in random_pages("run").values():
        played(stage, page)
    assert heard(connections, "run") == set()
