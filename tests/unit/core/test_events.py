"""Events: tags, layers, wire form, and the names that other systems have for them."""

import dataclasses
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb import events
from agent_nb._base.wire import from_wire, to_wire
from agent_nb.core.events import LAYERS, BaseEvent, Event, PlanEntry, Thumbnail
from agent_nb.core.messages import (
    Image,
    Message,
    Source,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    snake_case,
)

CLASSES = typing.get_args(Event)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(st.text(max_size=6), json_values, max_size=3)
images = st.builds(Image, st.binary(max_size=20))
messages = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "tool"]),
    parts=st.lists(
        st.builds(Text, st.text())
        | st.builds(Thinking, st.text())
        | images
        | st.builds(Source, st.text(), st.text())
        | st.builds(ToolCall, st.text(), st.text(), st.text())
        | st.builds(
            ToolResult,
            call_id=st.text(),
            name=st.text(),
            text=st.text(),
            images=st.lists(images, max_size=2).map(tuple),
        ),
        max_size=4,
    ).map(tuple),
    vendor=json_objects,
)
finite = st.floats(-1e9, 1e9)
whole = st.integers(-(2**53), 2**53)
overrides = {
    "at": finite,
    "seconds": finite,
    "wait": finite,
    "cost": st.none() | finite,
    "limit": st.none() | whole,
    "usage": st.builds(Usage, **{field.name: whole for field in dataclasses.fields(Usage)}),
    "message": messages,
    "entries": st.lists(st.builds(PlanEntry), max_size=2).map(tuple),
    "images": st.lists(st.builds(Thumbnail, width=whole, height=whole), max_size=2).map(tuple),
    "settings": json_objects,
    "args": json_objects,
    "schema": json_objects,
    "proposed": st.none() | json_objects,
    "executed": st.none() | json_objects,
    "output": st.none() | json_objects,
    "outputs": st.lists(json_objects, max_size=2).map(tuple),
    "answer": json_values,
    "patch": st.none()
    | st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.text(max_size=9)), max_size=2).map(tuple),
}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_event_survives_the_wire(kind, data):
    hints = typing.get_type_hints(kind)
    fields = {
        field.name: data.draw(
            whole if (hint := hints[field.name]) is int else overrides.get(field.name, st.from_type(hint))
        )
        for field in dataclasses.fields(kind)
    }
    event = kind(**fields)
    assert from_wire(Event, to_wire(event)) == event


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_the_tag_is_the_class_name(kind):
    assert kind.type == snake_case(kind.__name__)


def test_the_four_layers_hold_every_event():
    assert sorted(kind.__name__ for layer in LAYERS.values() for kind in layer) == sorted(
        k.__name__ for k in CLASSES
    )


def test_every_event_class_is_in_the_union():
    defined = [
        value for value in vars(events).values() if isinstance(value, type) and issubclass(value, BaseEvent)
    ]
    assert set(defined) - {BaseEvent} == set(CLASSES)


def test_an_unknown_tag_is_refused():
    with pytest.raises(ValueError, match="unknown type, 'surprise'"):
        from_wire(Event, {"type": "surprise"})


NONE = "deliberately none, because "
SOURCES: dict[str, dict[str, str]] = {
    "screenshot-to-code": {
        "assistant": "text_delta",
        "thinking": "thinking_delta",
        "toolStart": "tool_started",
        "setCode": "file_delta",
        "toolResult": "tool_finished",
        "assistant_delta": "text_delta",
        "thinking_delta": "thinking_delta",
        "tool_call_delta": "tool_args_delta",
    },
    "the tutorial loop": {
        "content_delta": "text_delta",
        "tool_call_start": "tool_ready",
        "tool_call_result": "tool_finished",
        "done": "run_finished",
    },
    "Assista X": {
        "text": "text_delta",
        "reasoning": "thinking_delta",
        "tool_call": "tool_ready",
        "tool_result": "tool_finished",
        "usage": "usage_updated",
        "error": "run_finished",
        "end": "turn_finished",
        "grounding": NONE + "a source is a part of a message (`Source`) and arrives with `message_added`",
    },
    "AgentX": {
        "tool_use_content_block_start": "tool_started",
        "input_json_delta": "tool_args_delta",
        "tool_use_content_block_stop": NONE + "`tool_ready` says it with the parsed arguments",
        "tool_call": "tool_ready",
        "tool_result": "tool_finished",
        "text_delta": "text_delta",
        "message_start": "turn_started",
        "message_delta": "turn_finished",
        "message_stop": NONE + "`message_added` carries the complete message",
        "conversation_start": "run_started",
        "conversation_end": "run_finished",
        "conversation_thinking": NONE + "phases are derived from events by `phase_after`",
        "conversation_responding": NONE + "phases are derived from events by `phase_after`",
        "tool_planned": "tool_ready",
        "tool_executing": "tool_running",
        "tool_completed": "tool_finished",
        "user_message": "message_added",
        "assistant_message": "message_added",
        "tool_use_message": NONE + "`ToolUse` is derived: `run.tool_uses` joins a call and its result",
        "error_message": "run_finished",
        "exchange_request": "run_started",
        "exchange_response": "run_finished",
    },
}


@pytest.mark.parametrize(
    ("system", "name"), [(system, name) for system, names in SOURCES.items() for name in names]
)
def test_every_source_name_has_its_event(system, name):
    event_name = SOURCES[system][name]
    assert event_name in {kind.type for kind in CLASSES} or (
        event_name.startswith(NONE) and len(event_name) > len(NONE) + 20
    )
