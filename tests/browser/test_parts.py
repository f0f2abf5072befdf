"""Parts of the page whose code comes when it is first needed: what is shown meanwhile, and where it does not come."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import expect

from tests.support.waiting import wait_until
from tests.support.widget_stage import Stage, event, needs_browser, wrote

pytestmark = needs_browser
QUESTION = {"call_id": "a", "name": "run", "title": "run it", "args": {"code": "1"}}
VARIANTS = [
    {**item, "variant": n} for n in range(2) for item in wrote("index.html", f"<!doctype html><h1>Page {n}")
]


@contextmanager
def held_back(stage: Stage, part: str) -> Iterator[list[Any]]:
    """Holds the code of a part back, for the test to send it or not."""
    asked: list[Any] = []
    stage.page.route(f"**/{part}.js", lambda route: asked.append(route))
    yield asked
    stage.page.unroute(f"**/{part}.js")


def test_variants_are_shown_when_their_code_is_there(stage: Stage):
    with held_back(stage, "variants") as asked:
        stage.play([dict(item) for item in VARIANTS])
        wait_until(stage.page, lambda: len(asked) > 0)
        asked[0].continue_()
        expect(stage.widget.locator(".anb-grid .anb-variant")).to_have_count(2)
        expect(stage.widget.get_by_role("tab", name="Variant 2")).to_be_visible()


def test_a_question_of_a_variant_is_asked_without_the_code_for_several(stage: Stage):
    with held_back(stage, "variants") as asked:
        stage.play([dict(item) for item in VARIANTS])
        wait_until(stage.page, lambda: len(asked) > 0)
        asked[0].fulfill(status=404, body="not found")
        expect(stage.widget.locator(".anb-foot")).to_contain_text("only one variant is shown")
        stage.more(event("approval_requested", **QUESTION) | {"variant": 1})
        expect(stage.widget.locator(".anb-status .phase")).to_contain_text("waiting for approval")
        stage.page.keyboard.press("F8")
        expect(stage.widget.get_by_role("button", name="Approve")).to_be_visible()


def test_a_question_is_asked_when_the_code_for_it_is_there(stage: Stage):
    with held_back(stage, "approval") as asked:
        stage.play([event("approval_requested", **QUESTION)])
        wait_until(stage.page, lambda: len(asked) > 0)
        expect(stage.widget.locator(".anb-status .phase")).to_contain_text("waiting for approval")
        asked[0].continue_()
        card = stage.widget.get_by_role("group", name="Allow run it?")
        expect(card).to_be_visible()
        assert card.evaluate("node => getComputedStyle(node).overflowX") == "clip"  # its styles came with it
        stage.still()
        stage.widget.get_by_role("button", name="Approve").click()
        stage.page.wait_for_function("() => window.kernel.commands.some((one) => one.command === 'approve')")


def test_a_question_whose_code_does_not_come_is_named_with_what_to_do(stage: Stage):
    with held_back(stage, "approval") as asked:
        stage.play([event("approval_requested", **QUESTION)])
        wait_until(stage.page, lambda: len(asked) > 0)
        asked[0].fulfill(status=404, body="not found")
        expect(stage.widget.locator(".anb-foot")).to_contain_text("run it needs an approval")
        assert not stage.page.evaluate(
            "() => window.kernel.commands.some((one) => one.command === 'approve')"
        )
