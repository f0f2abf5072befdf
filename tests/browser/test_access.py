"""The interface for everyone, in a real browser: axe finds nothing serious, and the keyboard reaches all of it."""

import json
from typing import Any

import pytest

from tests.support.widget_stage import RUNS, Stage, edited, event, findings, focused, wrote


def recorded(name: str, until: str | None = None) -> list[dict[str, Any]]:
    """The events of a recorded run, up to the first of a kind."""
    events: list[dict[str, Any]] = json.loads((RUNS / f"{name}.json").read_text())["events"]
    end = next((index + 1 for index, item in enumerate(events) if item["type"] == until), len(events))
    return events[:end]


STATES = [
    ("hero", "thinking_delta"),
    ("hero", "tool_ready"),
    ("approval", "approval_requested"),
    ("retry", "turn_retrying"),
    ("failed", None),
    ("three", "file_delta"),
    ("three", None),
]


def show(stage: Stage, theme: str, events: list[dict[str, Any]]) -> None:
    stage.page.emulate_media(reduced_motion="reduce")
    stage.play(events)
    stage.page.evaluate("dark => document.documentElement.classList.toggle('dark', dark)", theme == "dark")
    stage.widget.locator(".anb-frame").wait_for()


THEMES = pytest.mark.parametrize("theme", ["light", "dark"])


@THEMES
@pytest.mark.wide
@pytest.mark.parametrize(("name", "until"), STATES)
def test_axe_finds_nothing_serious(stage: Stage, name: str, until: str | None, theme: str):
    show(stage, theme, recorded(name, until))
    assert findings(stage) == []


@pytest.mark.wide
@THEMES
def test_axe_finds_nothing_in_any_tab(stage: Stage, theme: str):
    show(stage, theme, recorded("site"))
    for tab in ("Preview", "Code", "Diff", "Console", "Files"):
        stage.widget.get_by_role("tab", name=tab).click()
        stage.page.wait_for_timeout(60)
        assert findings(stage) == []


@pytest.mark.wide
def test_axe_sees_inside_the_widget(stage: Stage):
    show(stage, "light", recorded("hero"))
    stage.widget.locator(".anb-right .anb-tabs").evaluate(
        "node => node.append(document.createElement('button'))"
    )
    assert any(found.startswith("button-name") for found in findings(stage))


def test_tab_key_walks_the_widget(stage: Stage):
    stage.play(recorded("hero"))
    stage.widget.get_by_role("button", name="Actions").focus()
    walked = []
    for _ in range(24):
        walked.append(focused(stage).split("  ")[0])
        stage.page.keyboard.press("Tab")
    for name in (
        "Actions",
        "Preview",
        "Full width",
        "Reload preview",
        "Open in new tab",
        "Version",
    ):
        assert name in walked
    how = next(name for name in walked if name.startswith("How"))
    assert walked.index("Preview") < walked.index("Version") < walked.index(how)


def test_arrow_keys_choose_tabs_and_versions(stage: Stage):
    stage.play(recorded("hero"))
    stage.widget.get_by_role("tab", name="Preview").focus()
    stage.page.keyboard.press("ArrowRight")
    assert focused(stage) == "Code"
    stage.widget.get_by_role("tab", name="Code", selected=True).wait_for()
    stage.widget.get_by_role("slider", name="Version").focus()
    stage.page.keyboard.press("ArrowLeft")
    stage.widget.locator(".anb-ver .which", has_text="v2 of 3").wait_for()


def test_menu_opens_and_closes_by_keyboard(stage: Stage):
    stage.play(recorded("hero"))
    stage.widget.get_by_role("button", name="Actions").focus()
    stage.page.keyboard.press("Enter")
    assert focused(stage).startswith("Copy file")
    stage.page.keyboard.press("ArrowDown")
    assert focused(stage) == "Save files"
    stage.page.keyboard.press("Escape")
    assert focused(stage).startswith("Actions")
    stage.widget.get_by_role("menu").wait_for(state="hidden")


def test_question_does_not_take_the_focus(stage: Stage):
    stage.play(recorded("approval", "tool_ready"))
    stage.page.locator("#again").focus()
    args = {"call_id": "call-1", "name": "run", "title": "run it", "args": {"code": "1"}}
    stage.more(event("approval_requested", **args))
    stage.widget.get_by_role("button", name="Approve", exact=True).wait_for()
    assert stage.page.evaluate("document.activeElement.id") == "again"
    stage.widget.get_by_role("button", name="Deny").focus()
    stage.still()
    stage.page.keyboard.press("y")
    stage.page.wait_for_function("() => window.kernel.commands.some((sent) => sent.command === 'approve')")


def test_only_phases_are_spoken(stage: Stage):
    stage.play(wrote("index.html", "<!doctype html><h1>x</h1>"))
    spoken = stage.widget.locator(".anb-head [role=status][aria-live=polite]")
    assert spoken.count() == 1
    assert spoken.text_content() == "hero: writing index.html"
    stage.more(edited("index.html", 2, [[0, 1, "y"]]))
    stage.page.wait_for_timeout(300)
    assert spoken.text_content() == "hero: writing index.html"
