"""Saved runs are found again by what was asked, and only those that ended well."""

import pytest

from agent_nb import Agent, ConfigError, load
from agent_nb.core.errors import MissingKeyError
from agent_nb.providers.scripted import ScriptedProvider, fail, text
from agent_nb.tools import tool
from tests.support.cassettes import change_row
from tests.support.wire import Hold, Say, WireServer, reply
from tests.support.wire.cases import CASE

PROMPTS = {"bakery": "A bakery page", "florist": "A florist page"}


def scripted(*replies: str, **settings) -> Agent:
    return Agent(ScriptedProvider([[text(reply)] for reply in replies]), **settings)


async def test_only_the_rest_is_asked(tmp_path):
    await scripted("One.").map({"bakery": PROMPTS["bakery"]}, save=tmp_path)
    agent = scripted("Two.")
    runs = await agent.map({"florist": PROMPTS["florist"], "cakes": PROMPTS["bakery"]}, save=tmp_path)
    assert [run.text for run in runs] == ["Two.", "One."]
    assert [run.name for run in runs] == ["runs[0]", "runs[1]"]
    agent.model.assert_done()


async def test_failed_runs_are_asked_again(tmp_path):
    broken = Agent(ScriptedProvider([[fail(ValueError("no"))], [text("Two.")]]))
    first = await broken.map(PROMPTS, concurrency=1, save=tmp_path)
    assert [run.reason for run in first] == ["failed", "end_turn"]
    runs = await scripted("One.").map(PROMPTS, save=tmp_path)
    assert [run.text for run in runs] == ["One.", "Two."]
    assert len(list(tmp_path.iterdir())) == 2, "the new run takes the place of the failed one"


@tool
def other_tool() -> str:
    """Does nothing."""
    return ""


@pytest.mark.parametrize(
    ("settings", "material"),
    [
        ({"system": "Be brief."}, {}),
        ({"tools": []}, {}),
        ({"tools": [other_tool]}, {}),
        ({}, {"files": {"a.txt": "other"}}),
        ({}, {"messages": [{"role": "user", "content": "Hello"}]}),
    ],
    ids=["system", "no-tools", "tools", "files", "messages"],
)
async def test_another_request_is_asked_anew(tmp_path, settings, material):
    await scripted("One.").map(["A page"], save=tmp_path)
    runs = await scripted("New.", **settings).map(["A page"], save=tmp_path, **material)
    assert (runs[0].text, runs.loaded) == ("New.", 0)
    assert (await scripted().map(["A page"], save=tmp_path)).loaded == 1, "the first is still there"


async def test_efforts_are_kept_apart(tmp_path):
    async with WireServer() as server:
        server.otherwise = lambda request: reply(Say("Done."))
        low, high = [CASE["anthropic_messages"].provider(server, effort=effort) for effort in ("low", "high")]
        runs = await scripted().map(["A page"], models=[low, high], save=tmp_path)
        again = await scripted().map(["A page"], models=[high], save=tmp_path)
    assert [row["effort"] for row in runs.rows()] == ["low", "high"]
    assert "effort" in repr(runs).splitlines()[0]
    assert again[0].id == runs[1].id


async def test_repeats_of_a_prompt_are_kept_apart(tmp_path):
    await scripted("One.", "Two.").map(["A page"] * 2, concurrency=1, save=tmp_path)
    runs = await scripted("Three.").map(["A page"] * 3, save=tmp_path)
    assert [run.text for run in runs] == ["One.", "Two.", "Three."]


async def test_file_names_tell_prompt_and_model(tmp_path):
    prompts = {"Café & Bar": "A page", "../up": "A shop", "語" * 300: "A form"}
    await scripted("1", "2", "3").map(prompts, concurrency=1, save=tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert [name.rpartition("-")[0] for name in names] == [
        "café-bar-scripted-test",
        "up-scripted-test",
        "語" * 32 + "-scripted-test",
    ]
    assert load(tmp_path / names[0]).text == "1"


@pytest.mark.parametrize("damage", ["cut", "empty", "other", "newer", "masked", "version"])
async def test_damaged_files_are_asked_again(tmp_path, damage):
    await scripted("One.").map(["A page"], save=tmp_path)
    path = next(tmp_path.iterdir())
    match damage:
        case "cut":
            path.write_text(path.read_text()[:200])
        case "empty":
            path.write_text("")
        case "other":
            change_row(path, "header", prompt="A shop")
        case "newer":
            change_row(path, "header", version=99)
        case "masked":
            change_row(path, "end", files={"a.png": [{"base64": "iVBO•••"}]})
        case "version":
            change_row(path, "header", version="1")
    runs = await scripted("New.").map(["A page"], save=tmp_path)
    assert runs[0].text == "New."
    assert (await scripted().map(["A page"], save=tmp_path)).loaded == 1


async def test_saved_runs_need_no_key(tmp_path, monkeypatch):
    demo = Agent("demo:")
    async with WireServer() as server:
        server.otherwise = lambda request: reply(Say("Done."))
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k3y-0f-the-tests")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url("anthropic_messages"))
        await demo.map(PROMPTS, models="anthropic:claude-opus-5-5", save=tmp_path)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    runs = await demo.map(PROMPTS, models="anthropic:claude-opus-5-5", save=tmp_path)
    assert [run.text for run in runs] == ["Done.", "Done."]
    with pytest.raises(MissingKeyError, match="ANTHROPIC_API_KEY"):
        await demo.map([*PROMPTS.values(), "A new page"], models="anthropic:claude-opus-5-5", save=tmp_path)


async def test_what_was_done_outlives_a_stop(tmp_path):
    async with WireServer() as server:
        server.plan(reply(Say("One.")), reply(Say("Half"), Hold()))
        provider = CASE["anthropic_messages"].provider(server)
        work = Agent(provider).map(["A page", "A shop", "A form"], concurrency=1, save=tmp_path)
        await (await server.arrival(1)).holding.wait()
        work.stop()
        await work
        assert len(list(tmp_path.iterdir())) == 2, "the one that never began leaves no file"
        server.otherwise = lambda request: reply(Say("Later."))
        runs = await Agent(provider).map(["A page", "A shop", "A form"], save=tmp_path)
    assert [run.text for run in runs] == ["One.", "Later.", "Later."]


async def test_a_folder_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(ConfigError, match="Runs cannot be saved in"):
        scripted().map(["A page"], save=tmp_path / "runs")


async def test_a_failed_save_does_not_end_the_run(tmp_path):
    folder = tmp_path / "runs"
    work = scripted("One.").map(["A page"], save=folder)
    folder.rmdir()
    folder.write_text("in the way")
    assert (await work)[0].text == "One."
    assert "could not be saved" in work._tally.note
