"""How values of the fresh kernel are compared with those that the run left."""

import datetime
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest

from agent_nb.notebook.verify.in_kernel import NotComparableError, difference


class Plain:
    def __init__(self, value):
        self.value = value


@dataclass
class Point:
    x: float


FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", None]})


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (1, 1.0),
        (0.1 + 0.2, 0.3),
        (math.nan, math.nan),
        (np.float64(0.3), 0.1 + 0.2),
        ([1, {"a": (2.0, None)}], [1, {"a": (2.0 + 1e-12, None)}]),
        (FRAME, FRAME.copy()),
        (FRAME["a"], FRAME["a"] + 1e-12),
        (FRAME.index, FRAME.index.copy()),
        (pd.Timestamp("2026-05-01"), pd.Timestamp("2026-05-01")),
        (np.array([1.0, np.nan]), np.array([1.0 + 1e-12, np.nan])),
        (np.array(["a"]), np.array(["a"])),
        (pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})),
        (Plain([1]), Plain([1])),
        (Point(1), Point(1)),
        (datetime.date(2026, 1, 1), datetime.date(2026, 1, 1)),
        ({1, 2}, {2, 1}),
        (math, math),
    ],
)
def test_equal(expected, found):
    assert difference(expected, found) == ""


@pytest.mark.parametrize(
    ("expected", "found", "says"),
    [
        (1, 2, "2 instead of 1"),
        (True, None, "a NoneType instead of a bool"),
        ([1, 2], [1], "1 items instead of 2"),
        ({"a": [1]}, {"a": [3]}, "at 'a': at 0: 3 instead of 1"),
        ({"a": 1}, {"b": 1}, "other keys"),
        (FRAME, FRAME.assign(a=[1.0, 3.0]), "values are different"),
        (FRAME, FRAME["a"], "a Series instead of a DataFrame"),
        (np.array([1, 2]), np.array([1, 3]), "Not equal to tolerance"),
        (np.array([1, 2]), np.array([1, 2, 3]), "shapes"),
        (pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [2]}), "different"),
        (Plain(1), Plain(2), "at 'value': 2 instead of 1"),
        (Point(1), Point(2), "Point(x=2) instead of Point(x=1)"),
        ("a" * 500, "b", "'b' instead of 'aaa"),
    ],
)
def test_different(expected, found, says):
    assert says in difference(expected, found)
    assert len(difference(expected, found)) < 220


def test_what_cannot_be_compared_says_so():
    nested: list = []
    nested.append(nested)
    other: list = []
    other.append(other)
    with pytest.raises(NotComparableError, match="nested too deep"):
        difference(nested, other)
    with pytest.raises(NotComparableError, match="cannot be compared"):
        difference(object(), object())
