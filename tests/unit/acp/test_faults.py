"""An agent that breaks at any message: the run ends once, complete, with a sentence, and no process is left."""

import asyncio

import pytest

import agent_nb
from agent_nb import Agent, events
from agent_nb._base import program
from agent_nb.acp import session, turns
from tests.support.processes import ended
from tests.support.waiting import PATIENCE
from tests.unit.acp.test_runs import PAGE

MESSAGES = 11
"""What the agent sends in the run of `PAGE`: two answers, eight of the prompt, its result."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(program, "GRACE", 0.1)
    monkeypatch.setattr(turns, "_TICK", 0.05)
    monkeypatch.setattr(turns, "CANCEL_LIMIT", 0.2)


async def closed():
    """Waits until the agents of this test have been ended."""
    while turns._closing:
        await asyncio.wait(turns._closing, timeout=PATIENCE)
    assert not program._running


async def gone(pid):
    """Waits until a process has noticed that it was ended."""
    async with asyncio.timeout(PATIENCE):
        while not ended(pid):  # noqa: ASYNC110 - it is not ours
            await asyncio.sleep(0.01)


def check(run):
    """Whatever happened, the run is complete."""
    assert run.events[-1].type == "run_finished"
    started = [event.call_id for event in run.events.of(events.ToolStarted)]
    assert sorted(started) == sorted(event.call_id for event in run.events.of(events.ToolFinished))
    calls = [call for message in run.own_messages for call in message.tool_calls]
    assert len(run.tool_uses) == len(calls)
    assert all(use.result is not None for use in run.tool_uses)


@pytest.mark.parametrize("number", range(MESSAGES))
@pytest.mark.parametrize("fault", ["dies", "closes"])
async def test_an_agent_that_breaks_down_ends_the_run_as_failed(fake, fault, number):
    fake.plays(PAGE, fault=f"{fault}@{number}")
    run = await Agent("acp:fake", approve="auto").run("Go.")
    check(run)
    assert run.reason == "failed"
    if fault == "dies":
        assert run.error == "fake has ended. It ended with code 7. It wrote: out of memory"
    else:
        assert run.error == "fake has ended. It closed its output."
    if number > 6:
        assert run.files.versions("index.html")[0] == "<h1>Bread</h1>\n"
    await closed()


@pytest.mark.parametrize("number", range(MESSAGES))
async def test_an_agent_that_hangs_ends_by_a_limit(fake, number, monkeypatch):
    starts, calls = number < 2, number in (5, 8)  # it may take as long as it likes for a call
    if starts:
        monkeypatch.setattr(session, "START_LIMIT", 0.3)
    fake.plays(PAGE, fault=f"hangs@{number}")
    model, seconds = agent_nb.model("acp:fake", silence=0.3), 1.0 if calls else PATIENCE
    run = await Agent(model, approve="auto", limits=agent_nb.Limits(seconds=seconds)).run("Go.")
    check(run)
    if calls:
        assert run.reason == "max_seconds"
    else:
        assert run.error.startswith(
            "fake did not start within 0.3 seconds" if starts else "fake sent nothing for"
        )
    await closed()


@pytest.mark.parametrize("number", range(MESSAGES))
async def test_odd_lines_unknown_updates_and_a_loud_stderr_change_nothing(run_fake, number):
    run = await run_fake(PAGE, fault=f"odd@{number}")
    check(run)
    assert (run.reason, run.text) == ("end_turn", "Done.")
    assert run.files["index.html"] == "<h1>Bread in Lyon</h1>\n"


async def test_stop_ends_an_agent_that_talks_without_a_pause(fake):
    fake.plays([{"flood": "More. "}])
    running = Agent("acp:fake").start("Go.")
    async for event in running:
        if event.type == "text_delta":
            break
    running.stop()
    async with asyncio.timeout(PATIENCE):
        run = await running
    check(run)
    assert run.reason == "stopped"
    await closed()


async def test_a_launcher_that_ends_while_its_child_holds_the_pipes(run_fake, fake):
    run = await run_fake([{"say": "Hm."}, {"launcher": True}])
    assert run.error == "fake has ended. It ended with code 3."
    await closed()
    await gone(fake.noted("child")[0])


async def test_no_process_is_left_of_an_agent_that_ignores_the_end(run_fake, fake):
    run = await run_fake([{"child": True}, {"say": "Done."}], ignores_end=True)
    assert run.reason == "end_turn"
    await closed()
    await gone(fake.noted("child")[0])


@pytest.mark.parametrize("place", ["new", "prompts"])
async def test_an_agent_without_a_login_names_the_command(fake, place):
    error = {"error": {"code": -32000, "message": "Authentication required"}}
    fake.plays([{"end": error}], agent="claude", **({"new": error} if place == "new" else {}))
    run = await Agent("acp:claude").run("Go.")
    assert run.error == (
        "Claude Code is not logged in: Authentication required."
        " Run `claude /login` in a terminal to log in, or set ANTHROPIC_API_KEY."
    )


async def test_details_and_secrets_of_an_error(run_fake):
    from agent_nb._base.secrets import register

    register("sk-planted-0123456789")
    data = {"details": "the key sk-planted-0123456789 is wrong"}
    run = await run_fake([{"end": {"error": {"code": -32603, "message": "Internal error", "data": data}}}])
    assert run.error == "fake failed: Internal error: the key ••• is wrong."


async def test_another_version_of_the_protocol(run_fake):
    run = await run_fake([], initialize={"protocolVersion": 2})
    assert run.error.startswith("fake uses version 2 of the protocol, not 1.")


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("max_turn_requests", "max_steps"),
        ("refusal", "refusal"),
        ("cancelled", "end_turn"),
        ("of_its_own", "end_turn"),
    ],
)
async def test_stop_reasons(run_fake, stop, reason):
    run = await run_fake([{"say": "Hm."}, {"end": {"stopReason": stop}}])
    assert run.reason == reason


async def test_a_call_that_is_never_closed_is_closed_at_the_end(run_fake):
    call = {"toolCallId": "c1", "title": "ls", "kind": "execute", "status": "in_progress"}
    run = await run_fake([{"update": "tool_call", **call}, {"say": "Done."}])
    check(run)
    [use] = run.tool_uses
    assert (use.ok, use.summary) == (False, "The agent did not report the outcome.")
