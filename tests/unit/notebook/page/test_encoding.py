"""Values of the notebook as JSON for a page."""

import datetime
import decimal
import json
import sys
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from agent_nb import ConfigError
from agent_nb.notebook.page.encoding import CHUNK, chunks, json_pieces


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: float


def as_json(value):
    return json.loads("".join(json_pieces("value", value)))


TABLE = {"town": ["Lyon", None], "rate": [1.5, float("nan")]}
ROWS = [{"town": "Lyon", "rate": 1.5}, {"town": None, "rate": None}]
TWICE = pd.DataFrame([[1, 2]], columns=["a", "a"])
LEVELS = pd.DataFrame({("a", "b"): [pd.NaT], 3: [pd.NA]})
GROUPED = pd.DataFrame({"n": [1]}, index=pd.MultiIndex.from_tuples([("x", 1)], names=["k", None]))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (pd.DataFrame(TABLE), ROWS),
        (pl.DataFrame(TABLE), ROWS),
        (pa.table(TABLE), ROWS),
        (
            pd.DataFrame({"at": pd.to_datetime(["2026-03-01", None])}),
            [{"at": "2026-03-01T00:00:00"}, {"at": None}],
        ),
        (pd.DataFrame({"for": pd.to_timedelta([90], unit="s")}), [{"for": 90.0}]),
        (pd.DataFrame({"kind": pd.Categorical(["a"])}), [{"kind": "a"}]),
        (TWICE, [{"a": 1, "a_2": 2}]),
        (LEVELS, [{"a / b": None, "3": None}]),
        (GROUPED, [{"k": "x", "index": 1, "n": 1}]),
        (pd.Series([1, 2]), [1, 2]),
        (pl.Series([datetime.date(2026, 3, 1), None]), ["2026-03-01", None]),
        (pa.array([1, None]), [1, None]),
        (pd.Series([1.5], index=["x"]), [{"index": "x", "values": 1.5}]),
        (np.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
        (np.array(["2026-03-01", "NaT"], dtype="datetime64[ns]"), ["2026-03-01T00:00:00", None]),
        (np.float32("nan"), None),
        ({"a": (1, 2), 3: {4}}, {"a": [1, 2], "3": [4]}),
        (datetime.date(2026, 3, 1), "2026-03-01"),
        ([decimal.Decimal("1.5"), Colour.RED, Point(1, float("inf"))], [1.5, "red", {"x": 1, "y": None}]),
        (["\ud800 <script>", float("nan")], ["\ud800 <script>", None]),
        ({"é": "\u2028", 1.5: 2**70}, {"é": "\u2028", "1.5": 2**70}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_arrives_as_json(value, expected):
    assert as_json(value) == expected


def test_numbers_of_more_than_8_bytes_are_numbers():
    assert as_json(np.array([0.5, np.nan], dtype=np.longdouble)) == [0.5, None]
    assert as_json({"x": np.longdouble(1.5)}) == {"x": 1.5}


def test_a_figure_is_a_data_url():
    from matplotlib.figure import Figure

    assert as_json(Figure(figsize=(1, 1))).startswith("data:image/png;base64,")


def cycle():
    items = []
    items.append(items)
    return items


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (object(), "type object"),
        ([{"a": 1j}], "type complex"),
        ({(1, 2): 3}, "type tuple as a key"),
        (pl.LazyFrame(TABLE), "type LazyFrame"),
        (cycle(), "contains itself"),
        ({"a": [b"x"] * 40_000}, "type bytes"),
        ([np.clongdouble(1)], "type clongdouble"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_cannot_hold_is_named(value, why):
    with pytest.raises(ConfigError, match=f"`value`.*{why}"):
        as_json(value)


def test_a_value_of_more_than_the_limit_is_refused():
    for value in (pd.DataFrame({"n": range(10_000_000)}), range(10**15)):
        with pytest.raises(ConfigError, match=r"`value` has more than 1 MB as JSON.*Bind fewer rows"):
            list(json_pieces("value", value, limit=1_000_000))


def test_a_picture_as_an_array_comes_in_small_pieces():
    pieces = list(json_pieces("value", np.zeros((2, 300, 300))))
    assert max(map(len, pieces)) <= CHUNK
    assert json.loads("".join(pieces)) == np.zeros((2, 300, 300)).tolist()


def test_large_values_come_in_small_pieces():
    many = {
        "rows": [{"n": number} for number in range(30_000)],
        "text": "x" * 1_000_000,
        "flat": [1] * 30_000,
    }
    pieces = list(json_pieces("value", many))
    assert max(map(len, pieces)) <= CHUNK
    assert json.loads("".join(pieces)) == many
    assert max(map(len, chunks(pieces))) <= CHUNK


def test_nesting_deeper_than_the_stack_is_refused():
    deep = []
    for _ in range(sys.getrecursionlimit()):
        deep = [deep]
    with pytest.raises(ConfigError, match="nested too deep"):
        as_json(deep)
