"""The calls of one turn: order, hooks, approval, and a card that agrees with the result for the model."""

import asyncio
import datetime
import json
from dataclasses import replace

from agent_nb import Agent, load, tool
from agent_nb.core.errors import ToolError
from agent_nb.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    ToolFinished,
    ToolProgress,
    ToolReady,
    ToolRunning,
)
from agent_nb.core.messages import ToolCall, ToolResult
from agent_nb.engine.approval import Answer
from agent_nb.engine.tool_runner import SUMMARY_LIMIT, one_line, title_of
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.run import Run
from agent_nb.tools import Toolbox, ToolContext, ToolOutput
from tests.support.scripts import of, run_script, write


@tool(approval="ask")
def shell(command: str) -> str:
    """Runs a command."""
    return "ran " + command


LIST = call("shell", {"command": "ls"})


async def run_hooked(*turns, before=(), after=(), **settings) -> Run:
    with ScriptedProvider(list(turns)) as provider:
        agent = Agent(provider, **settings)
        for hook in before:
            agent.before_tool(hook)
        for hook in after:
            agent.after_tool(hook)
        return await agent.run("go")


async def run_asking(answer) -> Run:
    """A run whose one call asks first."""
    with ScriptedProvider([[LIST], [text("ok")]]) as provider:
        handle = Agent(provider, tools=[shell]).start("go")
        handle.approve_with(answer)
        return await handle


async def test_writes_to_one_path_keep_their_order():
    order = []

    @tool
    async def put(path: str, body: str, rests: int) -> str:
        """Writes, after so many rests."""
        for _ in range(rests):
            await asyncio.sleep(0)
        order.append(body)
        return body

    put = replace(put, writes=lambda args: (args["path"],))
    turn = [
        call("put", {"path": "a", "body": "first", "rests": 20}),
        call("put", {"path": "a", "body": "second", "rests": 0}),
        call("put", {"path": "b", "body": "other", "rests": 0}),
    ]
    run = await run_script(turn, [text("ok")], tools=[put])
    assert order == ["other", "first", "second"]
    assert [use.result.text for use in run.tool_uses] == ["first", "second", "other"]


async def test_the_next_write_runs_after_a_failed_one():
    fails = call("edit_file", {"path": "a.txt", "old": "nothing", "new": "x"})
    run = await run_script([fails, write("a.txt", "text")], [text("ok")])
    assert [use.ok for use in run.tool_uses] == [False, True]


async def test_paths_that_cannot_be_told_break_nothing():
    @tool
    def put(path: str) -> str:
        """Writes."""
        return path

    broken = replace(put, writes=lambda args: (args["no such thing"],))
    run = await run_script([call("put", {"path": "a"})], [text("ok")], tools=[broken])
    assert (run.reason, run.tool_uses[0].result.text) == ("end_turn", "a")


async def test_odd_results_neither_end_nor_spoil_a_run(tmp_path):
    @tool
    def number():
        """Gives no text."""
        return ToolOutput(text=3)

    @tool
    def day():
        """Shows what is not JSON."""
        return ToolOutput(text="t", outputs=({"application/json": {"day": datetime.date(2026, 1, 2)}},))

    run = await run_script([call("number"), call("day")], [text("Done.")], tools=[number, day])
    assert (run.reason, run.text) == ("end_turn", "Done.")
    assert [use.result.code for use in run.tool_uses] == ["FAILED", None]
    assert load(run.save(tmp_path / "odd.json")).text == "Done."


async def test_independent_calls_run_together():
    met = asyncio.Barrier(2)

    @tool
    async def meet(who: str) -> str:
        """Waits for the other."""
        await met.wait()
        return who

    run = await run_script(
        [call("meet", {"who": "a"}), call("meet", {"who": "b"})], [text("ok")], tools=[meet]
    )
    assert [use.result.text for use in run.tool_uses] == ["a", "b"]


async def test_a_cached_tool_runs_once_while_files_stay():
    ran = []

    @tool(cache=True)
    async def look(where: str) -> str:
        """Looks."""
        ran.append(where)
        return "seen"

    look_there = call("look", {"where": "x"})
    run = await run_script(
        [look_there], [look_there], [write()], [look_there], [text("ok")], tools=[*Toolbox.default(), look]
    )
    assert ran == ["x", "x"]
    assert [use.result.text for use in run.tool_uses if use.call.name == "look"] == ["seen"] * 3
    assert len([event for event in of(run, ToolRunning) if event.title == "look"]) == 2


async def test_progress_is_told_from_a_thread():
    @tool
    def count(context: ToolContext) -> str:
        """Counts."""
        context.progress("one")
        context.progress("two")
        return "three"

    run = await run_script([call("count")], [text("ok")], tools=[count])
    order = [type(event) for event in of(run, ToolReady, ToolRunning, ToolProgress, ToolFinished)]
    assert order == [ToolReady, ToolRunning, ToolProgress, ToolProgress, ToolFinished]
    assert [event.text for event in of(run, ToolProgress)] == ["one", "two"]


