"""The replay bar in a real browser: playing only adds to the page, and a reader hears where it stops."""

import json

from playwright.sync_api import Locator, expect

from tests.support.widget_stage import RUNS, Stage

pytest_plugins = ["tests.support.widget_stage"]
FRAMES = """() => {
    const holder = document.querySelector('[data-anb-run]').shadowRoot.querySelector('.anb-page');
    window.frames_made = 0;
    new MutationObserver((records) => {
        for (const record of records) window.frames_made += record.addedNodes.length;
    }).observe(holder, { childList: true });
}"""
HEARD = """() => {
    const root = document.querySelector('[data-anb-run]').shadowRoot;
    window.heard = [];
    for (const node of root.querySelectorAll('[aria-live]'))
        new MutationObserver(() => window.heard.push(node.textContent))
            .observe(node, { childList: true, characterData: true, subtree: true });
}"""


def opened(stage: Stage, name: str, label: str) -> Locator:
    """The bar of a replay that is paused at its first moment with that label."""
    stage.page.set_viewport_size({"width": 1100, "height": 700})
    stage.play(json.loads((RUNS / f"{name}.json").read_text())["events"])
    stage.widget.get_by_role("button", name="Replay", exact=True).click()
    bar = stage.widget.get_by_role("group", name="Replay")
    bar.get_by_role("slider").press("Home")
    two_frames = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    for _ in range(60):
        stage.page.evaluate(two_frames)
        if bar.locator(".label").inner_text() == label:
            break
        bar.get_by_role("slider").press("ArrowRight")
    expect(bar.locator(".label")).to_have_text(label)
    return bar


def play(bar: Locator) -> None:
    bar.get_by_role("combobox", name="Speed").select_option("4")
    bar.get_by_role("slider").press(" ")
    bar.get_by_role("button", name="Pause").wait_for()
    expect(bar.locator(".label")).to_have_text("done")


def test_playing_never_rebuilds_the_page(stage: Stage):
    bar = opened(stage, "hero", "turn 1: the model calls create_file")
    stage.page.evaluate(FRAMES)
    play(bar)
    assert stage.page.evaluate("window.frames_made") <= 1
    assert stage.preview.locator("h1").count() == 1


def test_a_reader_hears_steps_not_playing(stage: Stage):
    bar = opened(stage, "site", "turn 1: the request is sent")
    assert bar.get_by_role("status").inner_text() == "turn 1: the request is sent"
    stage.page.evaluate(HEARD)
    play(bar)
    bar.get_by_role("button", name="Play", exact=True).wait_for()
    assert stage.page.evaluate("window.heard") == ["done"]
