"""A replay in a file of its own, opened from disk in a real browser that has no network."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from agent_nb import Agent, tool
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.run import Run
from agent_nb.tools.base import ToolOutput
from tests.support.widget_stage import PATIENCE, axe_findings

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154"
    "78da63f8cfc0000003010100f7030341f10000000049454e44ae426082"
)
PAGE = """<!doctype html><title>x</title><h1>Bread</h1><img id="dot" src="dot.png" alt=""><p id="out"></p>
<script>
  addEventListener("securitypolicyviolation", ({ blockedURI }) => document.body.append(` refused ${blockedURI}`))
  const tries = [
    () => { top.document.title = "taken" }, () => { parent.parent.location = "https://example.com/" },
    () => fetch("https://example.com/a"), () => open("https://example.com/b"),
  ]
  for (const attempt of tries) try { attempt() } catch {}
  new Image().src = "https://example.com/c"
  document.querySelector("#out").textContent = "ran"
</script></script><!-- </script> -->"""


def hostile_run() -> Run:
    page = {"path": "index.html", "content": PAGE}
    edit = {"path": "index.html", "old": "Bread", "new": "Cake"}
    turns = [[text("I write."), call("create_file", page)], [call("edit_file", edit)], [text("All is done.")]]
    with ScriptedProvider(turns) as provider:
        run = Agent(provider).run_sync(
            "A page</script><script>document.title = 'taken'", files={"dot.png": PIXEL}
        )
    events = tuple(replace(event, at=index * 0.01) for index, event in enumerate(run.events))
    return replace(run, name="hero", events=events)


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Any:
    """Opens a run's replay and returns the page; what it asks for is in `page.asked`."""
    contexts = []

    def open_replay(run: Run) -> Any:
        path = run.to_replay(tmp_path / "hero.html")
        page = browser.new_context(offline=True).new_page()
        contexts.append(page.context)
        page.set_default_timeout(PATIENCE)
        page.asked = []
        page.context.on("request", lambda request: page.asked.append(request))
        page.goto(path.as_uri())
        return page

    yield open_replay
    for context in contexts:
        context.close()


def sent(page: Any) -> set[str | None]:
    """Why requests to other hosts failed; the browser does not report all that the policy refused."""
    return {request.failure for request in page.asked if request.url.startswith("http")}


def printed(page: Any) -> str:
    return "\n".join(sheet.extract_text() for sheet in PdfReader(BytesIO(page.pdf())).pages)


def test_a_replay_opens_at_its_end_plays_from_its_start_and_prints_the_finished_run(opened: Any):
    from playwright.sync_api import expect

    page = opened(hostile_run())
    start = page.get_by_role("button", name="Play from the start")
    label = page.locator(".anb-scrubber .label")
    expect(label).to_have_text("done")
    expect(page.get_by_text("All is done.")).to_be_visible()
    assert axe_findings(page, "html") == []
    preview = page.frame_locator(".anb-page iframe >> nth=-1").frame_locator("iframe")
    preview.get_by_role("heading", name="Cake").wait_for()
    assert "All is done." in printed(page)
    assert "Cake" in printed(page)
    start.click()
    expect(start).to_be_hidden()
    expect(label).to_have_text("done")
    page.reload()
    expect(start).to_be_visible()
    page.keyboard.press("Home")  # the slider has the focus
    expect(start).to_be_hidden()
    expect(page.get_by_text("All is done.")).to_be_hidden()
    assert "All is done." in printed(page), "at any moment"


def test_a_replay_plays_from_disk_with_no_network(opened: Any):
    page = opened(hostile_run())
    assert page.locator("h1").first.text_content() == "A page</script><script>document.title = 'taken'"
    from playwright.sync_api import expect

    label = page.locator(".anb-scrubber .label")
    page.keyboard.press("Home")
    expect(label).to_have_text("Your prompt")
    page.keyboard.press("ArrowRight")  # the slider has the focus
    expect(label).to_have_text("turn 1: the request is sent")
    assert axe_findings(page, "html") == []
    page.get_by_role("button", name="Request of turn 1").click()
    page.get_by_text("Everything as JSON").click()
    expect(page.locator(".anb-request pre").last).to_contain_text("A page</script>")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("button", name="Play", exact=True).wait_for()
    page.get_by_text("All is done.").wait_for()
    preview = page.frame_locator(".anb-page iframe >> nth=-1").frame_locator("iframe")
    preview.get_by_role("heading", name="Cake").wait_for()
    expect(preview.locator("#out")).to_have_text("ran")
    assert preview.locator("#dot").evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
    assert page.title().startswith("hero: A page")
    page.get_by_role("button", name="Leave the replay").click()
    page.locator(".anb-scrubber").wait_for(state="hidden")
    for name in ("Pick", "Stop", "Next cell", "Insert", "Restore", "Point at an element"):
        assert page.get_by_role("button", name=name).count() == 0, name
    assert page.get_by_role("textbox").count() == 0
    for url in ("https://example.com/a", "https://example.com/c"):  # and not for want of a network
        expect(preview.locator("body")).to_contain_text(f"refused {url}")
    assert sent(page) <= {"csp"}
    assert len(page.context.pages) == 1


