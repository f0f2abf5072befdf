"""A replay that is stopped leaves what was played, whole: every call has a result, and the run can go on."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent_nb import Agent, load, replay, tool
from agent_nb.core.errors import ProviderError
from agent_nb.core.events import ApprovalRequested, ApprovalResolved, ToolFinished, ToolRunning
from agent_nb.core.messages import Message, ToolResult
from agent_nb.engine.approval import Answer
from agent_nb.providers.scripted import ScriptedProvider, call, fail, text, think, usage
from agent_nb.run import Run
from tests.support.cassettes import PROMPT, facts, record
from tests.support.scripts import PAGE, of, write
from tests.unit.cassette.test_property import scripts


async def stopped(path: Path, when, **settings) -> Run:
    """A replay that is stopped at the first event that fits."""
    handle = Agent(replay(path), **settings).start(PROMPT)
    handle.subscribe(lambda event: handle.stop() if when(event) else None)
    return await handle


def open_calls(messages: tuple[Message, ...]) -> list[str]:
    """The calls without a result in the message after them."""
    after = [*messages[1:], Message(role="user", parts=())]
    return [
        asked.id
        for message, next_message in zip(messages, after, strict=True)
        for asked in message.tool_calls
        if asked.id not in [part.call_id for part in next_message.parts if isinstance(part, ToolResult)]
    ]


@given(scripts(), st.integers(1, 70))
def test_a_replay_that_is_stopped_anywhere_is_a_whole_run(turns, place):
    async def scenario(path: Path) -> None:
        run = await record(path, *turns)
        part = await stopped(path, lambda event: event.seq == place)
        count = min(place, len(run.events))
        assert facts(part)[: count - 1] == facts(run)[: count - 1]
        assert [event.seq for event in part.events] == [*range(1, len(part.events) + 1)]
        assert part.reason == ("stopped" if place < len(run.events) else run.reason)
        assert not open_calls(part.messages)
        assert load(part.save(path.with_name("part.run.jsonl"))) == part
        with ScriptedProvider([[text("On.")]]) as provider:
            assert (await Agent(provider).run("Go on", base=part)).text == "On."

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder) / "tape.run.jsonl"))


async def test_a_stop_in_a_turn_keeps_what_was_written(tape):
    long = PAGE * 5
    await record(
        tape,
        [think("So."), text("Here it is."), write(content=long, fragment=5), usage(input=9)],
        [text("ok")],
    )
    half = await stopped(tape, lambda event: getattr(event, "offset", 0) > 20)
    assert 20 < len(half.html) < len(long)
    assert long.startswith(half.html)
    assert half.messages[-1].text == "Here it is."
    assert of(half, ToolFinished)[-1].summary == f"Cut off at {len(half.html)} bytes, unfinished."


async def test_a_stop_among_tools_keeps_the_results_so_far(tape):
    await record(tape, [write(id="a"), write("b.html", id="b")], [text("ok")])
    run = await stopped(tape, lambda event: isinstance(event, ToolFinished))
    first, second = run.messages[-1].parts
    assert (first.code, second.code) == (None, "STOPPED")
    assert run.usage == load(tape).usage


async def test_a_question_that_is_open_at_the_stop_is_answered(tape):
    @tool(approval="ask")
    def send(what: str) -> str:
        """Sends."""
        return "sent"

    async def yes(request: ApprovalRequested) -> Answer:
        return Answer(True)

    handle = Agent(ScriptedProvider([[call("send", {"what": "x"})], [text("ok")]]), tools=[send]).start(
        PROMPT
    )
    handle.approve_with(yes)
    (await handle).save(tape)
    run = await stopped(tape, lambda event: isinstance(event, ApprovalRequested), tools=[send])
    assert of(run, ApprovalResolved)[0].by == "stopped"
    assert not of(run, ToolRunning)


async def test_a_stop_after_a_withdrawn_attempt_keeps_none_of_it(tape):
    cut = fail(ProviderError("Cut.", retryable=True))
    await record(tape, [text("Half a"), write(), cut], [text("Whole.")])
    run = await stopped(tape, lambda event: event.type == "turn_retrying")
    assert [message.role for message in run.messages] == ["user"]
    assert not run.files
