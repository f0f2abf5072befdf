"""Runs that end on a limit, a stop or a failure: recorded where it is sound, and played to the same end."""

import asyncio

import pytest

from agent_nb import Agent, Limits, assert_same, replay, tool
from agent_nb.engine.approval import Answer
from agent_nb.errors import CassetteError, ProviderError
from agent_nb.events import ApprovalResolved, ToolFinished, TurnRetrying, TurnStarted, UsageUpdated
from agent_nb.providers.base import RealClock
from agent_nb.providers.scripted import ScriptedProvider, call, fail, stall, stop, text, think, usage, wait
from agent_nb.tools import Toolbox
from tests.support.cassettes import PROMPT, facts, play
from tests.support.scripts import PAGE, of, write

PRICED = "anthropic:claude-sonnet-4-5"
CUT = ProviderError("Overloaded.", retryable=True, retry_after=2.5)


@pytest.fixture
def tape(tmp_path):
    return tmp_path / "cassettes" / "hero.jsonl"


def begin(tape, *turns, clock=None, name="scripted:test", **settings):
    """A run of this script under way, recorded whatever its end."""
    agent = Agent(ScriptedProvider(list(turns), name=name, clock=clock), **settings)
    return agent.recording(tape, force=True).start(PROMPT)


async def until(handle, kind):
    """Waits for the first event of a kind."""
    async for event in handle:
        if isinstance(event, kind):
            return


async def assert_plays_again(tape, handle, reason, **settings):
    run = await handle
    assert run.reason == reason, run.error
    assert handle.recorded.startswith("Recorded in "), handle.recorded
    again = await play(tape, **settings)
    assert facts(again) == facts(run)
    for name in ("messages", "usage", "cost", "seconds", "error"):
        assert getattr(again, name) == getattr(run, name), name
    assert dict(again.files) == dict(run.files)
    assert_same(run, again)
    return again


async def test_a_budget_ends_a_replay_too(tape):
    turns = [[write(), usage(input=900, output=90)], [text("x" * 9000, fragment=50), usage(output=9)]]
    limits = Limits(usd=0.02)
    again = await assert_plays_again(tape, begin(tape, *turns, name=PRICED, limits=limits), "budget")
    assert of(again, UsageUpdated)[-1].estimated
    assert again.cost > 0.02
    assert again.html == PAGE


async def test_a_budget_spent_before_a_turn_is_kept(tape):
    turns = [[write(), usage(input=9_000_000)], [text("never said")]]
    handle = begin(tape, *turns, name=PRICED, limits=Limits(usd=0.02))
    again = await assert_plays_again(tape, handle, "budget")
    assert len(of(again, TurnStarted)) == 2
    assert not again.text


@pytest.mark.parametrize(("counted", "output"), [([], 2), ([usage(input=700, output=5)], 5)])
async def test_a_time_limit_ends_a_replay_too(tape, counted, output):
    turn = [think("Hm."), *counted, wait(3.2), text("I beg"), wait(7.0), text("in")]
    again = await assert_plays_again(tape, begin(tape, turn, limits=Limits(seconds=5.0)), "max_seconds")
    assert (again.seconds, again.usage.output) == (10.2, output)


async def test_a_limit_reached_in_a_wait_is_kept(tape):
    turns = [[wait(3.0), text("half a page"), fail(CUT)], [text("never said")]]
    again = await assert_plays_again(tape, begin(tape, *turns, limits=Limits(seconds=5.0)), "max_seconds")
    assert again.seconds >= 5.5
    assert len(of(again, TurnRetrying)) == 1


async def test_a_stop_while_the_model_writes_is_kept(tape):
    handle = begin(tape, [write("a.html")], [write("b.html", fragment=5), stall()], clock=RealClock())
    await until(handle, ToolFinished)
    await asyncio.sleep(0.02)
    handle.stop()
    again = await assert_plays_again(tape, handle, "stopped")
    assert dict(again.files) == {"a.html": PAGE, "b.html": PAGE}


async def test_a_stop_in_a_wait_is_kept(tape):
    handle = begin(tape, [text("half a page"), fail(CUT)], [text("never said")], clock=RealClock())
    await until(handle, TurnRetrying)
    await asyncio.sleep(0.02)
    handle.stop("interrupted")
    again = await assert_plays_again(tape, handle, "interrupted")
    assert 0 < again.seconds < 2.5


