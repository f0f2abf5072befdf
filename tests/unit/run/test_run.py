"""Runs as values: saved, loaded, picked, changed by hand, with their dates and their manifest."""

import base64
import hashlib
import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent_nb import Agent, load, model, tool
from agent_nb._base.secrets import MASK, register
from agent_nb.core.errors import ConfigError, SavedRunError
from agent_nb.core.events import FileDelta, TextDelta, ThinkingDelta, ToolArgsDelta
from agent_nb.providers.base import RealClock
from agent_nb.providers.scripted import ScriptedProvider, call, text, think
from agent_nb.render import bundle
from tests.support.cassettes import PROMPT, facts, play
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
    run = await run_script(*turns, prompt="go", files={"notes.txt": "given", "index.html": "zero"})
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


def provider() -> ScriptedProvider:
    return ScriptedProvider([[text("Done.")]], clock=RealClock())


async def test_a_run_says_when_it_began_and_ended():
    before = datetime.now(UTC) - timedelta(seconds=1)
    run = await Agent(provider()).run("Go.")
    assert run.started is not None
    assert run.ended is not None
    assert before <= run.started <= run.ended <= datetime.now(UTC)
    assert run.started.tzinfo is UTC


async def test_a_replay_has_the_dates_of_its_recording(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    run = await Agent(provider()).recording(path).run(PROMPT)
    again = await play(path)
    assert run.started is not None
    assert (again.started, again.ended) == (run.started, run.ended)
    assert facts(again) == facts(run)


async def test_a_demo_has_none(tmp_path: Path):
    run = await Agent(model("demo:", pace=0)).recording(tmp_path / "a.jsonl").run(PROMPT)
    assert (run.started, run.ended, run.ended_at) == (None, None, "")
    assert "started" not in run.settings
    assert '"ended"' not in (tmp_path / "a.jsonl").read_text()


async def test_a_date_that_is_none_is_none():
    run = await Agent(provider()).run("Go.")
    assert replace(run, ended_at="yesterday").ended is None


def weather(described: str):
    def forecast(city: str) -> str:
        return city

    forecast.__doc__ = described
    return tool(forecast)


async def test_each_tool_has_its_own_hash():
    one, other = [
        await run_script([text("Done.")], tools=[weather(told)])
        for told in ("Tells the weather.", "Tells the weather of tomorrow.")
    ]
    assert set(one.manifest["tools_sha256"]) == {"forecast"}
    assert one.manifest["tools_sha256"] != other.manifest["tools_sha256"]
    assert one.manifest["prompt_sha256"] == other.manifest["prompt_sha256"]


async def test_the_hash_of_a_file_is_that_of_its_bytes():
    run = await run_script([text("Done.")], prompt="go", files={"a.txt": "é"})
    assert run.manifest["files_sha256"] == {"a.txt": hashlib.sha256("é".encode()).hexdigest()}


def test_the_settings_of_a_run_have_the_sampling_options():
    chosen = model("anthropic:claude-opus-5-5", api_key="sk-ant-test", max_tokens=500, temperature=0.2)
    assert Agent(chosen).prepare("go").recorded_settings["sampling"] == {
        "max_tokens": 500,
        "temperature": 0.2,
    }
    plain = model("anthropic:claude-opus-5-5", api_key="sk-ant-test")
    assert "sampling" not in Agent(plain).prepare("go").recorded_settings


async def test_html_for_libraries_that_read_no_mime_bundles_is_masked(run):
    register("hunter2-hunter2")
    html = (await run_script([text("It is hunter2-hunter2.")]))._repr_html_()
    assert (MASK in html, "hunter2" in html) == (True, False)
    assert run._repr_html_() == bundle(run)["text/html"]
