"""Several variants in a real browser: the grid, side by side, one at a time, and what each does with its frames."""

import json
from typing import Any

from playwright.sync_api import expect

from tests.support.widget_stage import RUNS, Stage

pytest_plugins = ["tests.support.widget_stage"]
ARRANGEMENTS = {"one": "One at a time", "grid": "Grid", "side": "Side by side"}
LEAD = "Lyon Bakery"


def watch(stage: Stage, until: int) -> None:
    """Plays so many events of the recorded run at once, in the grid."""
    stage.page.set_viewport_size({"width": 1000, "height": 720})
    layout = json.dumps({"arrangement": "grid"})
    stage.page.goto(f"{stage.server.address}/none")
    stage.page.evaluate("layout => localStorage.setItem('agent_nb.layout', layout)", layout)
    stage.page.goto(f"{stage.server.address}/?run=three&speed=0&until={until}")
    stage.widget.locator(".anb-frame").wait_for()


def until(kind: str, variant: int) -> int:
    """How many events of the recorded run there are up to that one."""
    events = json.loads((RUNS / "three.json").read_text())["events"]
    return next(
        number
        for number, item in enumerate(events, 1)
        if item["type"] == kind and item.get("variant", 0) == variant
    )


def arrange(stage: Stage, arrangement: str) -> None:
    stage.widget.get_by_role("radio", name=ARRANGEMENTS[arrangement]).click()


def page_of(stage: Stage, place: str, index: int) -> Any:
    return stage.widget.locator(place).nth(index).frame_locator("iframe >> nth=-1").frame_locator("iframe")


def test_switching_back_shows_pages_whole(stage: Stage):
    watch(stage, until("tool_ready", 0))
    page_of(stage, ".anb-variant", 0).get_by_text(LEAD).first.wait_for()
    arrange(stage, "one")
    stage.widget.locator(".anb-left").wait_for()
    expect(stage.widget.locator("iframe")).to_have_count(1)
    stage.page.evaluate(
        """() => {
            const { kernel } = window;
            const first = kernel.sent + 1;
            kernel.sent = kernel.record.events.length;
            kernel.batch(first, kernel.sent);
            kernel.ready();
        }"""
    )
    arrange(stage, "side")
    for index in range(2):
        page_of(stage, ".anb-col", index).get_by_text("First loaves").wait_for()
    arrange(stage, "grid")
    for index in range(3):
        page_of(stage, ".anb-variant", index).get_by_text("First loaves").wait_for()


def test_end_moves_nothing(stage: Stage):
    watch(stage, until("run_finished", 2) - 1)
    page_of(stage, ".anb-variant", 2).get_by_text(LEAD).first.wait_for()
    measure = """() => {
        const { shadowRoot } = document.querySelector('[data-anb-run]');
        const parts = [...shadowRoot.querySelectorAll('.anb-variant, .shot, .acts')];
        return parts.map((node) => JSON.stringify(node.getBoundingClientRect()));
    }"""
    before = stage.page.evaluate(measure)
    stage.page.evaluate(
        "() => { const { kernel } = window; kernel.batch(++kernel.sent, kernel.sent); kernel.ready() }"
    )
    stage.widget.get_by_text("3 of 3 done", exact=True).wait_for()
    assert stage.page.evaluate(measure) == before