@pytest.mark.parametrize("asks", [False, True], ids=["running", "asking"])
async def test_a_stop_while_tools_run_is_kept(tape, asks):
    begun = asyncio.Event()

    @tool(approval="ask" if asks else "never")
    async def bake(loaves: int) -> str:
        """Bakes for ever."""
        begun.set()
        await asyncio.Event().wait()
        return "bread"

    async def ask(request) -> Answer:
        begun.set()
        await asyncio.Event().wait()
        return Answer(True)

    tools = [*Toolbox.default(), bake]
    calls = [call("bake", {"loaves": 2}), write("a.html"), call("nope")]
    handle = begin(tape, calls, [text("never said")], tools=tools, clock=RealClock())
    handle.approve_with(ask)
    await begun.wait()
    await asyncio.sleep(0.02)
    handle.stop()
    again = await assert_plays_again(tape, handle, "stopped", tools=tools)
    assert [use.result.code for use in again.tool_uses] == ["STOPPED", None, "UNKNOWN_TOOL"]
    assert [event.approved for event in of(again, ApprovalResolved)] == ([False] if asks else [])


@pytest.mark.parametrize(
    "turns",
    [
        [[fail(ProviderError("The key is refused."))]],
        [[write()], [text("half"), fail(ProviderError("Gone."))]],
        [[text("half"), usage(input=7), fail(CUT)]] * 5,
        [[write()], [text("half"), fail(ValueError("a bug"))]],
    ],
    ids=["at once", "later", "after every retry", "a bug"],
)
async def test_a_failure_is_the_answer_again(tape, turns):
    again = await assert_plays_again(tape, begin(tape, *turns), "failed")
    assert again.error


async def test_variants_end_each_in_its_way(tape):
    turns = [[write(), usage(input=5)], [text("half a page"), stall()]]
    providers = [ScriptedProvider(turns, clock=RealClock()), ScriptedProvider([[text("ok"), usage(input=3)]])]
    race = Agent(providers[0]).recording(tape, force=True).race(PROMPT, models=providers)
    await race.handles[1]
    await asyncio.sleep(0.02)
    race.stop(number=1)
    run = await race
    again = await Agent(replay(tape)).race(PROMPT)
    assert [one.reason for one in again.variants] == ["stopped", "end_turn"]
    for one, other in zip(run.variants, again.variants, strict=True):
        assert facts(other) == facts(one)


async def test_a_replay_of_a_cut_run_records_the_same(tape, tmp_path):
    handle = begin(
        tape, [write()], [text("half a page"), fail(CUT)], [text("gone")], limits=Limits(seconds=2.0)
    )
    await assert_plays_again(tape, handle, "max_seconds")
    copy = tmp_path / "copy.jsonl"
    await Agent(replay(tape)).recording(copy).run(PROMPT)
    assert copy.read_text() == tape.read_text()


async def test_calls_cut_at_the_token_limit_play_again(tape):
    cut = [call("create_file", '{"path": "index.html", "content": "<h1>Bre'), stop("max_tokens")]
    await assert_plays_again(tape, begin(tape, cut, [write("a.html")], cut, cut), "max_tokens")


@pytest.mark.parametrize("reason", ["stopped", "interrupted", "failed"])
async def test_a_good_recording_is_not_replaced_by_a_stopped_run(tape, reason):
    good = begin(tape, [text("ok")])
    await good
    before = tape.read_bytes()
    last = fail(ProviderError("Gone.")) if reason == "failed" else stall()
    handle = Agent(ScriptedProvider([[write()], [last]])).recording(tape).start(PROMPT)
    if reason != "failed":
        await until(handle, ToolFinished)
        handle.stop(reason)
    assert (await handle).reason == reason
    assert handle.recorded.startswith("Not recorded: the run ")
    assert handle.recorded.endswith("`--record --force` records such a run too.")
    assert tape.read_bytes() == before


async def test_a_run_that_asked_nothing_is_not_recorded(tape):
    handle = begin(tape, [text("never said")])
    handle.stop()
    assert (await handle).reason == "stopped"
    assert handle.recorded == "Not recorded: the run ended before the model was asked."
    assert not tape.exists()


async def test_a_cut_run_does_not_go_on(tape):
    handle = begin(tape, [text("half a page"), stall()], clock=RealClock())
    await asyncio.sleep(0.02)
    handle.stop()
    await handle
    whole = tape.read_text().replace('"end": "stopped"', '"end": "end_turn"')
    tape.write_text(whole)
    with pytest.raises(CassetteError, match="the last turn has no end"):
        replay(tape)
