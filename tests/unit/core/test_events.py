"""Events: tags, layers and wire form."""

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
    "values": json_objects,
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