@pytest.mark.parametrize("width", [pytest.param(1200, marks=pytest.mark.wide), 700])
def test_a_data_run_fills_the_window_with_its_bar(opened: Any, width: int):
    from playwright.sync_api import expect

    @tool
    def run_code(code: str) -> ToolOutput:
        printed = {"text/plain": "\n".join(code * 30)}
        return ToolOutput(text="1", summary="30 lines", outputs=(printed,))

    with ScriptedProvider(
        [[call("run_code", {"code": "x"})] * 3, [text("```\na\nb\n```\nThat is all.")]]
    ) as provider:
        run = Agent(provider, tools=[run_code]).run_sync("Sum up DataFrame with 600 rows\n" * 40)
    page = opened(replace(run, settings={**run.settings, "cell": "Sum up {{orders}}"}))
    page.set_viewport_size({"width": width, "height": 700})
    expect(page.locator("h1")).to_have_text("Sum up {{orders}}")
    frame, bar = page.locator(".anb-frame"), page.locator(".anb-scrubber")
    expect(page.get_by_role("button", name="Play").last).to_be_in_viewport(ratio=1)
    for _ in range(2):  # before and after the replay
        assert frame.bounding_box()["height"] > 600
        expect(bar).to_be_in_viewport(ratio=1)
        page.keyboard.press("End")
        expect(page.get_by_text("That is all.")).to_be_in_viewport()
    expect(page.locator(".anb-say pre code")).to_have_css("padding-left", "0px")


HOSTILE = "</script><img src=x onerror=\"document.title = 'taken'\"> \u202etxet"


def run_of_two_variants() -> Run:
    one = hostile_run()
    two = replace(one, events=tuple(replace(event, variant=1) for event in one.events))
    run = replace(one, variants=(one, two)).annotate("turn 1", "Only of the first.").pick(2)
    run = run.annotate("turn 2", HOSTILE, ask=HOSTILE, choices=[HOSTILE, "It stops"], answer=2)
    run = run.annotate("change 2", ask="Why?", choices=["To make cake. \u05d0", "To stop"])
    return run.annotate("end", "A long note. " * 300)


@pytest.mark.wide
def test_a_replay_of_variants_stops_at_questions(opened: Any):
    from playwright.sync_api import expect

    page = opened(run_of_two_variants())
    page.get_by_role("tab", name="Variant 2").click()
    page.get_by_role("button", name="Replay", exact=True).click()  # plays at once
    label, cards = page.locator(".anb-scrubber .label"), page.get_by_role("group", name="Note", exact=True)
    expect(label).to_have_text("turn 2: the request is sent")
    play = page.get_by_role("button", name="Play", exact=True)
    play.wait_for()
    expect(cards).to_contain_text("</script><img src=x")
    assert axe_findings(page, "html") == []
    page.keyboard.press("ArrowRight")  # the replay stays, and the focus goes to the question
    expect(cards).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(cards).to_contain_text("You chose: It stops")
    expect(cards).to_contain_text("That is right.")
    page.get_by_label("Speed").select_option("0.5")
    page.get_by_role("button", name="Go on").press("Enter")
    expect(cards).to_contain_text("Why?")
    play.wait_for()
    page.get_by_role("button", name="To make cake. \u05d0").press("Enter")
    page.get_by_role("button", name="Go on").press("Enter")
    expect(label).to_have_text("done")
    page.get_by_role("tab", name="Variant 1").click()
    expect(page.locator(".anb-noted .which")).to_have_text("Note 1 of 1")
    page.reload()  # the answers are still there, so nothing stops
    page.get_by_role("tab", name="Variant 2").click()
    page.get_by_role("button", name="Replay", exact=True).click()
    expect(label).to_have_text("done")
    expect(cards).to_contain_text("A long note.")
    assert page.title().startswith("hero: A page")
    assert sent(page) <= {"csp"}
