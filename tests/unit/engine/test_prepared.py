"""A run before it starts: what would be sent, what identifies it, whether a cassette is for it."""

import pytest

from agent_nb import Agent, Limits, VariantsHandle, replay, tool
from agent_nb.core.errors import CassetteError
from agent_nb.engine.start import start_variants
from agent_nb.providers.scripted import ScriptedProvider, text
from tests.support.scripts import write


@tool
def roll(sides: int) -> str:
    """Rolls a die."""
    return f"{sides} at most"


def scripted(*replies: str) -> ScriptedProvider:
    return ScriptedProvider([[text(reply)] for reply in replies])


async def recorded(path, prompt="A form", **settings) -> Agent:
    """An agent that plays what it recorded."""
    await Agent(scripted("Done."), **settings).recording(path).run(prompt)
    return Agent(replay(path), **settings)


async def test_it_can_be_started_more_than_once():
    prepared = Agent(scripted("One.", "Two.")).prepare("Say a number")
    first, second = await prepared.start(), await prepared.start()
    assert (first.text, second.text) == ("One.", "Two.")
    assert first.id != second.id


@pytest.mark.parametrize(
    ("changed", "material"),
    [
        ("prompt", {"prompt": "A game"}),
        ("files", {"files": {"index.html": "<h1>"}}),
        ("history", {"messages": [{"role": "user", "content": "Hello"}]}),
    ],
)
def test_the_fingerprint_tells_requests_apart(changed, material):
    agent = Agent(scripted())
    one = agent.prepare("A form").fingerprint()
    other = agent.prepare(**{"prompt": "A form", **material}).fingerprint()
    assert one == agent.prepare("A form").fingerprint()
    assert {name for name in one if one[name] != other[name]} == {changed}


def test_the_fingerprint_has_what_the_agent_brings():
    plain = Agent(scripted(), tools=[]).prepare("A form").fingerprint()
    own = Agent(scripted(), tools=[roll], system="Be brief.").with_stack("react").prepare("A form")
    assert {name for name, value in own.fingerprint().items() if plain.get(name) != value} == {
        "system",
        "tools",
        "toolbox",
        "stack",
    }


async def test_a_replay_says_how_it_differs(tmp_path):
    agent = await recorded(tmp_path / "hero.jsonl", tools=[])
    assert agent.prepare("A form").differences() == []
    assert agent.prepare("A form").differences(["openai:"]) == [
        "another model (`scripted:test`, not `openai:`)"
    ]
    assert agent.prepare("A form").differences([None, None]) == ["one variant, not 2"]
    (found,) = agent.prepare("A game").differences()
    assert found.startswith("another prompt")
    with pytest.raises(CassetteError, match="another prompt"):
        agent.prepare("A game").start()


def test_only_a_replay_differs():
    assert Agent(scripted()).prepare("A form").differences(["openai:"]) == []


async def test_a_replay_has_the_settings_of_the_recording(tmp_path):
    agent = await recorded(tmp_path / "hero.jsonl", limits=Limits(steps=3))
    prepared = Agent(agent.provider, limits=Limits(steps=9, usd=1)).prepare("A form")
    assert prepared.recorded_settings["steps"] == 3
    assert prepared.recorded_settings["replayed"] == (tmp_path / "hero.jsonl").as_posix()


async def test_all_variants_of_a_cassette_are_prepared(tmp_path):
    first = Agent(scripted("One.", "Two.")).recording(tmp_path / "two.jsonl")
    await first.start_variants("Say a number", variants=2)
    prepared = Agent(replay(tmp_path / "two.jsonl")).prepare_variants("Say a number")
    run = await VariantsHandle(start_variants(prepared))
    assert sorted(variant.text for variant in run.variants) == ["One.", "Two."]


async def test_subscribers_and_hooks_added_later_count():
    heard, called = [], []
    with ScriptedProvider([[write()], [text("Done.")]]) as provider:
        agent = Agent(provider)
        prepared = agent.prepare("A page")
        agent.on_event(heard.append)
        agent.before_tool(called.append)
        run = await prepared.start()
    assert heard == list(run.events)
    assert [call.name for call in called] == ["create_file"]
