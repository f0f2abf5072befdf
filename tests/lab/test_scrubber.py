"""The replay in a real JupyterLab: a saved run that was loaded is walked through, and the kernel knows its requests."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import LOAD, Lab, run_notebook

LOADED = (
    "from dataclasses import replace\nfrom agent_nb import Agent, load\n"
    "from agent_nb.demo import DemoProvider\n"
    "run = await Agent(DemoProvider(pace=0)).run('A menu for a tea house')\n"
    "load(replace(run, name='tea', key='tea-1').save('tea.run.jsonl'))"
)


@pytest.mark.wide
def test_a_loaded_run_is_walked_through_and_its_request_comes_from_the_kernel(page: Page, lab: Lab):
    run_notebook(page, lab, "replay", LOAD, LOADED)
    frame = page.get_by_role("region", name="agent run tea").first
    expect(frame.locator(".phase").first).to_have_text("done")
    frame.get_by_role("button", name="Replay", exact=True).click()
    slider, label = (
        frame.get_by_role("slider", name="Moment of the run"),
        frame.locator(".anb-scrubber .label"),
    )
    expect(slider).to_be_focused()
    for key in ("Home", "ArrowRight", "ArrowRight"):
        slider.press(key)
    expect(label).to_contain_text("turn 1: the model thinks")
    slider.press(" ")
    expect(label).to_contain_text("writes index.html")  # a loaded run grows as it did
    slider.press(" ")
    expect(frame.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(2)  # the notebook did not take the keys
    slider.press("End")
    frame.get_by_role("button", name="Request of turn").click()
    panel = frame.locator(".anb-request")
    expect(panel.get_by_text("A menu for a tea house").first).to_be_attached()
    panel.get_by_text("Tools", exact=True).click()
    expect(panel.get_by_text("create_file", exact=True).first).to_be_visible()
    panel.get_by_role("button", name="Close").click()
    frame.get_by_role("button", name="Leave the replay").click()
    expect(frame.locator(".anb-scrubber")).to_be_hidden()
    expect(frame.locator(".anb-status .phase")).to_have_text("done")
