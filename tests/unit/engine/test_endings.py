"""Every way a run may end, and what it leaves: limits, failures, refusals, stops, approvals."""

import asyncio

import pytest

from agent_nb import Agent, Limits, Run, tool
from agent_nb.core.errors import ProviderError, RunFailedError
from agent_nb.core.events import (
    MessageAdded,
    RunFinished,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnRetrying,
    TurnStarted,
)
from agent_nb.core.messages import Image, assistant, user
from agent_nb.providers.scripted import (
    ScriptedProvider,
    call,
    fail,
    pause,
    refuse,
    stall,
    stop,
    text,
    think,
    wait,
)
from agent_nb.tools import ToolOutput
from tests.support.scripts import PAGE, Halt, of, run_script, stop_at, wait_for_ever, write


async def test_the_last_step_is_asked_to_sum_up():
    run = await run_script([write()], [text("So far so good.")], limits=Limits(steps=2))
    assert run.reason == "max_steps"
    assert "last step" in run.messages[-2].text
    assert run.text == "So far so good."


async def test_calls_beyond_the_step_limit_are_not_run():
    run = await run_script([write("a.txt")], [write("b.txt")], limits=Limits(steps=2))
    assert run.reason == "max_steps"
    assert run.tool_uses[1].result.code == "STOPPED"
    assert run.messages[-1].role == "tool"
    assert run.files["b.txt"] == PAGE, "it is kept as a draft"


async def test_a_cut_turn_is_withdrawn_and_tried_again():
    cut = fail(ProviderError("The connection was cut.", retryable=True))
    run = await run_script(
        [text("Hel"), write(id="c"), cut], [text("Hello."), write(id="c")], [text("Done.")]
    )
    (retrying,) = of(run, TurnRetrying)
    assert (retrying.attempt, retrying.why) == (1, "The connection was cut.")
    assert [event.call_id for event in of(run, ToolStarted)] == ["c", "c"]
    assert len(of(run, TurnStarted)) == 2
    assert len(run.files.versions("index.html")) == 1
    assert [use.ok for use in run.tool_uses] == [True]


async def test_no_two_calls_of_a_run_share_an_id():
    ids = ["call", "call", "call#2", "call", "call#2"]
    written = [write(f"{number}.txt", id=id_) for number, id_ in enumerate(ids)]
    cut = fail(ProviderError("The connection was cut.", retryable=True))
    later = write("5.txt", id="call")
    run = await run_script([*written, cut], written, [later], [text("Done.")])
    assert len({event.call_id for event in of(run, ToolFinished)}) == len(ids) + 1
    assert [use.call.id for use in run.tool_uses] == [*ids, "call"]
    assert [use.title for use in run.tool_uses] == [f"create {number}.txt" for number in range(6)]


async def test_retries_end_with_the_vendors_words():
    cut = [fail(ProviderError("The service is overloaded.", retryable=True))]
    run = await run_script(cut, cut, cut, cut, cut)
    assert (run.reason, run.error) == ("failed", "The service is overloaded.")
    with pytest.raises(RunFailedError, match="overloaded"):
        run.raise_for_failure()


async def test_a_long_wait_is_not_waited_for():
    run = await run_script([fail(ProviderError("Slow down.", retryable=True, retry_after=3600))])
    assert run.reason == "failed"
    assert "3600 s" in run.error


async def test_a_failure_does_not_make_a_file_of_the_prompt():
    provider = ScriptedProvider([[fail(ProviderError("The key is refused."))]])
    run = await Agent(provider).run("Make this blue:\n```html\n<h1>Bread</h1>\n```")
    assert (run.reason, dict(run.files)) == ("failed", {})


async def test_a_refusal_is_data_with_the_vendors_words():
    run = await run_script([refuse("I cannot help with that.")])
    assert (run.reason, run.error) == ("refusal", "I cannot help with that.")


async def test_a_turn_cut_at_the_token_limit_says_so():
    run = await run_script([text("Once upon"), stop("max_tokens")])
    assert run.reason == "max_tokens"


CUT_CALLS = ['{"path": "index.html", "content": "<h1>Bre', '{"path": "index.html"', "{}"]


