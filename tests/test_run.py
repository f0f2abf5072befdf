"""Runs as values: saved, loaded, picked, changed by hand."""

import json

import pytest

from agent_nb import Agent, load
from agent_nb.errors import ConfigError, SavedRunError
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.run import request_key


@pytest.fixture
async def run():
    turns = [[call("create_file", {"path": "index.html", "content": "<h1>Hi</h1>"})], [text("Done.")]]
    with ScriptedProvider(turns) as provider:
        return await Agent(provider).run("go")


async def test_with_files_makes_a_new_run(run):
    changed = run.with_files({"index.html": "<h1>Ho</h1>", "new.txt": "x"})
    assert (run.html, changed.html) == ("<h1>Hi</h1>", "<h1>Ho</h1>")
    assert changed.with_files({"new.txt": None}).files.get("new.txt") is None
    assert changed.given_files == run.files


async def test_pick_refuses_what_is_not_there(run):
    with pytest.raises(ConfigError, match="no variant 9"):
        run.pick(9)


async def test_a_changed_run_survives_saving(run, tmp_path):
    changed = run.with_files({"logo.png": b"\x89PNG", "index.html": "é 😀"})
    assert load(changed.save(tmp_path / "a" / "run.json")) == changed


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "not a saved run"),
        ("[1, 2]", "does not say it is one"),
        ('{"format": "agent_nb.run", "version": 99}', "newer agent_nb"),
        ('{"format": "agent_nb.run", "version": 1}', "damaged"),
    ],
    ids=["empty", "foreign", "newer", "truncated"],
)
def test_a_bad_file_is_refused_in_one_sentence(tmp_path, content, says):
    path = tmp_path / "run.json"
    path.write_text(content)
    with pytest.raises(SavedRunError, match=says):
        load(path)


def test_a_missing_file_says_where_to_look(tmp_path):
    with pytest.raises(SavedRunError, match="%agent runs"):
        load(tmp_path / "nothing.json")


async def test_a_failed_save_leaves_the_old_file(run, tmp_path, monkeypatch):
    path = run.save(tmp_path / "run.json")
    before = path.read_bytes()

    def full_disk(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.replace", full_disk)
    with pytest.raises(OSError, match="No space"):
        run.with_files({"x": "y"}).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


async def test_the_manifest_tells_two_runs_apart(run):
    changed = run.with_files({"index.html": "<h1>Ho</h1>"})
    assert run.manifest["files_sha256"] != changed.manifest["files_sha256"]
    assert run.manifest["prompt_sha256"] == changed.manifest["prompt_sha256"]
    json.dumps(run.manifest)


def test_the_key_is_the_same_for_the_same_request():
    assert request_key("hero", "a", "b") == request_key("hero", "a", "b") != request_key("hero", "a", "c")
    assert request_key("hero", "a").startswith("hero-")
