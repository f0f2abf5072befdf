"""How values of the fresh kernel are compared with those that the run left."""

import datetime
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest

from agent_nb.notebook.verify import difference


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
        (0.1 + 0.2, 0.3),
        ([1, {"a": (2.0, None)}], [1, {"a": (2.0 + 1e-12, None)}]),
        (FRAME, FRAME.copy()),
        (FRAME["a"], FRAME["a"] + 1e-12),
        (FRAME.groupby("a")["b"], FRAME.copy().groupby("a")["b"]),
        (pd.Timestamp("2026-05-01"), pd.Timestamp("2026-05-01")),
        (np.array([1.0, np.nan]), np.array([1.0, np.nan])),
        (np.array(["a"]), np.array(["a"])),
        (pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})),
        (Plain([1]), Plain([1])),
        (Point(1), Point(1)),
        (datetime.date(2026, 1, 1), datetime.date(2026, 1, 1)),
        ({1, 2}, {2, 1}),
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
        ({"a": 1}, {"b": 1}, "at 'a': it is missing"),
        (FRAME, FRAME.assign(a=[1.0, 3.0]), "values are different"),
        (FRAME, FRAME["a"], "a Series instead of a DataFrame"),
        (np.array([1, 2]), np.array([1, 3]), "not equal"),
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
