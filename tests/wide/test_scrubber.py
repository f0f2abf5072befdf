"""The replay bar in a real browser: everything shows the run as it was then, and playing only adds to it."""

import json
from typing import Any

import pytest

from tests.support import ROOT
from tests.support.widget_stage import RUNS, Stage, findings

pytest_plugins = ["tests.support.widget_stage"]
SHOTS = ROOT / "test-results"
REQUEST = {
    "model": "anthropic:claude-opus-5-5",
    "system": "Make files with the tools.\n`index.html` is the entry.",
    "messages": [
        {"role": "user", "parts": [{"type": "text", "text": "A page for a bakery"}]},
        {
            "role": "assistant",
            "parts": [
                {
                    "type": "tool_call",
                    "id": "c1",
                    "name": "create_file",
                    "arguments": '{"path": "index.html"}',
                }
            ],
            "vendor": {"anthropic": "412 characters, sent back"},
        },
        {
            "role": "tool",
            "parts": [{"type": "tool_result", "call_id": "c1", "name": "create_file", "text": "Created."}],
        },
    ],
    "tools": [{"name": "create_file", "description": "Writes a file.", "schema": {"type": "object"}}],
    "settings": {"steps": 20, "effort": "medium"},
    "known": 1,
}


class Replay:
    """The bar, as a person uses it."""

    def __init__(self, stage: Stage, name: str = "site") -> None:
        SHOTS.mkdir(exist_ok=True)
        self.stage, self.page, self.widget = stage, stage.page, stage.widget
        stage.page.set_viewport_size({"width": 1100, "height": 700})
        stage.play(json.loads((RUNS / f"{name}.json").read_text())["events"])
        self.page.evaluate("request => { window.kernel.record.request = request }", REQUEST)
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

    @property
    def rows(self) -> list[str]:
        return [text.split("\n")[0] for text in self.widget.locator(".anb-item").all_inner_texts()]

    def go_to(self, label: str) -> None:
        for _ in range(60):
            if self.label == label:
                return
            self.press("ArrowRight")
        raise AssertionError(f"the replay never came to {label!r}")


@pytest.fixture
def replay(stage: Stage) -> Replay:
    return Replay(stage)


def test_the_page_shrinks_and_grows_again(replay: Replay):
    replay.open().go_to("turn 2: the model writes index.html")
    link = replay.stage.preview.get_by_role("link", name="About us")
    link.wait_for()
    replay.slider.fill("2.1")
    link.wait_for(state="detached")
    replay.stage.preview.locator("h1").wait_for()
    replay.slider.fill("2.2")
    link.wait_for()


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


def test_a_question_of_the_past_has_no_buttons(stage: Stage):
    replay = Replay(stage, "approval")
    stage.more(
        {"type": "approval_resolved", "at": 9, "variant": 0, "call_id": "c", "approved": True, "note": ""},
        {
            "type": "run_finished",
            "at": 9,
            "variant": 0,
            "reason": "stopped",
            "usage": {"input": 1, "cached_read": 0, "cached_write": 0, "output": 1, "reasoning": 0},
            "cost": None,
            "seconds": 9,
            "error": None,
        },
    )
    replay.open()
    for _ in range(20):
        if "approval needed" in replay.label:
            break
        replay.press("ArrowRight")
    question = replay.widget.get_by_role("group", name="Allow run python?")
    assert question.is_visible()
    assert question.get_by_role("button").count() == 0


def test_the_request_follows_the_steps(replay: Replay):
    replay.open().go_to("turn 2: the request is sent")
    replay.button("Request of turn 2").click()
    panel = replay.widget.locator(".anb-request")
    panel.get_by_text("Turn 2: what").wait_for()
    replay.go_to("turn 3: the request is sent")
    panel.get_by_text("Turn 3: what").wait_for()
    assert replay.slider.evaluate("node => node === node.getRootNode().activeElement")
    replay.slider.press(" ")
    panel.wait_for(state="hidden")


def test_a_kernel_that_refuses_is_quoted(replay: Replay):
    replay.page.evaluate("() => { window.kernel.record.request = null }")
    replay.open()
    replay.button("Request of turn 1").click()
    replay.widget.locator(".anb-request").get_by_text("A recording has no kernel to ask.").wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_replay(stage: Stage, theme: str):
    stage.page.emulate_media(reduced_motion="reduce")
    replay = Replay(stage)
    replay.page.evaluate("dark => document.documentElement.classList.toggle('dark', dark)", theme == "dark")
    replay.open().go_to("turn 2: the model writes index.html")
    assert findings(stage) == []
    replay.page.screenshot(path=SHOTS / f"replay-{theme}.png")
    replay.button("Request of turn 2").click()
    replay.widget.locator(".anb-request b").first.wait_for()
    assert findings(stage) == []
    replay.page.screenshot(path=SHOTS / f"replay-request-{theme}.png")


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


def test_of_several_the_shown_one_is_scrubbed(stage: Stage):
    replay = Replay(stage, "three")
    tabs = replay.widget.get_by_role("tablist", name="Variants").get_by_role("tab")
    replay.widget.get_by_role("radio", name="Grid").click()
    assert not replay.button("Replay").is_visible()
    replay.widget.get_by_role("radio", name="One at a time").click()
    replay.open().go_to("turn 1: the model thinks")
    time = float(replay.slider.input_value())
    tabs.nth(1).click()
    assert replay.label.startswith("turn 1: ")
    assert float(replay.slider.input_value()) == time
    replay.press("End")
    assert replay.label == "done"
    replay.page.screenshot(path=SHOTS / "replay-variants.png")
    replay.widget.get_by_role("radio", name="Grid").click()
    replay.bar.wait_for(state="hidden")
