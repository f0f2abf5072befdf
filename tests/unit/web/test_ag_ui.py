"""`agent.sse(vocabulary="ag-ui")`: legal events, and a front end that ends with what the run has made."""

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb import Agent, Limits, Run, tool
from agent_nb.demo.provider import DemoProvider
from agent_nb.errors import ConfigError, ProviderError
from agent_nb.messages import Text, ToolCall, ToolResult
from agent_nb.providers.scripted import ScriptedProvider, call, fail, refuse, stall, text, think, usage
from tests.support.ag_ui import FrontEnd, translated
from tests.support.scripts import run_script, write

PAGE = "<!doctype html>" + "<p>bread</p>" * 400


def cut():
    return fail(ProviderError("The connection was cut.", retryable=True, retry_after=0))


def shown(run: Run) -> FrontEnd:
    return FrontEnd().take(translated(run.events))


def conversation(run: Run) -> list[tuple]:
    """What the model has said, called and got back, as a front end should have it."""
    found: list[tuple] = []
    for message in run.messages[run.history :]:
        if message.role == "assistant" and any(isinstance(part, Text | ToolCall) for part in message.parts):
            found.append((message.text, [call.arguments for call in message.tool_calls]))
        found += [("result", part.text) for part in message.parts if isinstance(part, ToolResult)]
    return found


def seen(front: FrontEnd) -> list[tuple]:
    found: list[tuple] = []
    for message in front.messages:
        if message["role"] == "assistant":
            arguments = [call["function"]["arguments"] for call in message.get("toolCalls", ())]
            found.append((message["content"], arguments))
        elif message["role"] == "tool":
            found.append(("result", message["content"]))
    return found


async def test_a_run_of_the_demo_model_ends_with_its_conversation_and_files():
    agent = Agent(DemoProvider(pace=0))
    stream = agent.sse("A landing page for a bakery", vocabulary="ag-ui")
    pairs = [(name, json.loads(data)) async for name, data in stream]
    assert all(name == data["type"] for name, data in pairs)
    front = FrontEnd().take(data for _, data in pairs)
    run = await agent.run("A landing page for a bakery")
    assert seen(front) == conversation(run)
    assert front.state == {"files": dict(run.files)}
    assert front.texts("reasoning")
    assert front.end["outcome"] == {"type": "success"}
    assert front.end["usage"][0]["outputTokens"] == run.usage.output
    assert front.end["metadata"]["agent_nb"]["reason"] == "end_turn"


async def test_a_file_is_in_the_state_while_it_is_written_and_costs_little_more_than_its_size():
    run = await run_script([write(content=PAGE, fragment=20)], [text("ok")])
    changes = [event for event in translated(run.events) if event["type"] == "STATE_DELTA"]
    values = [operation["value"] for event in changes for operation in event["delta"]]
    assert len(values) > 5
    assert all(PAGE.startswith(value) for value in values)
    assert sum(map(len, values)) < 12 * len(PAGE)
    front = shown(run)
    assert front.state["files"] == {"index.html": PAGE}
    assert seen(front) == conversation(run)


async def test_a_retry_withdraws_text_thinking_calls_and_half_written_files():
    first = [think("lost"), text("Half a sen"), write("a/b~c.html", PAGE, fragment=9), cut()]
    again = [think("kept"), text("Whole."), write(content="<p>")]
    run = await run_script(first, again, [think("lost"), text("lost"), cut()], [text("Done.")])
    front = shown(run)
    assert seen(front) == conversation(run)
    assert front.texts("user") == ["A page for a bakery"]
    assert front.texts("reasoning") == ["kept"]
    assert front.state == {"files": {"index.html": "<p>"}}
    assert [event["name"] for event in front.custom].count("agent_nb.turn_retrying") == 2


async def test_a_retry_leaves_nothing_of_the_attempt_before_the_next_begins():
    run = await run_script(
        [think("lost"), write(content=PAGE, fragment=9), cut()], [think("kept"), text("Done.")]
    )
    events = translated(run.events)
    retried = [event["type"] for event in events].index("MESSAGES_SNAPSHOT")
    front = FrontEnd().take(events[: retried + 1])
    assert (seen(front), front.texts("reasoning"), front.state) == ([], [""], {"files": {}})
    assert front.take(events[retried + 1 :]).texts("reasoning") == ["kept"]


async def test_reasoning_and_text_alternate_within_a_turn():
    run = await run_script([think("a"), text("One."), think("b"), text(" Two."), write()], [text("ok")])
    front = shown(run)
    assert front.texts("assistant") == ["One. Two.", "ok"]
    assert front.texts("reasoning") == ["a", "b"]
    assert front.types.count("REASONING_START") == 2


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        ([text("Hm."), fail(ProviderError("The key is wrong."))], "failed"),
        ([text("No."), refuse("Not this.")], "refusal"),
    ],
)
async def test_a_failure_is_a_run_error_with_its_sentence(turn, code):
    run = await run_script(turn)
    end = shown(run).end
    assert (end["type"], end["code"], end["message"]) == ("RUN_ERROR", code, run.error)


