"""The demo model on second prompts: the change that was asked for, as exact replacements."""

import pytest

from agent_nb import Run
from tests.support.demo_kit import BAKERY, Page, agent, built, called


async def changed(prompt: str, base: Run | None = None) -> tuple[str, str, Run]:
    """The page before and after, and the second run."""
    first = base or await built(BAKERY)
    second = await agent().run(prompt, base=first)
    assert second.reason == "end_turn"
    assert all(use.ok for use in second.tool_uses), [use.summary for use in second.tool_uses]
    before, after = first.files["index.html"], second.files["index.html"]
    assert isinstance(before, str)
    assert isinstance(after, str)
    Page(after)
    assert before != after
    return before, after, second


@pytest.mark.parametrize(
    ("prompt", "there"),
    [
        ("make it blue", "--h:255;"),
        ("Please make it dark", ":root{color-scheme:dark;"),
        ("use #0a7d5a as the accent", "--h:165;"),
        ("call it Petit Four", "<title>Petit Four</title>"),
        ('rename it to "Chez Ada"', ">Chez Ada</a>"),
        ("title: Bread & Co", "<title>Bread &amp; Co</title>"),
        ('change the headline to "Warm & round"', "<h1>Warm &amp; round</h1>"),
        ("add a newsletter, please", "One letter a month from Lyon Bakery"),
        ("Add a gallery and an faq", "<summary>Do I need to book?</summary>"),
        ("larger text", "font:19px/1.6 "),
        ("flibbertigibbet", "--h:204;"),
    ],
)
async def test_a_second_prompt_changes_what_it_says(prompt: str, there: str) -> None:
    before, after, run = await changed(prompt)
    assert there in after
    assert there not in before
    assert called(run) == ["edit_file"]
    assert run.text.rstrip().splitlines()[-1].startswith("The rest of `index.html`")


async def test_a_section_can_be_removed() -> None:
    before, after, _ = await changed("remove the opening hours")
    assert 'id="hours"' in before
    assert 'id="hours"' not in after


async def test_changes_add_up_over_prompts() -> None:
    _, _, second = await changed("make it blue")
    _, _, third = await changed("add a newsletter", second)
    _, last, _ = await changed("call it Petit Four", third)
    assert "--h:255;" in last
    assert 'id="newsletter"' in last
    assert "Lyon Bakery" not in last


async def test_a_new_page_may_be_asked_for() -> None:
    _, after, run = await changed("Now a dashboard of website traffic")
    assert called(run) == ["create_file", "edit_file"]
    assert "Visits by month" in after


async def test_a_page_edited_by_hand_is_read_first() -> None:
    first = await built(BAKERY)
    page = first.files["index.html"]
    assert isinstance(page, str)
    edited = first.with_files({"index.html": page.replace("Bread worth", "Brioche worth")})
    _, after, run = await changed("make it blue", edited)
    assert called(run) == ["read_file", "edit_file"]
    assert "Brioche worth" in after


async def test_a_page_of_somebody_else_is_changed() -> None:
    page = "<html><head><title>Old</title></head><body><h1>Old</h1><p>Old times</p></body></html>"
    run = await agent().run("Call it New Times, purple, add a contact section", files={"index.html": page})
    assert called(run) == ["edit_file"]
    html = str(run.files["index.html"])
    assert "<title>New Times</title>" in html
    assert "<h1>New Times</h1>" in html
    assert "305)" in html
    assert 'id="contact"' in html


async def test_a_fragment_without_hold_is_built_anew() -> None:
    run = await agent().run("make it blue", files={"index.html": "<p>hello"})
    assert called(run) == ["create_file", "edit_file"]
    assert str(run.files["index.html"]).startswith("<!doctype html>")


async def test_a_fenced_page_is_changed_in_text() -> None:
    first = await agent(tools=[]).run(BAKERY)
    second = await agent(tools=[]).run("make it blue", base=first)
    assert second.tool_uses == ()
    assert "--h:255;" in second.text
