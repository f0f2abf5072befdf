"""A run before it starts: what would be sent, also to a server of your own, and what identifies it."""

import itertools
import json

import pytest

from agent_nb import Agent, Limits, VariantsHandle, replay, tool
from agent_nb.core.errors import CassetteError
from agent_nb.core.events import TextDelta, TurnRetrying
from agent_nb.core.messages import user
from agent_nb.engine.start import start_variants
from agent_nb.providers import model
from agent_nb.providers.base import Request
from agent_nb.providers.scripted import ScriptedProvider, text
from tests.support.scripts import of
from tests.support.wire import Call, Say, WireServer, reply
from tests.support.wire.cases import KEY, RED_PNG

WRITES = Call("create_file", {"path": "index.html", "content": "<h1>Hi</h1>"})
FILE_TOOLS = ["create_file", "edit_file", "read_file", "list_files", "delete_file"]


@tool
def roll(sides: int) -> str:
    """Rolls a die."""
    return f"{sides} at most"


def scripted(*replies: str) -> ScriptedProvider:
    return ScriptedProvider([[text(reply)] for reply in replies])


async def recorded(path, **settings) -> Agent:
    """An agent that plays what it recorded."""
    await Agent(scripted("Done."), **settings).recording(path).run("A form")
    return Agent(replay(path), **settings)


async def test_it_can_be_started_more_than_once():
    prepared = Agent(scripted("One.", "Two.")).prepare("Say a number")
    first, second = await prepared.start(), await prepared.start()
    assert (first.text, second.text) == ("One.", "Two.")
    assert first.id != second.id


async def test_nothing_changes_it_afterwards():
    """Neither a feature, nor a hook that is added to the agent, nor a change of an earlier run's settings."""
    agent, seen = Agent(scripted("One.", "Two."), tools=[roll]), []
    prepared = agent.prepare("Say a number")
    for name in ("recorded_settings", "given", "kept"):
        with pytest.raises(TypeError):
            getattr(prepared, name)["more"] = True
    with pytest.raises(TypeError):
        prepared.settings.of_features["more"] = True
    agent.on_event(seen.append)
    first = await prepared.start()
    first.settings["tools"].append("run_python")
    assert (await prepared.start()).settings["tools"] == ["roll"]
    assert not seen


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
    prepared = Agent(agent.model, limits=Limits(steps=9, usd=1)).prepare("A form")
    assert prepared.recorded_settings["steps"] == 3
    assert prepared.recorded_settings["replayed"] == (tmp_path / "hero.jsonl").as_posix()


async def test_all_variants_of_a_cassette_are_prepared(tmp_path):
    first = Agent(scripted("One.", "Two.")).recording(tmp_path / "two.jsonl")
    await first.start_variants("Say a number", variants=2)
    prepared = Agent(replay(tmp_path / "two.jsonl")).prepare_variants("Say a number")
    run = await VariantsHandle(start_variants(prepared))
    assert sorted(variant.text for variant in run.variants) == ["One.", "Two."]


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return "sunny"


def local(server: WireServer, **settings) -> Agent:
    return Agent(model("chat:qwen", base_url=server.base_url("chat"), api_key=KEY), **settings)


def names(body) -> list[str]:
    return [each["function"]["name"] for each in body["tools"]]


async def test_a_first_page_on_a_local_server_is_a_short_request(server: WireServer):
    server.plan(reply(Say("Hello.")))
    run = await local(server).run("A tiny page with the heading Hello Lyon and one sentence.")
    (body,) = [request.body for request in server.requests]
    assert names(body) == FILE_TOOLS
    # 538 tokens for Qwen2.5-Coder on llama.cpp, with the words of its own template.
    assert len(json.dumps([body["messages"], body["tools"]])) < 2_000
    assert run.settings["lean"] is True


async def test_every_request_of_a_conversation_begins_like_the_one_before(server: WireServer):
    server.plan(reply(WRITES), reply(Say("Done.")), reply(Say("Done again.")))
    agent = local(server)
    first = await agent.run("A page.")
    await agent.run("Another heading.", base=first)
    bodies = [request.body for request in server.requests]
    assert len({json.dumps(body["tools"]) for body in bodies}) == 1
    for before, after in itertools.pairwise(bodies):
        assert after["messages"][: len(before["messages"])] == before["messages"]


