"""Addresses that a model wrote: the person is asked about each host before anything is fetched from it.

The hosts here are private addresses, which are refused after the question and before any connection.
"""

import asyncio

import pytest

from agent_nb import Agent, Run
from agent_nb.core.events import ApprovalRequested, ApprovalResolved, ToolFinished
from agent_nb.core.messages import Image
from agent_nb.engine.approval import Answer
from agent_nb.engine.start import VariantsHandle, start_variants
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.drawings import png
from tests.support.scripts import of

YES = Answer(True)
FETCHED = "is a private address"
"""The answer once a fetch was tried."""


def save(*sources: str):
    return call(
        "save_assets", {"assets": [{"source": one, "path": f"{at}.png"} for at, one in enumerate(sources)]}
    )


async def run_saving(*turns, answer=YES, approve="ask", tape=None) -> Run:
    async def ask(request: ApprovalRequested) -> Answer:
        await asyncio.sleep(0)
        return answer

    with ScriptedProvider([*map(list, turns), [text("ok")]]) as provider:
        agent = Agent(provider, approve=approve)
        handle = (agent.recording(tape) if tape else agent).start("go", images=[Image(png())])
        if answer is not None:
            handle.approve_with(ask)
        return await handle


def ends(run: Run) -> list[str]:
    return [event.summary for event in of(run, ToolFinished)]


def questions(run: Run) -> list[str]:
    return [event.title for event in of(run, ApprovalRequested)]


async def test_the_question_names_host_and_count():
    run = await run_saving(
        [save("https://127.0.0.1/a?secret", "https://127.0.0.1/b", "https://10.0.0.1:8443/c", "input:1")]
    )
    assert questions(run) == ["fetch 3 images: 2 from 127.0.0.1, 1 from 10.0.0.1:8443"]
    assert of(run, ApprovalRequested)[0].name == "save_assets from 127.0.0.1, 10.0.0.1:8443"
    assert list(run.files) == ["3.png"]


async def test_a_host_is_asked_about_once_in_a_run():
    one = save("https://127.0.0.1/a")
    run = await run_saving([one, one], [one], [save("https://10.0.0.1/a")])
    assert questions(run) == ["fetch an image from 127.0.0.1", "fetch an image from 10.0.0.1"]
    assert all(FETCHED in end for end in ends(run))
    assert len(ends(run)) == 4


@pytest.mark.parametrize(
    ("answer", "approve", "reason"),
    [
        (Answer(False), "ask", "You said no."),
        (None, "ask", "nobody is there to ask"),
        (Answer(True), "deny", "switched off"),
        (Answer(True), lambda asked, args: False, "It was not approved."),
    ],
)
async def test_without_a_yes_nothing_is_fetched(answer, approve, reason):
    run = await run_saving([save("https://127.0.0.1/a", "input:1")], answer=answer, approve=approve)
    end = of(run, ToolFinished)[0]
    assert end.code == "DENIED"
    assert end.summary.startswith("Nothing was fetched from 127.0.0.1: ")
    assert reason in end.summary
    assert "images that the person gave" in end.hint
    assert not run.files


async def test_the_word_of_the_person_is_the_hint():
    run = await run_saving([save("https://127.0.0.1/a")], answer=Answer(False, "draw one"))
    assert of(run, ToolFinished)[0].hint.startswith("draw one")


@pytest.mark.parametrize(("approve", "by"), [("auto", []), (lambda asked, args: True, ["function"])])
async def test_whoever_approves_everything_is_not_asked(approve, by):
    run = await run_saving([save("https://127.0.0.1/a")], answer=None, approve=approve)
    assert [event.by for event in run.events if isinstance(event, ApprovalResolved)] == by
    assert FETCHED in ends(run)[0]


async def test_what_is_here_needs_no_question():
    run = await run_saving([save("input:1", "data:image/png;base64,xx", "http://127.0.0.1/a")])
    assert questions(run) == []
    assert "0.png" in run.files


async def test_a_host_is_asked_about_once_for_all_variants():
    asked: list[ApprovalRequested] = []

    async def ask(request: ApprovalRequested) -> Answer:
        asked.append(request)
        await asyncio.sleep(0.01)  # so that the other variant gets there too
        return YES

    turns = [[save("https://127.0.0.1/a")], [text("ok")]]
    with ScriptedProvider(turns) as one, ScriptedProvider(turns) as other:
        prepared = [Agent(provider).prepare("go") for provider in (one, other)]
        race = VariantsHandle(start_variants(prepared))
        race.approve_with(ask)
        run = await race
    assert [request.title for request in asked] == ["fetch an image from 127.0.0.1"]
    assert all(FETCHED in end for variant in run.variants for end in ends(variant))
