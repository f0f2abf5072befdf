"""The loop: what it does turn by turn."""

import json
import logging

import pytest

from agent_nb.core.events import (
    FileChanged,
    FileDelta,
    RunFinished,
    RunStarted,
    ToolArgsDelta,
    ToolFinished,
    ToolReady,
    ToolRunning,
    ToolStarted,
    UsageUpdated,
)
from agent_nb.core.messages import ToolCall, ToolResult, Usage
from agent_nb.providers.scripted import call, text, think, usage
from tests.support.scripts import PAGE, of, run_script, write


async def test_a_run_leaves_files_text_and_events():
    run = await run_script([think("Bread."), write()], [text("Done."), usage(input=10, output=5)])
    assert run.files["index.html"] == run.html == PAGE
    assert (run.text, run.thinking, run.reason) == ("Done.", "Bread.", "end_turn")
    assert isinstance(run.events[0], RunStarted)
    assert [event for event in run.events if isinstance(event, RunFinished)] == [run.events[-1]]
    assert run.usage == Usage(input=10, output=5)


async def test_the_tool_starts_before_its_arguments_arrive():
    """screenshot-to-code: an early start of the tool, then code while it is written, then the result."""
    run = await run_script([write(fragment=4)], [text("Done.")])
    order = [
        type(event)
        for event in of(run, ToolStarted, FileDelta, ToolReady, ToolRunning, FileChanged, ToolFinished)
    ]
    deltas = order.count(FileDelta)
    assert order == [ToolStarted, *[FileDelta] * deltas, ToolReady, ToolRunning, FileChanged, ToolFinished]
    assert deltas > 3
    assert "".join(event.text for event in of(run, FileDelta)) == PAGE
    assert PAGE not in "".join(event.text for event in of(run, ToolArgsDelta)), "it is sent once"


async def test_calls_are_gathered_by_their_own_index():
    """The tutorial loop: fragments of several calls are kept apart and run in call order."""
    run = await run_script(
        [write("a.txt", "A" * 30, fragment=5), write("b.txt", "B" * 30, fragment=5)], [text("ok")]
    )
    assert dict(run.files) == {"a.txt": "A" * 30, "b.txt": "B" * 30}
    results = [part for message in run.messages for part in message.parts if isinstance(part, ToolResult)]
    calls = [part for message in run.messages for part in message.parts if isinstance(part, ToolCall)]
    assert [result.call_id for result in results] == [one.id for one in calls]


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (call("make_file", {"path": "x"}), "UNKNOWN_TOOL"),
        (call("create_file", '{"path": "x", '), "INVALID_JSON"),
        (call("create_file", {"path": "x"}), "SCHEMA"),
        (call("create_file", {"path": "../x", "content": ""}), "FAILED"),
    ],
    ids=["unknown", "not-json", "schema", "unsafe-path"],
)
async def test_a_bad_call_is_told_to_the_model(bad, code):
    """Assista X: unknown tools and failed validation become error results, and the loop goes on."""
    run = await run_script([bad], [text("I see.")])
    (use,) = run.tool_uses
    assert run.reason == "end_turn"
    assert use.result is not None
    assert use.result.code == code
    assert json.loads(use.result.text)["code"] == code
    assert not of(run, ToolFinished)[0].ok


async def test_usage_is_estimated_while_a_long_turn_streams():
    run = await run_script([text("word " * 2_000, fragment=50), usage(input=7, output=2_500)])
    estimates = [event for event in of(run, UsageUpdated) if event.estimated]
    assert len(estimates) == 5
    assert run.usage == Usage(input=7, output=2_500)


async def test_each_turn_is_logged_once(caplog):
    with caplog.at_level(logging.INFO, logger="agent_nb"):
        await run_script([write()], [text("ok")])
    assert len([record for record in caplog.records if record.levelno == logging.INFO]) == 2


async def test_arguments_stream_to_whole_json():
    wanted = {"path": "index.html", "old": "Bread", "new": "Cake"}
    run = await run_script([write()], [call("edit_file", wanted, fragment=3)], [text("ok")])
    edit = of(run, ToolStarted)[1].call_id
    fragments = [event.text for event in of(run, ToolArgsDelta) if event.call_id == edit]
    assert len(fragments) > 10
    assert json.loads("".join(fragments)) == wanted
