"""What the widget shows about where a run came from and how it ended, in a real browser."""

from typing import Any

from tests.support.widget_stage import Stage, event, needs_browser, wrote

pytest_plugins = ["tests.support.widget_stage"]
pytestmark = needs_browser

MODEL = "anthropic:claude-opus-5-5"
USAGE = {"input": 1200, "cached_read": 0, "cached_write": 0, "output": 400, "reasoning": 0}


def began(**settings: Any) -> list[dict[str, Any]]:
    start = event("run_started", prompt="A page", model=MODEL, base=None, settings=settings, images=[])
    return [start, event("turn_started", step=1)]


def ended(reason: str = "end_turn", error: str | None = None) -> dict[str, Any]:
    end = {"reason": reason, "error": error, "usage": USAGE, "cost": 0.02, "seconds": 9.0}
    return event("run_finished", **end)


def play(stage: Stage, events: list[dict[str, Any]]) -> Stage:
    return stage.play(events, model=MODEL, demo=False)


def test_a_replay_does_not_look_like_a_paid_call(stage: Stage):
    page = wrote("index.html", "<h1>Bread</h1>")
    play(stage, [*began(replayed="cassettes/hero.jsonl"), *page, ended()])
    badge = stage.widget.get_by_text("replayed", exact=True)
    badge.wait_for()
    assert "cassettes/hero.jsonl" in badge.get_attribute("title")
    assert stage.widget.get_by_text("$0.02 when recorded", exact=True).is_visible()
    play(stage, [*began(), *page, ended()])
    stage.widget.get_by_text("$0.02", exact=True).wait_for()
    assert not stage.widget.get_by_text("replayed", exact=True).is_visible()
