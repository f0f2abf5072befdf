"""The transcript in a real browser: difficult texts, the replay."""

import json
from typing import Any

import pytest

from tests.support.widget_stage import CLIPBOARD, RUNS, Stage, edited, ended, event, wrote

BEGUN = event("run_started", prompt="p", model="demo:", base=None, settings={}, images=[])
TURN = event("turn_started", step=1)


def said(text: str) -> dict[str, Any]:
    return event("text_delta", text=text)


def test_nested_quotes_do_not_crash_the_tab(stage: Stage):
    table = f"|{'wide cell|' * 60}\n|{'---|' * 60}\n"
    stage.play([BEGUN, TURN, said("> " * 3000 + f"deep\n\nשלום, world\n\n{table}"), ended()])
    text = stage.widget.locator(".anb-say")
    text.get_by_text("deep").wait_for()
    assert text.locator("blockquote").count() <= 20
    # Right-to-left text begins at the right edge, and a wide table scrolls by itself.
    right_to_left = text.get_by_text("שלום").evaluate(
        """e => { const range = document.createRange(); range.selectNodeContents(e);
            return e.getBoundingClientRect().right - range.getBoundingClientRect().right; }"""
    )
    assert abs(right_to_left) < 2
    assert text.locator("table").evaluate("e => e.scrollWidth > e.clientWidth")
    assert stage.widget.locator(".anb-scroll").evaluate("e => e.scrollWidth <= e.clientWidth")


@pytest.mark.wide
def test_a_long_answer_is_folded_and_drawn_when_opened(stage: Stage):
    answer = "- **one** `two` *three* four\n" * 70_000
    stage.play([BEGUN, TURN, said(answer), said("The end."), ended()])
    rest = stage.widget.locator(".anb-rest")
    rest.get_by_text("2.0 MB more").wait_for()
    assert stage.widget.locator(".anb-say *").count() < 5_000
    assert rest.locator("pre").count() == 0
    rest.locator("summary").click()
    rest.get_by_text("The end.").wait_for()
    drawn = stage.widget.locator(".anb-say").evaluate("e => e.querySelectorAll('li').length")
    assert rest.locator(".anb-code").text_content().count("four") + drawn == 70_000


WATCH = """() => {
    const { shadowRoot } = document.querySelector('[data-anb-run]');
    window.seen = { frames: 0, heard: [] };
    new MutationObserver((records) => {
        for (const { addedNodes } of records) window.seen.frames += addedNodes.length;
    }).observe(shadowRoot.querySelector('.anb-page'), { childList: true });
    for (const node of shadowRoot.querySelectorAll('[aria-live]'))
        new MutationObserver(() => window.seen.heard.push(node.textContent))
            .observe(node, { childList: true, characterData: true, subtree: true });
}"""
"""Counts the frames of the page that are made, and collects what a screen reader hears."""


def test_a_replay_plays_when_it_is_opened_only_adds_to_the_page_and_speaks_at_its_end(stage: Stage):
    from playwright.sync_api import expect

    stage.play(json.loads((RUNS / "hero.json").read_text())["events"])
    bar = stage.widget.get_by_role("group", name="Replay")
    button = stage.widget.get_by_role("button", name="Replay", exact=True)
    about = bar.get_by_text("This is the run as it happened.")
    button.click()
    bar.get_by_role("button", name="Pause").wait_for()
    expect(about).to_be_visible()
    # Without another press it comes to the first words of the model.
    stage.widget.locator(".anb-item").first.wait_for()
    bar.get_by_role("slider").press("Home")
    expect(bar.locator(".label")).to_have_text("Your prompt")  # and no further: the key has paused it
    expect(bar.get_by_role("status")).to_have_text("Your prompt")
    bar.get_by_role("slider").press("Escape")
    button.click()
    bar.get_by_role("button", name="Pause").wait_for()
    expect(about).to_be_hidden()
    stage.page.evaluate(WATCH)
    bar.get_by_role("combobox", name="Speed").select_option("4")
    bar.get_by_role("button", name="Play", exact=True).wait_for()
    expect(bar.locator(".label")).to_have_text("done")
    assert stage.preview.locator("h1").count() == 1
    assert stage.page.evaluate("window.seen.frames") <= 1
    assert stage.page.evaluate("window.seen.heard") == ["done"]


def test_an_earlier_version_is_a_page_that_existed(stage: Stage):
    page = '<!doctype html><link rel="stylesheet" href="style.css"><h1>Made</h1>'
    stage.play(
        [
            BEGUN,
            TURN,
            *wrote("style.css", "h1 { color: red }", "text/css"),
            *wrote("index.html", page),
            edited("style.css", 2, [[0, 1, "h1 { color: blue }"]], "text/css"),
            ended(),
        ]
    )
    bar = stage.widget.locator(".anb-ver")
    colour = "e => getComputedStyle(e).color"
    stage.preview.get_by_text("Made").wait_for()
    assert stage.preview.get_by_text("Made").evaluate(colour) == "rgb(0, 0, 255)"
    assert bar.locator(".which").inner_text() == "change 3 of 3: style.css"
    back = bar.get_by_role("button", name="Previous version")
    place = back.bounding_box()
    back.click()
    bar.get_by_text("change 2 of 3: index.html").wait_for()
    assert back.bounding_box() == place
    stage.preview.get_by_text("Made").wait_for()
    assert stage.preview.get_by_text("Made").evaluate(colour) == "rgb(255, 0, 0)"
    stage.widget.get_by_role("textbox", name="Ask a question or for a change").fill("Larger")
    stage.page.evaluate(CLIPBOARD)
    stage.widget.get_by_role("button", name="Continue from change 2").click()
    cell = stage.page.wait_for_function("window.copied[0]").json_value()
    assert cell == "%%agent hero_2 --from hero.at(2)\nLarger"
