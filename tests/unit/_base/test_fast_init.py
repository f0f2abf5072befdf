"""Classes made for every token: faster, and frozen dataclasses all the same."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, replace

import pytest

from agent_nb._base.fast_init import quick
from agent_nb.events import FileDelta, TextDelta, ThinkingDelta, ToolArgsDelta
from agent_nb.providers.base import CallPiece, TextPiece, ThinkingPiece

BASE = {"run_id": "r", "seq": 1, "at": 0.5}


@pytest.mark.parametrize(
    "value",
    [
        TextDelta(**BASE, text="a"),
        ThinkingDelta(**BASE, text="a", variant=2),
        ToolArgsDelta(**BASE, call_id="c", text="a"),
        FileDelta(**BASE, call_id="c", path="a.txt", offset=0, text="a"),
        TextPiece("a"),
        ThinkingPiece("a"),
        CallPiece("c", "a"),
    ],
)
def test_a_quick_class_is_a_frozen_value(value):
    names = [field.name for field in fields(value)]
    assert type(value)(**{name: getattr(value, name) for name in names}) == value
    assert copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value
    assert replace(value, text="b") != value
    with pytest.raises(FrozenInstanceError):
        value.text = "b"


def test_defaults_and_order_stay():
    @quick
    @dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 7

    assert (Point(1).y, Point(1, 2).y, Point(1, y=3).x) == (7, 2, 1)


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="text"):
        TextDelta(**BASE)
    with pytest.raises(TypeError, match="colour"):
        TextDelta(**BASE, text="a", colour="red")
    with pytest.raises(TypeError, match="positional"):
        TextDelta("r", 1, 0.5, "a")
