"""What the widget shows about where a run came from and how it ended, in a real browser."""

from typing import Any

import pytest

from agent_nb.run.protocol import Repeat
from tests.support.widget_stage import Stage, ended, event, returned, wrote

MODEL = "anthropic:claude-opus-5-5"


def began(**settings: Any) -> list[dict[str, Any]]:
    start = event("run_started", prompt="A page", model=MODEL, base=None, settings=settings, images=[])
    return [start, event("turn_started", step=1)]


def play(stage: Stage, events: list[dict[str, Any]], **more: Any) -> Stage:
    return stage.play(events, model=MODEL, demo=False, **more)


def test_a_replay_does_not_look_like_a_paid_call(stage: Stage):
    page = wrote("index.html", "<h1>Bread</h1>")
    play(stage, [*began(replayed="cassettes/hero.jsonl"), *page, ended(cost=0.02)])
    badge = stage.widget.get_by_text("replayed", exact=True)
    badge.wait_for()
    assert "cassettes/hero.jsonl" in badge.get_attribute("title")
    assert stage.widget.get_by_text("$0.02 when recorded", exact=True).is_visible()
    play(stage, [*began(), *page, ended(cost=0.02)])
    stage.widget.get_by_text("$0.02", exact=True).wait_for()
    assert not stage.widget.get_by_text("replayed", exact=True).is_visible()


UNREACHABLE = "Anthropic's address cannot be reached: [Errno -2] Name or service not known. Check `base_url`."
CELL = "%%agent hero -m anthropic:claude-opus-5-5\nA landing page for a small bakery in Lyon"
READY = {"line": "`hero.error` has the details", "variant": 0, "picked": False}


def failed_run() -> list[dict[str, Any]]:
    retries = [
        event("turn_retrying", attempt=number, most=4, wait=float(number), why="the stream broke off")
        for number in (1, 2, 3, 4)
    ]
    return [*began(steps=20), *retries, ended("failed", error=UNREACHABLE)]


def ready(**fields: Any) -> dict[str, Any]:
    return {**READY, "paths": [], "digest": "", "again": "", "others": [], **fields}


def test_an_error_is_text_with_a_row_for_each_retry_and_cells_to_try_again(stage: Stage):
    other = CELL.replace("anthropic:claude-opus-5-5", "openai:gpt-6.1-sol")
    play(stage, failed_run(), ready=ready(again=CELL, others=[other]))
    card = stage.widget.get_by_role("alert")
    card.wait_for()
    assert "[Errno -2] Name or service" in card.inner_text()
    assert card.locator("a").count() == 0
    assert card.locator(".sub code").inner_text() == "base_url"
    assert stage.widget.get_by_text("of 4: the stream broke off").count() == 4
    stage.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for label, cell in (("Retry", CELL), ("Another model", other)):
        card.get_by_role("button", name=label).click()
        stage.widget.get_by_text("Copied: paste it into a cell").first.wait_for()
        assert stage.page.evaluate("navigator.clipboard.readText()") == cell


def test_the_card_of_a_retry_is_three_short_lines_at_any_width(stage: Stage):
    why = "Anthropic asks us to wait"
    play(stage, [*began(), event("turn_retrying", attempt=1, most=0, wait=17.0, why=why)])
    card = stage.widget.get_by_role("alert")
    card.wait_for()
    for width in (1000, 420):
        stage.page.set_viewport_size({"width": width, "height": 900})
        lines = card.locator("h4, p")
        assert lines.all_inner_texts() == ["Retry", why, "Files are kept; this turn starts over."]
        whole = "node => node.offsetHeight <= 20 && node.scrollWidth <= node.clientWidth"
        assert all(line.evaluate(whole) for line in lines.all())


KEEP = "hero_2 = hero.with_files(hero.unfinished)"


def cut_rewrite(reason: str = "stopped") -> list[dict[str, Any]]:
    """A page, and the first half of another that should have replaced it."""
    second = [
        event("turn_started", step=2),
        event("tool_started", call_id="second", name="any", title="create file index.html"),
        event("file_delta", call_id="second", path="index.html", offset=0, text="<h1>Unfinished</h1><p>And"),
        returned("second", ok=False, code="STOPPED"),
    ]
    first = [*wrote("index.html", "<h1>Kept</h1>"), returned("call index.html")]
    error = "The server broke off." if reason == "failed" else None
    return [*began(), *first, *second, ended(reason, error=error)]


ENDS = {
    "stopped": "The run was stopped",
    "max_tokens": "The run was cut off at the token limit",
    "failed": "The run failed",
}


@pytest.mark.parametrize("reason", ["stopped", pytest.param("max_tokens", marks=pytest.mark.wide), "failed"])
def test_a_run_that_ended_early_says_what_was_kept_and_has_one_cell_to_go_on(stage: Stage, reason: str):
    play(
        stage,
        cut_rewrite(reason),
        ready=ready(),
        repeats=(Repeat(text="-t kernel", label="kernel", ticked=True),),
    )
    for width in (1000, 480):
        stage.page.set_viewport_size({"width": width, "height": 900})
        card = stage.widget.locator(".anb-log > li:last-child .anb-card")
        card.get_by_role("heading", name=ENDS[reason], exact=True).wait_for()
        assert "Kept: index.html v1. Unfinished, not kept: index.html." in card.inner_text()
        assert stage.widget.get_by_role("button", name="Continue").is_visible()
        assert card.locator(".anb-cell:visible code").all_text_contents() == [
            "%%agent hero_2 --from hero -t kernel\nContinue where you stopped."
        ]


def test_a_run_that_failed_is_retried_and_not_continued(stage: Stage):
    play(stage, cut_rewrite("failed"), ready=ready(again=CELL))
    stage.widget.get_by_role("button", name="Retry").wait_for()
    assert not stage.widget.get_by_role("button", name="Continue").is_visible()


@pytest.mark.parametrize(
    "reason", ["stopped", *(pytest.param(reason, marks=pytest.mark.wide) for reason in ("budget", "failed"))]
)
def test_the_preview_shows_what_was_kept_and_the_rest_is_one_press_away(stage: Stage, reason: str):
    play(stage, cut_rewrite(reason), ready=ready())
    stage.preview.get_by_role("heading", name="Kept").wait_for()
    label = stage.widget.locator(".anb-ver .which")
    assert label.inner_text() == "v1"
    assert stage.widget.get_by_text("streaming").count() == 0
    stage.widget.get_by_role("button", name="Next version").click()
    stage.preview.get_by_role("heading", name="Unfinished").wait_for()
    assert label.inner_text() == "unfinished, not kept"
    assert stage.widget.locator(".anb-ver code").filter(visible=True).inner_text() == KEEP
    stage.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    stage.widget.get_by_role("button", name="Keep").click()
    stage.widget.get_by_text("Copied: paste it into a cell").first.wait_for()
    assert stage.page.evaluate("navigator.clipboard.readText()") == KEEP
    stage.widget.get_by_role("button", name="Previous version").click()
    stage.preview.get_by_role("heading", name="Kept").wait_for()


@pytest.mark.wide
def test_diff_compares_the_unfinished_text_with_what_was_kept(stage: Stage):
    play(stage, cut_rewrite(), ready=ready())
    stage.widget.get_by_role("tab", name="Diff").click()
    stage.widget.get_by_text("This is the first version").wait_for()
    stage.widget.get_by_role("button", name="Next version").click()
    table = stage.widget.get_by_role("group", name="Changes")
    assert "<h1>Kept</h1>" in table.locator("tr.m").inner_text()
    assert "<h1>Unfinished</h1><p>And" in table.locator("tr.p").inner_text()
