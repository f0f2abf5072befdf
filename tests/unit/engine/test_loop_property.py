"""The whole loop under arbitrary JSON, cut into arbitrary fragments."""

import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from agent_nb import Agent
from agent_nb._base.wire import from_wire, to_wire
from agent_nb.core.events import Event, FileDelta, RunFinished, ToolArgsDelta, ToolStarted
from agent_nb.providers.scripted import ScriptedProvider, call, text

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=40)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
arguments = st.one_of(
    anything.map(json.dumps),
    st.text(max_size=60),
    st.fixed_dictionaries(
        {"path": st.sampled_from(["a.txt", "../x", ""]), "content": st.text(max_size=200)}
    ).map(json.dumps),
    st.fixed_dictionaries(
        {"content": st.text(max_size=200), "path": st.just("b.html"), "more": anything}
    ).map(lambda value: json.dumps(value, ensure_ascii=False)),
)


@given(
    st.lists(st.tuples(arguments, st.integers(1, 9)), min_size=1, max_size=3),
    st.sampled_from(["create_file", "edit_file", "nope"]),
)
def test_any_arguments_in_any_fragments_end_well(calls, name):
    async def scenario():
        turn = [call(name, raw, fragment=size) for raw, size in calls]
        with ScriptedProvider([turn, [text("ok")]]) as provider:
            return await Agent(provider).run("go")

    run = asyncio.run(scenario())
    assert run.reason == "end_turn"
    assert [event.seq for event in run.events] == list(range(1, len(run.events) + 1))
    assert isinstance(run.events[-1], RunFinished)
    if name != "create_file":
        shown = "".join(event.text for event in run.events if isinstance(event, ToolArgsDelta))
        assert shown == "".join(raw for raw, _ in calls)
    started = [event.call_id for event in run.events if isinstance(event, ToolStarted)]
    for call_id, use in zip(started, run.tool_uses, strict=True):
        if use.ok and name == "create_file":
            streamed = ""
            for event in run.events:
                if isinstance(event, FileDelta) and event.call_id == call_id:
                    streamed = streamed[: event.offset] + event.text
            assert streamed == json.loads(use.call.arguments)["content"]
    for event in run.events:
        assert from_wire(Event, to_wire(event)) == event
