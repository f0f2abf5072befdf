"""A replay emits every kind of event, or `NOT_REPLAYED` says why it does not."""

import json
from dataclasses import replace
from typing import get_args

from agent_nb import Agent, ToolContext, replay, tool
from agent_nb.cassette.recorder import NOT_REPLAYED
from agent_nb.engine.approval import Answer
from agent_nb.engine.cost import UPDATE_EVERY
from agent_nb.errors import ProviderError
from agent_nb.events import ApprovalResolved, Event
from agent_nb.messages import user
from agent_nb.providers.scripted import ScriptedProvider, call, fail, text, think, usage
from agent_nb.run import Run
from agent_nb.tools import Toolbox
from tests.support.cassettes import PROMPT, facts
from tests.support.scripts import called, write


@tool(approval="ask")
async def count_guests(day: str, context: ToolContext) -> str:
    """Counts the guests of a day."""
    context.progress(f"looking at {day}")
    return "42 guests"


BEFORE = [user("A page"), *called("create_file", "Created.", path="a.html", content="bread " * 900)]
TOOLS = [*Toolbox.default(), count_guests]


async def record_every_event(path) -> Run:
    """A run that has every kind of event at least once."""

    async def approve(request) -> Answer:
        return Answer(True, "Not Monday.", {"day": "Tuesday"})

    turns = [
        [text("Half a sen"), fail(ProviderError("Overloaded.", retryable=True))],
        [fail(ProviderError("Too long.", too_long=True))],
        [think("Hm."), write(fragment=5), call("count_guests", {"day": "Monday"})],
        [text("x" * UPDATE_EVERY, fragment=100), usage(input=20, output=9)],
    ]
    handle = Agent(ScriptedProvider(turns), tools=TOOLS).recording(path).start(PROMPT, messages=BEFORE)
    handle.approve_with(approve)
    return await handle


def without_numbers(events: list[Event]) -> list[Event]:
    """The events with the numbers gone that shift when one of them is left out."""
    return [replace(event, seq=0) for event in events]


async def test_a_replay_emits_every_kind_of_event(tmp_path):
    path = tmp_path / "tape.jsonl"
    run = await record_every_event(path)
    missing = {*get_args(Event)} - {type(event) for event in run.events} - {*NOT_REPLAYED}
    assert not missing, "let record_every_event emit these, or give the reason in NOT_REPLAYED"
    again = await Agent(replay(path), tools=TOOLS).run(PROMPT, messages=BEFORE)
    replayed = [event for event in facts(run) if type(event) not in NOT_REPLAYED]
    assert without_numbers(facts(again)) == without_numbers(replayed)


async def test_a_cassette_of_an_older_release_has_the_answer_of_a_person(tmp_path):
    """Its answers say neither who gave them nor what ran."""
    path = tmp_path / "tape.jsonl"
    await record_every_event(path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    (answered,) = [line for line in lines if line.get("tool") == "answered"]
    assert answered.pop("executed") == {"day": "Tuesday"}
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    again = await Agent(replay(path), tools=TOOLS).run(PROMPT, messages=BEFORE)
    (resolved,) = [event for event in again.events if isinstance(event, ApprovalResolved)]
    assert (resolved.by, resolved.executed) == ("person", {"day": "Monday"})
