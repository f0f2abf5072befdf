"""The replay in a real JupyterLab: a run just made, and one that was saved and loaded."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.lab import LOAD, run_notebook

RUN = "%%agent hero -m demo: --pace 0\nA landing page for a bakery"
ANOTHER = (
    "from dataclasses import replace\nfrom agent_nb import Agent, load\n"
    "from agent_nb.demo import DemoProvider\n"
    "run = await Agent(DemoProvider(pace=0)).run('A menu for a tea house')\n"
    "load(replace(run, name='tea', key='tea-1').save('tea.run.jsonl'))"
)


@pytest.fixture(scope="module")
def page(lab_pages, lab, request):
    """One page for all: each test goes on where the one before left it."""
    with lab_pages.lend(request) as page:
        page.set_viewport_size({"width": 1280, "height": 1000})
        run_notebook(page, lab, "replay", LOAD, RUN, ANOTHER)
        yield page


def widget(page: Page, name: str) -> Locator:
    """The live interface of a run that has ended, in sight."""
    frame = page.get_by_role("region", name=f"agent run {name}").first
    expect(frame.locator(".phase").first).to_have_text("done")
    frame.scroll_into_view_if_needed()
    return frame


def label(frame: Locator) -> Locator:
    return frame.locator(".anb-scrubber .label")


def drawn(page: Page) -> None:
    """What was asked for is on screen two frames later."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_a_run_is_walked_through(page):
    frame = widget(page, "hero")
    frame.get_by_role("button", name="Replay", exact=True).click()
    slider = frame.get_by_role("slider", name="Moment of the run")
    expect(slider).to_be_focused()
    slider.press("Home")
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    expect(label(frame)).to_contain_text("turn 1: the model thinks")
    slider.press(" ")
    expect(label(frame)).to_contain_text("writes index.html")
    expect(frame.locator(".anb-status .phase")).to_contain_text("writing index.html")
    slider.press(" ")
    expect(frame.get_by_role("button", name="Play", exact=True)).to_be_visible()
    # The notebook's own keys stay out of it: the cell is still there, and still selected.
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(3)


def test_the_request_comes_from_the_kernel(page):
    frame = widget_in_replay(page)
    frame.get_by_role("slider", name="Moment of the run").press("End")
    frame.get_by_role("button", name="Request of turn").click()
    panel = frame.locator(".anb-request")
    expect(panel.locator("h4")).to_have_text("Turn 3: what was sent to the model")
    expect(panel.get_by_text("A landing page for a bakery").first).to_be_attached()
    panel.get_by_text("Tools", exact=True).click()
    expect(panel.get_by_text("create_file", exact=True).first).to_be_visible()
    panel.get_by_role("button", name="Close").click()
    frame.get_by_role("button", name="Leave the replay").click()
    expect(frame.locator(".anb-scrubber")).to_be_hidden()
    expect(frame.locator(".anb-status .phase")).to_have_text("done")


def widget_in_replay(page: Page) -> Locator:
    frame = page.get_by_role("region", name="agent run hero").first
    expect(frame.locator(".anb-scrubber")).to_be_visible()
    return frame


def test_a_loaded_run_grows_as_it_did(page):
    frame = widget(page, "tea")
    frame.get_by_role("button", name="Replay", exact=True).click()
    slider = frame.get_by_role("slider", name="Moment of the run")
    slider.press("Home")
    for _ in range(40):
        slider.press("ArrowRight")
        drawn(page)
        if "calls create_file" in label(frame).inner_text():
            break
    sizes = set()
    for _ in range(6):
        slider.press("Shift+ArrowRight")
        drawn(page)
        sizes.add(frame.locator(".anb-item.live .facts").inner_text())
    assert len(sizes) > 3, sizes
