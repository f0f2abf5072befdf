"""The replay bar in a real browser: everything shows the run as it was then, and playing only adds to it."""

import json
from typing import Any

import pytest

from tests.support import ROOT
from tests.support.widget_stage import RUNS, Stage

pytest_plugins = ["tests.support.widget_stage"]
SHOTS = ROOT / "test-results"


class Replay:
    """The bar, as a person uses it."""

    def __init__(self, stage: Stage, name: str = "site") -> None:
        SHOTS.mkdir(exist_ok=True)
        self.stage, self.page, self.widget = stage, stage.page, stage.widget
        stage.page.set_viewport_size({"width": 1100, "height": 700})
        stage.play(json.loads((RUNS / f"{name}.json").read_text())["events"])
        self.bar = self.widget.get_by_role("group", name="Replay")
        self.slider = self.bar.get_by_role("slider")

    def open(self) -> "Replay":
        """Opens the replay and pauses it at its beginning."""
        self.button("Replay").click()
        self.slider.press("Home")
        return self

    def button(self, name: str) -> Any:
        return self.widget.get_by_role("button", name=name, exact=True)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.slider.press(key)

    @property
    def label(self) -> str:
        # Drawn with the next frame.
        self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        return str(self.bar.locator(".label").inner_text())

    def go_to(self, label: str) -> None:
        for _ in range(60):
            if self.label == label:
                return
            self.press("ArrowRight")
        raise AssertionError(f"the replay never came to {label!r}")


@pytest.fixture
def replay(stage: Stage) -> Replay:
    return Replay(stage)


def test_playing_never_rebuilds_the_page(stage: Stage):
    replay = Replay(stage, "hero").open()
    replay.go_to("turn 1: the model calls create_file")
    replay.page.evaluate(
        """() => {
            const holder = document.querySelector('[data-anb-run]').shadowRoot.querySelector('.anb-page');
            window.frames_made = 0;
            new MutationObserver((records) => {
                for (const record of records) window.frames_made += record.addedNodes.length;
            }).observe(holder, { childList: true });
        }"""
    )
    replay.bar.get_by_role("combobox", name="Speed").select_option("4")
    replay.slider.press(" ")
    replay.button("Pause").wait_for()
    replay.page.wait_for_function(
        """() => document.querySelector('[data-anb-run]').shadowRoot
            .querySelector('.anb-scrubber .label').textContent.includes('done')"""
    )
    assert replay.page.evaluate("window.frames_made") <= 1
    assert stage.preview.locator("h1").count() == 1


def test_a_reader_hears_steps_not_playing(replay: Replay):
    replay.open()
    spoken = replay.bar.get_by_role("status")
    replay.press("ArrowRight")
    assert replay.label == spoken.inner_text() == "turn 1: the request is sent"
    replay.bar.get_by_role("combobox", name="Speed").select_option("4")
    replay.page.evaluate(
        """() => {
            const root = document.querySelector('[data-anb-run]').shadowRoot;
            window.heard = [];
            for (const node of root.querySelectorAll('[aria-live]'))
                new MutationObserver(() => window.heard.push(node.textContent))
                    .observe(node, { childList: true, characterData: true, subtree: true });
        }"""
    )
    replay.slider.press(" ")
    replay.button("Pause").wait_for()
    replay.button("Play").wait_for()
    assert replay.label == "done"
    assert replay.page.evaluate("window.heard") == ["done"]


def test_a_kernel_that_refuses_is_quoted(replay: Replay):
    replay.page.evaluate("() => { window.kernel.record.request = null }")
    replay.open()
    replay.button("Request of turn 1").click()
    replay.widget.locator(".anb-request").get_by_text("A recording has no kernel to ask.").wait_for()


def test_a_narrow_cell_keeps_the_bar_whole(replay: Replay):
    replay.page.set_viewport_size({"width": 460, "height": 900})
    replay.open().go_to("turn 2: the model writes index.html")
    replay.page.screenshot(path=SHOTS / "replay-narrow.png")
    box = replay.bar.bounding_box()
    for control in (
        replay.slider,
        replay.button("Play"),
        replay.button("Leave the replay"),
        replay.bar.locator(".label"),
    ):
        inner = control.bounding_box()
        assert inner["x"] >= box["x"]
        assert inner["x"] + inner["width"] <= box["x"] + box["width"]