async def test_a_stopped_run_closes_what_was_open_and_is_cancelled():
    turn = [text("I write"), write(content=PAGE, fragment=40), stall()]
    agent = Agent(ScriptedProvider([turn]))
    handle = agent.start("go")
    async for event in handle:
        if event.type == "file_delta":
            handle.stop()
    run = await handle
    front = shown(run)
    assert front.end["outcome"] == {"type": "cancelled"}
    assert front.texts("assistant") == ["I write"]
    assert len(front.texts("tool")) == 1
    assert front.state["files"] == dict(run.files)


async def test_a_budget_cancels_and_a_limit_of_turns_does_not():
    turns = [[write(), usage(input=10_000_000, output=1)], [text("no")]]
    provider = ScriptedProvider(turns, name="anthropic:claude-opus-5-5")
    run = await Agent(provider, limits=Limits(usd=0.01)).run("go")
    assert (run.reason, shown(run).end["outcome"]) == ("budget", {"type": "cancelled"})
    run = await run_script([write()], [write("b.html")], limits=Limits(steps=2))
    assert (run.reason, shown(run).end["outcome"]) == ("max_steps", {"type": "success"})


async def test_an_approval_is_a_custom_event_and_its_answer_the_result():
    @tool(approval="ask")
    def send(to: str) -> str:
        """Sends a letter."""
        return f"sent to {to}"

    turns = ([call("send", {"to": "Ada"})], [text("ok")])
    front = shown(await run_script(*turns, tools=[send], approve=lambda call, title: True))
    names = [event["name"] for event in front.custom]
    assert names.index("agent_nb.approval_requested") < names.index("agent_nb.approval_resolved")
    assert front.texts("tool") == ["sent to Ada"]
    front = shown(await run_script(*turns, tools=[send], approve="deny"))
    assert "DENIED" in front.texts("tool")[0]


async def test_the_state_begins_with_the_given_files_and_binary_files_have_no_text():
    provider = ScriptedProvider([[call("delete_file", {"path": "old.css"})], [text("ok")]])
    files = {"index.html": "<p>", "old.css": "p{}", "a.bin": b"\x00\xff"}
    run = await Agent(provider).run("go", files=files)
    events = translated(run.events)
    assert [event["type"] for event in events][:3] == ["RUN_STARTED", "STATE_SNAPSHOT", "STEP_STARTED"]
    assert events[1]["snapshot"] == {"files": {"index.html": "<p>", "old.css": "p{}", "a.bin": None}}
    assert shown(run).state == {"files": {"index.html": "<p>", "a.bin": None}}


async def test_variants_are_refused_in_a_sentence():
    run = await Agent(DemoProvider(pace=0)).race("A page", variants=2)
    with pytest.raises(ConfigError, match="one variant"):
        translated(event for variant in run.variants for event in variant.events)


arguments = st.one_of(
    st.text(max_size=30),
    st.fixed_dictionaries(
        {"path": st.sampled_from(["a.txt", "b/c~d.html", "../x", ""]), "content": st.text(max_size=80)}
    ).map(json.dumps),
    st.fixed_dictionaries({"content": st.text(max_size=80), "path": st.just("a.txt")}).map(json.dumps),
)
calls = st.builds(
    lambda raw, size, name: call(name, raw, fragment=size),
    arguments,
    st.integers(1, 9),
    st.sampled_from(["create_file", "edit_file", "nope"]),
)


def _saying(make, content):
    return make(content, fragment=3)


saying = st.builds(_saying, st.sampled_from([text, think]), st.text(max_size=12))
turns = st.lists(
    st.tuples(st.lists(saying | calls, max_size=4), st.sampled_from(["", "", "cut", "fail"])), max_size=4
)


@settings(max_examples=25)
@given(turns, st.integers(0, 120))
def test_any_run_is_legal_and_ends_with_its_conversation_and_files(planned, stop_at):
    endings = {"": [], "cut": [cut()], "fail": [fail(ProviderError("No."))]}
    script = [[*steps, *endings[ending]] for steps, ending in planned]

    async def scenario():
        handle = Agent(ScriptedProvider([*script, [text("ok")], [text("ok")]])).start("go")
        handle.subscribe(lambda event: handle.stop() if event.seq == stop_at else None)
        return await handle

    run = asyncio.run(scenario())
    front = shown(run)
    assert front.state is None or front.state["files"] == dict(run.files)
    if run.reason == "end_turn":
        assert seen(front) == conversation(run)