async def test_a_result_belongs_to_the_call_that_was_made():
    """Vendors refuse a result whose id or name is not that of the call before it."""

    def other(one: ToolCall) -> ToolCall:
        return ToolCall("my own id", "list_files", "{}")

    def anew(one: ToolCall, result: ToolResult) -> ToolResult:
        assert one.name == "list_files"
        return ToolResult(call_id="x", name="y", text="Mine.")

    run = await run_hooked([write(id="c1")], [text("ok")], before=[other], after=[anew])
    (use,) = run.tool_uses
    assert (use.result.call_id, use.result.name, use.result.text) == ("c1", "create_file", "Mine.")
    assert not run.files


async def test_a_hook_may_refuse_a_call():
    def refuse_all(one: ToolCall) -> None:
        raise ToolError("Not today.", code="DENIED")

    run = await run_hooked([write()], [text("ok")], before=[refuse_all])
    assert run.tool_uses[0].result.code == "DENIED"
    assert not run.files


async def test_a_failing_hook_is_told_to_the_model():
    def breaks(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    for hooks in ({"before": [breaks]}, {"after": [breaks]}):
        run = await run_hooked([write()], [text("ok")], **hooks)
        (use,) = run.tool_uses
        error = json.loads(use.result.text)
        assert run.reason == "end_turn"
        assert error == {"error": "A hook failed: ZeroDivisionError: by zero", "code": "FAILED"}
        assert (use.ok, use.summary) == (False, error["error"])


async def test_a_hook_must_give_words():
    run = await run_hooked([write()], [text("ok")], after=[lambda one, result: replace(result, text=3)])
    (use,) = run.tool_uses
    assert (run.reason, use.ok) == ("end_turn", False)
    assert use.summary == "A hook returned a int as the text of a result."


async def test_the_card_says_what_a_hook_decided():
    def doubt(one: ToolCall, result: ToolResult) -> ToolResult:
        return replace(result, text="Not good enough.", code="FAILED")

    def forgive(one: ToolCall, result: ToolResult) -> ToolResult:
        return replace(result, text="Never mind.", code=None)

    run = await run_hooked([write()], [text("ok")], after=[doubt])
    assert [(event.ok, event.code, event.summary) for event in of(run, ToolFinished)] == [
        (False, "FAILED", "Not good enough.")
    ]
    run = await run_hooked([call("read_file", {"path": "none.txt"})], [text("ok")], after=[forgive])
    assert [(event.ok, event.code, event.summary) for event in of(run, ToolFinished)] == [
        (True, None, "Never mind.")
    ]


async def test_with_nobody_to_ask_the_card_names_the_remedy():
    run = await run_script([LIST], [text("ok")], tools=[shell])
    assert run.tool_uses[0].summary.endswith(
        '`approve="auto"` or a function allows it; in a cell, `--approve auto`.'
    )


async def test_file_tools_never_ask():
    run = await run_script([write()], [text("ok")], approve="deny")
    assert run.tool_uses[0].ok


async def test_an_approved_call_runs_after_its_answer():
    async def yes(request: ApprovalRequested) -> Answer:
        assert (request.name, request.args) == ("shell", {"command": "ls"})
        return Answer(True)

    run = await run_asking(yes)
    order = [type(event) for event in of(run, ApprovalRequested, ApprovalResolved, ToolRunning)]
    assert order == [ApprovalRequested, ApprovalResolved, ToolRunning]
    assert run.tool_uses[0].result.text == "ran ls"


async def test_a_question_that_fails_counts_as_no():
    async def breaks(request: ApprovalRequested) -> Answer:
        raise ConnectionError("the page is gone")

    run = await run_asking(breaks)
    assert [event.approved for event in of(run, ApprovalResolved)] == [False]
    assert run.reason == "end_turn"
    assert "the page is gone" in run.tool_uses[0].result.text
    assert not of(run, ToolRunning)


def test_a_broken_title_falls_back_to_the_name():
    assert title_of(replace(shell, title=lambda args: args["nothing"]), {}) == "shell"
    assert title_of(replace(shell, title=lambda args: ""), {}) == "shell"


def test_a_card_line_is_short_and_single():
    assert one_line("\n  first \nsecond") == "first"
    assert one_line(" \n ") == ""
    assert one_line("x" * 500) == "x" * (SUMMARY_LIMIT - 1) + "…"


async def test_a_result_knows_which_versions_its_call_wrote_or_read():
    read = call("read_file", {"files": [{"path": "index.html"}, {"path": "missing.css"}]})
    edit = call("edit_file", {"path": "index.html", "old": "Bread", "new": "Cake"})
    missed = call("edit_file", {"path": "index.html", "old": "nowhere", "new": "x"})
    run = await run_script([write(), edit], [read, missed], [text("ok")])
    versions = [use.result.versions for use in run.tool_uses if use.result]
    assert versions == [{"index.html": 1}, {"index.html": 2}, {"index.html": 2}, {}]
