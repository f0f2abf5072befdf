"""The site that needs no other host: a lesson run in Chromium's own Python."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.support.lite import START, LiveNotebook, open_watched

TEAS = "A one-page menu for a tea house in Kyoto: five teas with prices, quiet colours."

pytestmark = pytest.mark.hosts


def phase(run: Locator, text: str) -> None:
    expect(run.locator(".anb-status .phase")).to_contain_text(text)


def shown_page(run: Locator):
    return run.frame_locator(".anb-page iframe").first.frame_locator("iframe")


def test_lesson_one_runs_with_no_other_host(site):
    with open_watched() as (window, elsewhere):
        page = window.new_page()
        page.goto(f"{site}/notebooks/01_first_run.html")
        page.get_by_role("link", name="Open it live").click()
        notebook = LiveNotebook(page)
        expect(page.locator(".live-progress")).to_have_text(re.compile("^(Loading|Starting) Python"))
        notebook.wait()
        expect(page.locator(".live-progress")).to_have_count(0)
        notebook.run_all()

        hero = notebook.cell("%%agent hero")
        expect(hero.locator(".anb-status .phase")).to_contain_text("writing index.html", timeout=START)
        expect(shown_page(hero).locator("h1")).to_be_visible()
        phase(hero, "done")
        ran = notebook.outputs()
        assert [each for found in ran.values() for each in found if each["output_type"] == "error"] == []
        files = ran["hero.reason, list(hero.files), len(hero.html)"][0]["data"]["text/plain"]
        assert files.startswith("('end_turn', ['index.html'], ")
        completed = "get_ipython().kernel.complete('hero.file', 9)['matches']"
        assert notebook.result(completed) == "['.files']"

        replayed = notebook.add(f"%%agent by_claude -m anthropic:claude-opus-5-5\n{TEAS}")
        phase(replayed, "done")
        expect(replayed.get_by_text("replayed", exact=True)).to_be_visible()
        expect(shown_page(replayed).locator("h1")).to_be_visible()
        notebook.outputs()

        replayed.get_by_role("textbox", name="Ask a question or for a change").click()
        page.keyboard.type("Make it darker")
        page.keyboard.press("Enter")  # inserts the next cell and runs it, through the extension
        phase(notebook.cell("%%agent by_claude_2 --from by_claude"), "done")

        stopped = notebook.add("%%agent slow -m demo: --pace 20\nA landing page for a bakery in Lyon.")
        stopped.get_by_role("button", name="Stop", exact=True).click()
        phase(stopped, "stopped")
        notebook.outputs()
        assert notebook.result("slow.reason") == "'stopped'"

        assert elsewhere == []
        page.evaluate("() => fetch('http://elsewhere.test/').catch(() => {})")
        assert elsewhere == ["http://elsewhere.test/"]  # it would have been seen
