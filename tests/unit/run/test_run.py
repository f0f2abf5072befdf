"""Runs as values: saved, loaded, picked, changed by hand."""

import base64
import json
import os

import pytest

from agent_nb import Agent, load
from agent_nb._base.secrets import MASK, register
from agent_nb.core.errors import ConfigError, SavedRunError
from agent_nb.core.events import FileDelta, TextDelta, ThinkingDelta, ToolArgsDelta
from agent_nb.providers.scripted import ScriptedProvider, call, text, think
from tests.support.scripts import run_script, write


@pytest.fixture
async def run():
    return await run_script([write(content="<h1>Hi</h1>")], [text("Done.")])


async def test_with_files_makes_a_new_run(run):
    changed = run.with_files({"index.html": "<h1>Ho</h1>", "new.txt": "x"})
    assert (run.html, changed.html) == ("<h1>Hi</h1>", "<h1>Ho</h1>")
    assert changed.with_files({"new.txt": None}).files.get("new.txt") is None
    assert changed.given_files == run.files


async def test_at_gives_the_files_of_an_earlier_moment():
    turns = [
        [write("index.html", "one"), write("style.css", "red")],
        [call("edit_file", {"path": "index.html", "old": "one", "new": "two"})],
        [call("delete_file", {"path": "style.css"}), write("new.txt", "new")],
        [text("Done.")],
    ]
    with ScriptedProvider(turns) as provider:
        run = await Agent(provider).run("go", files={"notes.txt": "given", "index.html": "zero"})
    given = {"notes.txt": "given"}
    moments = [dict(run.at(moment).files) for moment in range(6)]
    assert moments[0] == given | {"index.html": "zero"}
    assert moments[1] == given | {"index.html": "one"}
    assert moments[2] == given | {"index.html": "one", "style.css": "red"}
    assert moments[3] == given | {"index.html": "two", "style.css": "red"}
    assert moments[4] == given | {"index.html": "two"}
    assert moments[5] == dict(run.files)
    # It is a value like any other: it goes back and forth, and an edit by hand does not count as a change.
    edited = run.at(2).with_files({"index.html": "mine"})
    assert dict(edited.at(3).files) == moments[3]
    assert run.at(2).given_files == run.files


async def test_at_names_the_moments_there_are(run, tmp_path):
    assert load(run.save(tmp_path / "a.run.jsonl")).at(0).files == {}
    for moment in (2, -1, "1", True, 1.0):
        with pytest.raises(ConfigError, match=r"no moment .*: this run has 0 \(as they were given\) to 1"):
            run.at(moment)


async def test_pick_refuses_what_is_not_there(run):
    for number in (9, "2"):
        with pytest.raises(ConfigError, match=f"no variant {number!r}"):
            run.pick(number)


async def test_files_by_hand_are_a_dict(run):
    with pytest.raises(ConfigError, match=r"Give a dict such as .*, not a list\."):
        run.with_files(["index.html"])


async def test_a_changed_run_survives_saving(run, tmp_path):
    changed = run.with_files({"logo.png": b"\x89PNG", "index.html": "é 😀"})
    assert load(changed.save(tmp_path / "a" / "run.jsonl")) == changed


def test_a_missing_file_says_where_to_look(tmp_path):
    with pytest.raises(SavedRunError, match="%agent runs"):
        load(tmp_path / "nothing.json")


KEY = "sk-ant-api03-" + "x9-Y" * 8
KNOWN = 'my "own" secret & more'


async def test_a_pipe_is_not_replaced_by_a_run(run, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileExistsError, match="is not a file"):
        run.save(pipe)
    assert pipe.is_fifo()


@pytest.mark.parametrize("fragment", [1, 5, None])
async def test_a_saved_run_holds_no_secret(tmp_path, fragment):
    register(KNOWN)
    page = f"<p>\n{KEY}</p> {KNOWN} <b>after</b>"
    turns = [
        [think(f"I saw {KEY}", fragment=fragment), write(content=page, fragment=fragment)],
        [text(f"Yours is {KEY}, not {KNOWN}. Bye.", fragment=fragment)],
    ]
    run = await Agent(ScriptedProvider(turns)).run(f"Use {KEY}", files={"a.txt": KNOWN, "b.bin": b"\xff"})
    assert KEY in run.html
    assert KEY in run.text
    saved = run.save(tmp_path / "run.jsonl")
    assert KEY not in saved.read_text()
    assert json.dumps(KNOWN)[1:-1] not in saved.read_text()
    again = load(saved)
    assert (again.text, dict(again.files)) == (
        f"Yours is {MASK}, not {MASK}. Bye.",
        {"a.txt": MASK, "b.bin": b"\xff", "index.html": f"<p>\n{MASK}</p> {MASK} <b>after</b>"},
    )
    for kind in (TextDelta, ThinkingDelta, ToolArgsDelta, FileDelta):
        streamed = "".join(event.text for event in again.events if isinstance(event, kind))
        assert (MASK in streamed) == (kind is not ToolArgsDelta)  # which leaves out what is told as a file
        assert KEY not in streamed
        assert KNOWN not in streamed


DATA = base64.b64decode("A" * 400 + "/AIza" + "Qw12" * 10 + "AAA" + "A" * 400)


async def test_data_survives_the_masking(tmp_path):
    run = await Agent(ScriptedProvider([[text("Done.")]])).run("go", files={"a.bin": DATA})
    assert load(run.save(tmp_path / "run.jsonl")) == run
