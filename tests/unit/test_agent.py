"""Agent: the ways to ask it, what it refuses before anything is sent, what it leaves open or closed."""

import json
import os
import pickle
import re

import pytest

from agent_nb import Agent, Limits, tool
from agent_nb.core.errors import ConfigError, MissingKeyError, ToolError, UnknownModelError
from agent_nb.providers.scripted import ScriptedProvider, text, think
from agent_nb.tools import Toolbox
from tests.support.scripts import PAGE, write
from tests.support.wire import Say, WireServer, reply
from tests.support.wire.cases import CASE


@tool
def roll(sides: int) -> str:
    """Rolls a die."""
    return f"{sides} at most"


class Guard:
    def before_tool(self, call):
        return refuse(call)


def refuse(call):
    raise ToolError("Not here.")


class Closing(ScriptedProvider):
    """Counts how often it is closed."""

    closed = 0

    async def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize(
    ("name", "error"),
    [("opnai:gpt-6", UnknownModelError), ("openai:gpt-6-sol", MissingKeyError), ("", ConfigError)],
)
def test_a_model_that_cannot_be_asked_is_refused(name, error):
    with pytest.raises(error):
        Agent(name)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"limits": {"steps": 3}},
            "`limits` is a `Limits`, such as `Limits(steps=8, usd=0.20)`, not a dict.",
        ),
        ({"system": 3}, "`system` is text, not a int."),
        ({"tools": roll.function}, "`tools` is a list of functions and tools, not a function."),
        ({"tools": "roll"}, "`tools` is a list of functions and tools, not a str."),
        ({"tools": [lambda sides: sides]}, "has no annotation"),
        ({"model": 3}, "`model` is a name such as 'anthropic:', or a `Provider`, not a int."),
        ({"model": None}, "`model` is a name such as 'anthropic:', or a `Provider`, not None."),
    ],
)
def test_what_an_agent_cannot_take_is_one_sentence(given, says):
    with pytest.raises(ConfigError) as raised:
        Agent(**{"model": "demo:", **given})
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


async def test_a_budget_needs_a_known_price():
    with pytest.raises(ConfigError, match="known price"):
        await Agent(ScriptedProvider([]), limits=Limits(usd=1)).run("go")


def test_the_repr_names_model_and_tools():
    assert repr(Agent("demo:", tools=[roll])) == "<Agent demo: with roll>"
    assert repr(Agent("demo:", tools=[])) == "<Agent demo: with no tools>"


def test_a_toolbox_is_taken_as_it_is():
    toolbox = Toolbox([roll])
    assert Agent("demo:", tools=toolbox).tools is toolbox


async def test_what_is_prepared_is_what_the_run_sends():
    material = {"files": {"index.html": PAGE}, "messages": [{"role": "user", "content": "Before."}]}
    with ScriptedProvider([[text("ok")]]) as provider:
        agent = Agent(provider, system="Speak French.")
        prepared = agent.prepare("Fix it", **material)
        assert not provider.requests
        await agent.run("Fix it", **material)
    (request,) = provider.requests
    sent = request.system, request.messages, request.tools
    assert sent == (prepared.system, prepared.messages, prepared.tools)


async def test_material_that_is_misspelt_is_refused():
    agent = Agent(ScriptedProvider([]))
    for ask in (agent.prepare, agent.start, agent.start_variants):
        with pytest.raises(TypeError, match="'image'"):
            ask("Like this", image=["photo.png"])


async def test_runs_of_one_agent_share_nothing():
    with ScriptedProvider([[write("a.txt", "1")], [text("one")], [text("two")]]) as provider:
        agent = Agent(provider)
        first, second = await agent.run("first"), await agent.run("second")
    assert (list(first.files), list(second.files)) == (["a.txt"], [])
    assert len(provider.requests[-1].messages) == 1
    assert first.id != second.id


async def test_subscribers_hear_every_event_of_later_runs():
    heard = []
    with ScriptedProvider([[text("one")], [text("two")]]) as provider:
        agent = Agent(provider)
        assert agent.on_event(heard.append) == heard.append
        runs = [await agent.run("first"), await agent.run("second")]
    assert heard == [event for run in runs for event in run.events]


async def test_sse_gives_names_and_json():
    with ScriptedProvider([[think("Hm."), text("Done.")]]) as provider:
        pairs = [pair async for pair in Agent(provider).sse("go")]
    events = [(name, json.loads(data)) for name, data in pairs]
    assert (events[0][0], events[-1][0]) == ("run_started", "run_finished")
    assert [data["text"] for name, data in events if name == "text_delta"] == ["Done."]
    assert [data["seq"] for _, data in events] == list(range(1, len(events) + 1))