@pytest.mark.parametrize("arguments", CUT_CALLS, ids=["in a text", "after a value", "at once"])
async def test_a_call_cut_at_the_token_limit_is_told_so(arguments):
    cut = [call("list_files"), call("create_file", arguments), stop("max_tokens")]
    run = await run_script(cut, [write()], cut, [write()], [text("Done.")])
    assert (run.reason, run.html) == ("end_turn", PAGE)
    listed, result = run.tool_uses[0].result, run.tool_uses[1].result
    assert (listed.ok, result.code) == (True, "INVALID_JSON")
    assert "cut off at the model's output limit" in result.text
    assert "escaped" not in result.text


async def test_two_calls_cut_in_a_row_end_the_run_and_keep_the_text():
    cut = [call("create_file", CUT_CALLS[0]), stop("max_tokens")]
    run = await run_script(cut, cut)
    assert (run.reason, run.html) == ("max_tokens", "<h1>Bre")
    assert [use.result.code for use in run.tool_uses] == ["INVALID_JSON", "STOPPED"]


async def test_a_whole_call_before_the_token_limit_is_run():
    turn = [write(), stop("max_tokens")]
    run = await run_script(turn, turn, turn, [text("Done.")])
    assert (run.reason, run.html) == ("end_turn", PAGE)
    assert all(use.ok for use in run.tool_uses)


@pytest.mark.parametrize("ending", [[], [text("So"), stop("max_tokens")]], ids=["whole", "cut later"])
async def test_invalid_arguments_that_were_not_cut_are_told_so(ending):
    run = await run_script(*[[call("create_file", CUT_CALLS[0]), *ending]] * 3, [text("Done.")])
    assert run.reason == "end_turn"
    assert "not valid JSON" in run.tool_uses[0].result.text


async def test_seconds_end_a_run_that_stalls():
    from agent_nb.providers.base import RealClock

    provider = ScriptedProvider([[text("Hm."), stall()]], clock=RealClock())
    run = await Agent(provider, limits=Limits(seconds=0.05)).run("go")
    assert run.reason == "max_seconds"


async def stopped(turn, *, reason="stopped", **settings) -> Run:
    """A run that is stopped at the end of its turn."""
    halt = Halt()
    handle = Agent(ScriptedProvider([[*turn, pause(halt)]]), **settings).start("go")
    await halt.reached.wait()
    handle.stop(reason)
    return await handle


@pytest.mark.parametrize(
    "turn",
    [[], [think("Hm")], [text("Well")], [write(fragment=6)]],
    ids=["before-anything", "thinking", "text", "arguments"],
)
async def test_stop_in_a_stream_leaves_a_finished_run(turn):
    run = await stopped(turn)
    assert run.reason == "stopped"
    assert isinstance(run.events[-1], RunFinished)
    started = [(event.call_id, "STOPPED") for event in of(run, ToolStarted)]
    assert started == [(event.call_id, event.code) for event in of(run, ToolFinished)]
    assert not asyncio.all_tasks() - {asyncio.current_task()}


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        ('{"path": "a.html", "content": "<h1>Bre', {"a.html": "<h1>Bre"}),
        ('{"content": "<h1>Bre', {"index.html": "<h1>Bre"}),
        ('{"content": "<h1>Bread</h1>", "path": "a.html"', {"a.html": "<h1>Bread</h1>"}),
        ('{"content": "body{', {"untitled": "body{"}),
    ],
    ids=["path first", "no path yet", "path last", "no page"],
)
async def test_stop_keeps_a_file_as_far_as_it_was_written(arguments, files):
    run = await stopped([call("create_file", arguments, fragment=4)])
    assert dict(run.files) == files


@pytest.mark.parametrize("reason", ["stopped", "interrupted", "max_seconds"])
async def test_what_was_said_before_a_stop_is_kept(reason):
    run = await stopped([think("Hm."), text("I will wr", fragment=2), write(fragment=6)], reason=reason)
    assert (run.reason, run.text, run.tool_uses) == (reason, "I will wr", ())
    provider = ScriptedProvider([[text("Done.")]])
    await Agent(provider).run("Go on", base=run)
    *history, question = provider.requests[-1].messages
    assert (history, question.parts[0].text) == ([user("go"), assistant("I will wr")], "Go on")


async def test_a_limit_reached_in_a_text_keeps_what_was_said():
    run = await run_script(
        [text("I beg"), wait(7.0), text("in"), wait(1.0), text("ning")], limits=Limits(seconds=5.0)
    )
    assert (run.reason, run.text) == ("max_seconds", "I begin")


