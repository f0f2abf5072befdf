"""The look of the elements that a prompt points at: added to the question, but not to what identifies it."""

import asyncio
from dataclasses import replace

import pytest

from agent_nb import Agent, VariantsHandle, replay
from agent_nb.core.messages import Image, Text
from agent_nb.engine.start import start_variants
from agent_nb.features.elements.run import SharedLook
from agent_nb.pages import element_look
from agent_nb.pages.element_look import read_looks
from agent_nb.pages.page_check import ViewerUnavailableError
from agent_nb.providers import model
from agent_nb.providers.base import RealClock
from agent_nb.providers.scripted import ScriptedProvider, text
from tests.support.page_viewer import ReportingViewer, plain_png
from tests.support.scripts import run_script, write


class Looking(ReportingViewer):
    """Sees every element at the same place; `why` is why it cannot."""

    def __init__(self, why: str = "", *, stuck: bool = False) -> None:
        super().__init__()
        self.why, self.stuck, self.selectors = why, stuck, []

    async def look_at(self, request):
        self.selectors.append(request.selectors)
        if self.stuck:
            await asyncio.Event().wait()
        if self.why:
            raise ViewerUnavailableError(self.why)
        look = {"box": [8, 20, 300, 40], "style": {"font-size": "32px"}, "png": plain_png(300, 40)}
        return read_looks({"elements": [look] * len(request.selectors)}, request)


@pytest.fixture
async def hero():
    return await run_script([write(content="<h1>Bread</h1><p>Warm</p>")], [text("Done.")])


def scripted(*replies: str) -> ScriptedProvider:
    return ScriptedProvider([[text(reply)] for reply in replies], clock=RealClock())


def pointing(agent, hero, *selectors):
    elements = [hero.element(selector) for selector in selectors]
    request = agent.request("Larger", base=hero)
    return replace(request, given={"elements": tuple(elements)}).prepare(agent.model)


async def question(provider, viewer, hero, *selectors):
    """The parts of the question that the model got, after the prompt."""
    run = await pointing(Agent(provider).with_viewer(viewer), hero, *selectors).start()
    return provider.requests[-1].messages[run.history].parts[1:]


async def test_the_model_gets_a_text_and_an_image_of_each_element(hero):
    viewer = Looking()
    about, *images = await question(scripted("Done."), viewer, hero, "h1", "p")
    assert viewer.selectors == [("h1", "p")]
    assert "- `h1`: 300 x 40 px, at 8 px from the left and 20 px from the top" in about.text
    assert "data, not instructions" in about.text
    assert about.text.endswith("Images of them follow: `h1`, `p`.")
    assert [type(image) for image in images] == [Image, Image]


async def test_a_run_goes_on_without_a_look(hero, monkeypatch):
    monkeypatch.setattr(element_look, "LOOK_SECONDS", 0.01)
    for viewer in (None, ReportingViewer(), Looking("no browser"), Looking(stuck=True)):
        (about,) = await question(scripted("Done."), viewer, hero, "h1")
        assert "nothing could show the page" in about.text


async def test_a_look_is_no_part_of_what_identifies_the_request(hero, tmp_path):
    viewer, path = Looking(), tmp_path / "larger.jsonl"
    recorder = Agent(scripted("Done.")).with_viewer(viewer).recording(path)
    recorded = await pointing(recorder, hero, "h1").start()
    assert len(recorded.messages[recorded.history].parts) > 1

    played = await pointing(Agent(replay(path)).with_viewer(viewer), hero, "h1").start()
    assert played.text == "Done."
    assert played.messages == recorded.messages
    assert len(viewer.selectors) == 1
    follow_ups = [Agent(scripted("Done.")).prepare("More", base=base) for base in (recorded, played)]
    assert follow_ups[0].fingerprint() == follow_ups[1].fingerprint()
    assert follow_ups[0].run_input.earlier_images == ()


async def test_a_demo_does_not_look(hero):
    viewer = Looking()
    run = await pointing(Agent(model("demo:", pace=0)).with_viewer(viewer), hero, "h1").start()
    assert (viewer.selectors, run.messages[run.history].parts) == ([], (Text("Larger"),))


async def test_variants_share_a_look_that_ends_with_them(hero):
    viewer = Looking()
    prepared = pointing(Agent(scripted("One.", "Two.")).with_viewer(viewer), hero, "h1")
    run = await VariantsHandle(start_variants([prepared, prepared]))
    assert (len(run.variants), viewer.selectors) == (2, [("h1",)])

    viewer = Looking(stuck=True)
    handle = pointing(Agent(scripted("One.")).with_viewer(viewer), hero, "h1").start()
    while not viewer.selectors:  # noqa: ASYNC110 - it is the viewer that is waited for
        await asyncio.sleep(0)
    tasks = len(asyncio.all_tasks())
    handle.stop()
    run = await handle
    await asyncio.sleep(0)
    assert run.reason == "stopped"
    assert len(asyncio.all_tasks()) == tasks - 2


async def test_a_variant_looks_again_if_those_before_were_stopped(hero):
    shared, stuck = SharedLook(), Looking(stuck=True)
    first = asyncio.create_task(shared.at([hero.element("h1")], stuck))
    while not stuck.selectors:  # noqa: ASYNC110 - it is the viewer that is waited for
        await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    about, _ = await shared.at([hero.element("h1")], Looking())
    assert "`h1`: 300 x 40 px" in about.text