def test_run_sync_leaves_no_socket_open():
    with WireServer.in_thread() as server:
        server.otherwise = lambda request: reply(Say("Hello."))
        agent = Agent(CASE["responses"].provider(server))
        before = len(os.listdir("/dev/fd"))
        runs = [agent.run_sync("Hello?") for _ in range(6)]
        after = len(os.listdir("/dev/fd"))
    assert [run.text for run in runs] == ["Hello."] * 6
    assert after - before < 6


async def test_run_sync_works_inside_a_running_loop():
    assert Agent(ScriptedProvider([[text("Done.")]])).run_sync("go").text == "Done."


def test_map_sync_waits_for_all_runs():
    runs = Agent(ScriptedProvider([[text("one")], [text("two")]])).map_sync(["a", "b"], concurrency=1)
    assert [run.text for run in runs] == ["one", "two"]


@pytest.mark.parametrize(
    ("start", "instead"),
    [
        (lambda agent: agent.start("go"), "use `agent.run_sync(prompt)`, or start it in a coroutine"),
        (lambda agent: agent.prepare("go").start(), "agent.run_sync(prompt)"),
        (lambda agent: agent.map(["go"]), "agent.map_sync(prompts)"),
        (lambda agent: agent.start_variants("go", variants=2), "there is none: start it in a coroutine"),
    ],
)
def test_without_an_event_loop_a_sentence_names_the_remedy(start, instead):
    with pytest.raises(ConfigError, match=re.escape(instead)):
        start(Agent(ScriptedProvider([])))


async def test_hooks_added_later_leave_a_prepared_run_alone():
    late = []
    with ScriptedProvider([[text("one")], [text("two")]]) as provider:
        agent = Agent(provider)
        prepared = agent.prepare("first")
        agent.on_event(late.append)
        await prepared.start()
        assert late == []
        await agent.run("second")
    assert late


async def test_a_copy_keeps_its_hooks_to_itself():
    heard: dict[str, set[str]] = {"agent": set(), "copy": set()}
    agent = Agent(ScriptedProvider([[write()], [text("Done.")]] * 2))
    agent.after_tool(lambda call, result: heard["agent"].add("before the copy"))
    copy = agent.replace(model=ScriptedProvider([[write()], [text("Done.")]]), system="Speak French.")
    for name, one in (("agent", agent), ("copy", copy)):
        one.before_tool(lambda call, name=name: heard[name].add("before"))
        one.after_tool(lambda call, result, name=name: heard[name].add("after"))
        one.on_event(lambda event, name=name: heard[name].add("event"))
    await copy.run("go")
    assert heard == {"agent": {"before the copy"}, "copy": {"before", "after", "event"}}
    assert copy.model.requests[0].system.endswith("Speak French.")


def test_the_arguments_are_attributes_that_do_not_change():
    agent = Agent("demo:", system="Be brief.", limits=Limits(steps=3), answer="n: int")
    assert (agent.model.name, agent.system, agent.limits.steps, agent.answer) == (
        "demo:",
        "Be brief.",
        3,
        "n: int",
    )
    with pytest.raises(AttributeError, match=re.escape("`agent.replace(system=...)`")):
        agent.system = "Be kind."
    other = agent.replace(system="Be kind.")
    assert (agent.system, other.system, other.limits) == ("Be brief.", "Be kind.", agent.limits)
    assert len({agent, other, agent.replace()}) == 3


def test_a_pickle_says_which_functions_it_leaves_out(caplog):
    agent = Agent(ScriptedProvider([]), middleware=[Guard()])
    agent.on_event(print)
    agent.before_tool(refuse)
    hooks = pickle.loads(pickle.dumps(agent)).request("go").hooks
    assert (len(hooks.before_tool), hooks.subscribers) == (2, ())
    assert "<built-in function print>" in caplog.text


async def test_recording_leaves_the_agent_alone(tmp_path):
    agent = Agent(ScriptedProvider([[text("one")], [text("two")]]))
    await agent.recording(tmp_path / "tape.jsonl").run("go")
    before = (tmp_path / "tape.jsonl").read_bytes()
    await agent.run("go")
    assert (tmp_path / "tape.jsonl").read_bytes() == before


async def test_leaving_the_agent_closes_its_model():
    provider = Closing([])
    async with Agent(provider) as agent:
        assert provider.closed == 0
    assert provider.closed == 1
    assert agent.model is provider
