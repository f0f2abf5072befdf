"""Runs as marimo cells start them, without marimo's kernel; `tests/hosts/test_marimo.py` has the real one."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import agent_nb
from agent_nb.core.errors import CassetteError, ConfigError
from agent_nb.marimo import CACHE, MarimoCell
from agent_nb.providers.scripted import ScriptedProvider, call, text

PROMPT = "A landing page for a bakery in Lyon"


@pytest.fixture(autouse=True)
def notebook_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_a_cell_that_runs_again_plays_what_it_recorded(notebook_folder):
    first, _ = await agent_nb.marimo.agent(PROMPT, name="hero", model="demo:")
    again, view = await agent_nb.marimo.agent(PROMPT, name="hero", model="demo:")
    other, _ = await agent_nb.marimo.agent("A page about tea", name="hero", model="demo:")
    live, _ = await agent_nb.marimo.agent(PROMPT, name="hero", model="demo:", replay="off")
    assert first.settings.get("replayed") is None
    assert again.settings["replayed"].startswith(f"{CACHE}/hero-")
    assert again.files == first.files
    assert (other.settings.get("replayed"), live.settings.get("replayed")) == (None, None)
    assert len(list((notebook_folder / CACHE).iterdir())) == 2
    assert 'data-anb-run="hero-' in view.widget.frozen


async def test_a_recording_of_other_tools_is_replaced():
    @agent_nb.tool
    def opening_hours(town: str) -> str:
        return "7 to 19"

    await agent_nb.marimo.agent(PROMPT, name="hero", model="demo:")
    for replayed in (False, True):
        run, _ = await agent_nb.marimo.agent(PROMPT, name="hero", model="demo:", tools=[opening_hours])
        assert ("replayed" in run.settings) is replayed


async def test_a_cassette_to_share_is_written_on_request_and_played_first(monkeypatch):
    recorded, _ = await agent_nb.marimo.agent(PROMPT, name="hero", model="demo:", record=True)
    assert recorded.settings.get("replayed") is None
    monkeypatch.setenv("AGENT_NB_MODE", "replay")
    shared, _ = await agent_nb.marimo.agent(PROMPT, name="hero", model="demo:")
    assert shared.settings["replayed"] == "cassettes/hero.run.jsonl"
    with pytest.raises(
        CassetteError, match=r"cassettes/hero.run.jsonl or __marimo__/agent_nb/hero-\w+.run.jsonl"
    ):
        await agent_nb.marimo.agent("Another", name="hero", model="anthropic:claude-opus-5-5", replay=True)


async def test_an_agent_of_ones_own_records_to_a_named_cassette(notebook_folder):
    agent = agent_nb.Agent(agent_nb.model("demo:", pace=0), system="Be brief.")
    for option, replayed in (("record", None), ("replay", "mine.jsonl")):
        run, _ = await agent_nb.marimo.agent(PROMPT, name="hero", agent=agent, **{option: "mine.jsonl"})
        assert run.settings.get("replayed") == replayed
    assert not (notebook_folder / CACHE).exists()


async def test_the_view_knows_the_picked_variant():
    run, view = await agent_nb.marimo.agent(PROMPT, name="hero", model="demo:", variants=2)
    assert view.value == {"variant": 1, "selection": []}
    command = {
        "kind": "command",
        "id": "a-1",
        "client": "me",
        "command": "pick",
        "run_id": run.id,
        "variant": 1,
    }
    view.widget._handle_custom_msg(command, [])
    assert view.value["variant"] == 1  # until the page sets it
    view._update({"variant": 2})
    assert view.value["variant"] == 2
    assert view.run.variant == 1
    assert view.run.html == run.variants[1].html


def test_the_line_of_the_readme_needs_only_the_package():
    script = "import agent_nb; print(agent_nb.marimo.agent.__module__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "agent_nb.marimo\n"


async def test_an_interrupted_cell_ends_with_what_there_is():
    reached = asyncio.Event()

    @agent_nb.tool
    async def wait() -> str:
        reached.set()
        await asyncio.sleep(3600)
        return ""

    agent = agent_nb.Agent(ScriptedProvider([[text("Half"), call("wait", {})]]), tools=[wait])
    cell = asyncio.create_task(agent_nb.marimo.agent(PROMPT, name="hero", agent=agent))
    await reached.wait()
    for _ in range(2):
        cell.cancel()
        await asyncio.sleep(0)
    run, view = await cell
    assert (run.reason, run.text) == ("interrupted", "Half")
    assert view.widget.frozen.startswith("<!-- hero: stopped -->")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "my page"}, "must be a variable name"),
        ({"agent": object(), "tools": []}, "leave out `tools`"),
        ({"replay": True, "record": True}, "only one of `record` and `replay`"),
    ],
)
def test_mistakes_are_found_before_anything_is_sent(options, message):
    name = options.pop("name", "hero")
    with pytest.raises(ConfigError, match=message):
        MarimoCell(prompt=PROMPT, name=name, options=options, folder=Path()).runs()
