"""Calls that only read files: run again by a replay where that gives what they gave when recorded."""

import pytest

from agent_nb.providers.scripted import call, text
from tests.support.cassettes import assert_replays, play, record
from tests.support.scripts import PAGE, write


@pytest.fixture
def tape(tmp_path):
    return tmp_path / "hero.jsonl"


async def test_reading_tools_are_run_again(tape):
    look = [call("read_file", {"path": "index.html"}), call("list_files", {})]
    await assert_replays(tape, [write()], look, [text("ok")])
    assert tape.read_text().count("Bread") == 1, "what was read is not recorded"


async def test_what_was_read_while_files_changed_is_recorded(tape):
    """The calls of a turn run at once: a replay could not tell before which change each of them read."""
    change = [
        call("read_file", {"path": "index.html"}),
        call("edit_file", {"path": "index.html", "old": "Bread", "new": "Cake and bread"}),
        call("list_files", {}),
        call("edit_file", {"path": "missing.css", "old": "a", "new": "b"}),
        write("a.css", "b{}"),
    ]
    run, _ = await assert_replays(tape, [write()], change, [text("ok")])
    _, read, _, listed, missing, _ = run.tool_uses
    assert read.result.text == PAGE
    assert "a.css" not in listed.result.text
    assert "a.css" not in missing.result.text


async def test_a_recorded_result_of_a_reading_tool_is_played(tape):
    """In cassettes from before, what `read_file` gave is written out."""
    await record(tape, [write()], [call("read_file", {"path": "index.html"}, id="r")], [text("ok")])
    finished = '{"tool": "finished", "id": "r", '
    recorded = tape.read_text()
    assert finished in recorded
    tape.write_text(recorded.replace(finished, f'{finished}"text": "as it was then", '))
    again = await play(tape)
    assert again.tool_uses[1].result.text == "as it was then"