async def test_tools_of_your_own_and_what_images_need_are_added(server: WireServer):
    server.plan(reply(Say("Seen.")), reply(Say("Sunny.")))
    await local(server).run("Cut out the logo.", images=[RED_PNG])
    await local(server, tools=[weather]).run("Weather?")
    given, own = [request.body for request in server.requests]
    assert names(given) == [*FILE_TOOLS, "extract_assets"]
    assert names(own) == ["weather"]
    system = own["messages"][0]["content"]
    assert "create_file" not in system
    assert "write it into your answer" in system, "small models leave out what the tools gave"


async def test_an_argument_that_is_not_named_still_works(server: WireServer):
    edits = {"path": "a.txt", "edits": [{"old": "a", "new": "b"}, {"old": "b", "new": "c"}]}
    server.plan(reply(Call("edit_file", edits)), reply(Say("Done.")))
    run = await local(server).run("Change it.", files={"a.txt": "a"})
    assert run.files["a.txt"] == "c"


async def test_a_server_of_your_own_gets_a_low_temperature_unless_you_set_one(server: WireServer):
    server.plan(reply(Say("One.")), reply(Say("Two.")))
    await local(server).run("Hi.")
    set_by_user = model("chat:qwen", base_url=server.base_url("chat"), api_key=KEY, temperature=1.5)
    await Agent(set_by_user).run("Hi.")
    assert [request.body["temperature"] for request in server.requests] == [0.2, 1.5]
    far = model("chat:mistral-large", base_url="https://api.mistral.ai/v1", api_key=KEY)
    assert "temperature" not in far.body(Request(system="", messages=(user("Hi."),)))


UNITS = {
    "sentence": "The result is 42. I hope this helps you! ",
    "word": "na ",
    "letter": "-",
    "long": "".join(map(str, range(80))),
}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("fragment", [5, 700])
async def test_an_answer_that_repeats_itself_is_ended_and_kept_once(
    server: WireServer, unit: str, fragment: int
):
    server.plan(reply(Say("Here it is: " + UNITS[unit] * (40_000 // len(UNITS[unit]))), fragment=fragment))
    run = await local(server).run("Hi.")
    assert (run.reason, run.text) == ("end_turn", ("Here it is: " + UNITS[unit]).rstrip())
    assert "the model repeated itself" in "".join(event.why for event in of(run, TurnRetrying))
    streamed = sum(len(event.text) for event in of(run, TextDelta))
    assert streamed < 6_000, "it is ended soon"
    page = run.to_html()
    assert UNITS[unit] * 8 not in page
    assert "the model repeated itself" in page


LEGITIMATE = {
    "a list": "".join(f"{number}. The next line of the list is this one.\n" for number in range(200)),
    "a rule": "-" * 1_500,
    "a table": "".join(f"| {number} | yes | no |\n" for number in range(400)),
    "a few times": "I will not talk in class, and I will listen.\n" * 40,
}


@pytest.mark.parametrize("text", LEGITIMATE)
async def test_a_text_that_does_not_repeat_itself_stays_whole(server: WireServer, text: str):
    server.plan(reply(Say(LEGITIMATE[text]), fragment=9))
    run = await local(server).run("Hi.")
    assert run.text == LEGITIMATE[text]
    assert of(run, TurnRetrying) == []


def test_only_servers_nearby_are_lean_by_themselves():
    def lean(name: str, base_url: str | None = None) -> bool:
        return (
            Agent(model(name, base_url=base_url, api_key=KEY))
            .prepare("Hi.")
            .recorded_settings.get("lean", False)
        )

    assert lean("ollama:qwen3")
    assert lean("chat:qwen", "http://gpu-box:8080/v1")
    assert lean("chat:qwen", "http://192.168.1.4/v1")
    assert not lean("chat:mistral-large", "https://api.mistral.ai/v1")
    assert not lean("openrouter:some/model")


def test_lean_can_be_asked_for_and_not():
    hosted, near = Agent(model("openrouter:some/model", api_key=KEY)), Agent("ollama:qwen3")
    assert len(hosted.with_lean().prepare("Hi.").tools) == len(FILE_TOOLS)
    assert len(near.with_lean(False).prepare("Hi.").tools) > len(FILE_TOOLS)
    asked = hosted.with_lean().prepare("Hi.").fingerprint()
    assert asked != hosted.prepare("Hi.").fingerprint()