async def test_a_page_in_an_unfinished_answer_is_kept():
    run = await stopped([text("```html\n<h1>Bre")], tools=[])
    assert (run.html, [*run.files.unfinished]) == ("<h1>Bre", ["index.html"])


async def test_a_whole_page_in_an_unfinished_answer_is_finished():
    run = await stopped([text("```html\n<h1>Bread\n```\nThis is ")], tools=[])
    assert (run.html, [*run.files.unfinished]) == ("<h1>Bread", [])


@pytest.mark.parametrize(
    ("last", "turns"),
    [
        (TextDelta, [[text(" \n"), stall()]]),
        (TurnRetrying, [[text("Hel"), fail(ProviderError("Cut.", retryable=True))], [stall()]]),
        (MessageAdded, [[text("Hello."), stop("tool_use")], [stall()]]),
    ],
    ids=["blank", "withdrawn", "of the turn before"],
)
async def test_nothing_is_added_that_was_not_being_said(last, turns):
    handle = Agent(ScriptedProvider(turns)).start("go")
    complete = of(await stop_at(handle, last), MessageAdded)
    assert [event.message.text for event in complete] == (["Hello."] if last is MessageAdded else [])


async def test_a_call_that_ended_before_the_stop_keeps_its_result():
    @tool
    def look_up() -> ToolOutput:
        """Finds much."""
        return ToolOutput(text="line one\n" + "data " * 100, summary="100 finds", images=(image,))

    image = Image(b"png")
    provider = ScriptedProvider([[call("look_up"), call("no_such_tool"), call("wait_for_ever")]])
    handle = Agent(provider, tools=[look_up, wait_for_ever]).start("go")
    run = await stop_at(handle, ToolFinished, 2)
    found, unknown, cut = (use.result for use in run.tool_uses)
    assert [result.code for result in (found, unknown, cut)] == [None, "UNKNOWN_TOOL", "STOPPED"]
    assert (found.text, found.images) == ("line one\n" + "data " * 100, (image,))
    assert "Tools: look_up, wait_for_ever" in unknown.text


async def test_leaving_the_stream_stops_the_run():
    provider = ScriptedProvider([[text("Once"), stall()]])
    stream = Agent(provider).stream("go")
    async for event in stream:
        if isinstance(event, TextDelta):
            break
    await stream.aclose()
    assert not asyncio.all_tasks() - {asyncio.current_task()}


async def test_cancelling_the_caller_ends_the_run():
    events = []
    halt = Halt()
    agent = Agent(ScriptedProvider([[text("Once"), pause(halt)]]))
    agent.on_event(events.append)
    task = asyncio.create_task(agent.run("go"))
    await halt.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert (events[-1].type, events[-1].reason) == ("run_finished", "interrupted")


async def test_a_cancelled_run_waits_for_its_tools_to_end():
    running, steps = asyncio.Event(), []

    @tool(timeout=None)
    async def bake() -> str:
        """Bakes for ever."""
        try:
            running.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            steps.append("oven off")
        return ""

    task = asyncio.create_task(Agent(ScriptedProvider([[call("bake")]]), tools=[bake]).run("go"))
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps == ["oven off"]
    assert not asyncio.all_tasks() - {asyncio.current_task()}


async def test_a_handle_reads_like_its_run_after_the_end():
    provider = ScriptedProvider([[write()], [text("Done.")]])
    handle = Agent(provider).start("go")
    with pytest.raises(AttributeError, match="`reason` is available once the run has ended; await it first"):
        handle.reason  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'raisin'"):
        handle.raisin  # noqa: B018
    assert "reason" not in dir(handle)
    await handle
    assert (handle.reason, handle.text, handle.html) == ("end_turn", "Done.", PAGE)
    assert handle.with_files({"a.txt": "mine"}).files["a.txt"] == "mine"
    assert "reason" in dir(handle)
    with pytest.raises(AttributeError, match="no attribute 'raisin'"):
        handle.raisin  # noqa: B018


async def test_with_no_tool_to_write_the_answer_replaces_the_page():
    first = await run_script([write()], [text("ok")])
    second = await run_script([text("```html\n<p>New</p>\n```")], prompt="Again", tools=[], base=first)
    assert second.html == "<p>New</p>"
