"""The models of outside agents, as recorded from them: chosen by name, refused, listed, stored."""

import json

import pytest

import agent_nb
from agent_nb import Agent
from agent_nb.acp import known
from agent_nb.acp.offered import MAX_MODELS, STORED, store_models, stored_models
from agent_nb.acp.session import ask_models
from tests.support import ROOT

SESSIONS = json.loads((ROOT / "tests/support/agents/sessions.json").read_text())
"""By agent: the answer to `session/new`, a model, and the answer after it was set."""
KEY = "sk-ant-api03-" + "a1B2c3D4" * 8


@pytest.fixture(autouse=True)
def config(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def run_as(fake):
    """Runs a prompt with a model of an agent whose session is the recorded one."""

    async def run(agent, model, effort=None):
        recorded = SESSIONS[agent]
        answer = {"session/set_config_option": recorded.get("answer", {})}
        usage = {"stopReason": "end_turn", "usage": {"inputTokens": 1}}
        fake.plays([{"say": "Done."}, {"end": usage}], agent=agent, new=recorded["new"], **answer)
        return await Agent(agent_nb.model(f"acp:{agent}/{model}", effort=effort)).run("Go.")

    return run


def set_up(fake):
    """What the agent was told between its session and the prompt."""
    messages = [entry for entry in fake.noted("received") if "method" in entry]
    keys = ("configId", "value", "modelId", "modeId")
    return [
        tuple(message["params"][key] for key in keys if key in message["params"])
        for message in messages
        if message["method"].startswith("session/set_")
    ]


@pytest.mark.parametrize(
    ("agent", "model", "told"),
    [
        ("claude", "haiku", [("model", "haiku"), ("default",)]),
        ("gemini", "gemini-2.5-pro", [("gemini-2.5-pro",), ("default",)]),
        ("codex", "gpt-5.5", [("model", "gpt-5.5"), ("read-only",)]),
        ("opencode", "mock/mock-1", [("model", "mock/mock-1")]),
    ],
)
async def test_the_model_is_set_before_the_mode_that_asks(run_as, fake, agent, model, told):
    run = await run_as(agent, model)
    assert (run.reason, run.model) == ("end_turn", f"acp:{agent}/{model}")
    assert set_up(fake) == told


async def test_an_effort_is_one_of_the_chosen_model(run_as, fake):
    assert (await run_as("codex", "gpt-5.5", effort="high")).reason == "end_turn"
    assert set_up(fake)[-1] == ("reasoning_effort", "high")


async def test_a_model_that_is_not_offered_is_refused_with_those_that_are(run_as, fake):
    run = await run_as("claude", "opsu")
    assert run.error == "Claude Code has no model 'opsu'. It offers default, opus, fable, sonnet and haiku."
    assert run.events[-1].other_models == ("acp:claude/opus",)
    assert not fake.received("session/prompt")


async def test_an_agent_without_a_choice_of_models(run_fake, fake):
    fake.plays([])
    run = await Agent("acp:fake/opus").run("Go.")
    assert run.error == "fake does not let its model be chosen. Leave out `/opus`."
    assert not STORED.path.exists()


async def test_asking_for_the_models_sends_no_prompt_and_leaves_no_folder(fake, cache):
    fake.plays([], agent="claude", new=SESSIONS["claude"]["new"])
    models = await ask_models(known.find("claude"))
    assert models == stored_models("claude")
    assert models["opus"] == "Opus 5.5"
    assert not fake.received("session/prompt")
    assert [*cache.iterdir()] == []


def test_hostile_models_are_not_stored():
    hostile = ["two words", "a\x1b[2J", "a\u202eb", "a" * 101, "", KEY]
    names = {f"m{number}": f"n\x1b\n{KEY}" + " x" * 200 for number in range(300)}
    store_models("mine", {**dict.fromkeys(hostile, "x"), **names})
    models = stored_models("mine")
    assert len(models) == MAX_MODELS - len(hostile)
    assert set(models) <= set(names)
    assert models["m0"].startswith("n ••• x")
    assert {len(name) for name in models.values()} == {100}
    assert STORED.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", ["", "{", '{"models": []}', '{"models": {"mine": {"a": 1}}}'])
def test_a_damaged_store_lists_none(damage):
    store_models("mine", {"a": "A"})
    STORED.path.write_text(damage)
    assert stored_models("mine") == {}
    store_models("mine", {"a": "A"})
    assert stored_models("mine") == {"a": "A"}
