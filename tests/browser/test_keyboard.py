"""Pages that take the keyboard from a field beside them, in every place that shows a page."""

from collections.abc import Callable
from typing import Any

import pytest

from agent_nb import Agent
from agent_nb.pages.preview import frame_attributes
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.run.replay_file import replay_html
from tests.support.widget_stage import Stage, event, returned, wrote

TYPED = "password"
GRABS = """<!doctype html><input id=i><script>
  {prelude} setInterval(() => document.querySelector('#i').focus(), 100);
</script>"""
FORCED = "document.hasFocus = () => true;"
RUN_PAGE = """async (html) => {
    const { default: { render } } = await import('/page.js');
    const el = document.body.appendChild(document.createElement('div'));
    const model = { on(name, callback) { this.receive = callback }, off() {}, send({ do: kind, view }) {
        if (kind === 'page') setTimeout(() => this.receive({ do: kind, view, html, bound: [] }));
    } };
    render({ model, el });
}"""


def preview(stage: Stage, html: str) -> None:
    stage.play([event("turn_started", step=1), *wrote("index.html", html)])


def run_page(stage: Stage, html: str) -> None:
    stage.page.goto(f"{stage.server.address}/nowhere")
    stage.page.evaluate(RUN_PAGE, html)


def saved_output(stage: Stage, html: str) -> None:
    stage.play([event("turn_started", step=1)])
    output = f'<div data-anb-run="old"><div class="anb-stage"><iframe {frame_attributes(html)}></iframe></div></div>'
    stage.page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", output)


def tool_output(stage: Stage, html: str) -> None:
    started = event("tool_started", call_id="c", name="any", title="show")
    stage.play([event("turn_started", step=1), started, returned("c", {"text/html": html})])
    stage.widget.locator("summary", has_text="show").first.click()
    stage.widget.get_by_role("button", name="Show it").click()
    stage.widget.locator(".anb-html").wait_for()
    stage.page.mouse.move(1, 1)


def replay_file(stage: Stage, html: str) -> None:
    turns = [[call("create_file", {"path": "index.html", "content": html})], [text("Done.")]]
    with ScriptedProvider(turns) as provider:
        run = Agent(provider).run_sync("A page")
    stage.page.goto(f"{stage.server.address}/nowhere")
    stage.page.set_content(replay_html(run))


def typing_beside(stage: Stage, show: Callable[[Stage, str], None], prelude: str = "") -> tuple[Any, Any]:
    """The field, with the focus, and the page's own field."""
    show(stage, GRABS.format(prelude=prelude))
    stage.page.evaluate("document.body.prepend(document.createElement('textarea'))")
    cell = stage.page.locator("textarea").first
    cell.evaluate("cell => cell.addEventListener('keydown', (e) => e.key === 'Tab' && e.preventDefault())")
    cell.focus()
    return cell, stage.page.frame_locator("iframe >> nth=-1").frame_locator("iframe").locator("#i")


@pytest.mark.parametrize("show", [preview, run_page, replay_file])
def test_a_page_cannot_take_the_keyboard(stage: Stage, show: Callable[[Stage, str], None]):
    cell, field = typing_beside(stage, show)
    field.wait_for()
    for letter in TYPED:
        stage.page.keyboard.press("Tab")
        stage.page.keyboard.type(letter)
        stage.page.wait_for_timeout(80)
    assert (cell.input_value(), field.input_value()) == (TYPED, "")


@pytest.mark.parametrize("show", [preview, run_page, saved_output, tool_output, replay_file])
def test_a_page_that_keeps_taking_the_keyboard_is_stopped(stage: Stage, show: Callable[[Stage, str], None]):
    cell, _ = typing_beside(stage, show, FORCED)
    frames = [stage.page, stage.page.frame_locator(".anb-stage iframe")]
    beside, inside = (frame.get_by_text("kept taking the keyboard focus") for frame in frames)
    (inside if show is saved_output else beside).wait_for()
    stage.page.keyboard.type(TYPED)
    assert cell.input_value() == TYPED
