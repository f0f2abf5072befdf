"""Tables as the model sees them: the same for each library, whole or in part, and bounded whatever is in them."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.notebook.values import describe_values, tables
from agent_nb.notebook.values.describe_values import TEXT_LIMIT, describe, expand
from agent_nb.notebook.values.kinds import kind_of
from agent_nb.notebook.values.tables import SMALL

DAYS = [datetime.date(2026, 1, 1), datetime.date(2026, 1, 3), None]
DATA = {"n": [1, 2, None], "word": ["b", "a", "b"], "day": DAYS, "none": [None] * 3}
LIBRARIES = [pd.DataFrame, pl.DataFrame, pa.table, lambda data: pa.RecordBatch.from_pydict(data)]
SALES = pd.DataFrame({"month": [f"M{number}" for number in range(24)], "sold": range(24)})
MANY = {"n": list(range(5_000)), "word": ["a", "b"] * 2_500}


class Raising:
    def __hash__(self) -> int:
        raise ValueError

    def __str__(self) -> str:
        raise ValueError


class Endless:
    def __repr__(self) -> str:
        while True:
            pass


def describe_table(value):
    return kind_of(value).describe(value, "table")


def facts_of(value) -> list[str]:
    described = describe_table(value)
    return [line for line in described.text.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("make", LIBRARIES)
def test_each_library_is_asked_the_same(make):
    facts = facts_of(make(DATA))
    assert facts[0].endswith("1 null, from 1 to 2")
    assert facts[1].endswith("0 nulls, 2 distinct; most common: b (2)")
    assert facts[3].endswith("3 nulls")
    if make is not pd.DataFrame:  # there, dates are objects
        assert facts[2].endswith("1 null, from 2026-01-01 to 2026-01-03")


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (pd.Series([1.5, None, 2.25], name="x"), "- x: float64, 1 null, from 1.5 to 2.25"),
        (
            pd.Series(pd.to_datetime(["2026-01-01", "2026-02-01"]), name="d"),
            "2026-01-01 00:00:00 to 2026-02-01 00:00:00",
        ),
        (pd.Series([True, True, False], name="b"), "- b: bool, 0 nulls, 2 distinct; most common: True (2)"),
        (pd.Series(["a", "b"], dtype="category", name="c"), "- c: category, 0 nulls, 2 distinct"),
        (pd.Series([[1], {}], name="l"), "- l: object, 0 nulls"),
        (pd.Series([Raising()], name="r"), "- r: object, 0 nulls"),
        (pl.Series("s", [[1], [2]]), "- s: List(Int64), 0 nulls"),
        (pa.table({"s": [{"a": 1}]}), "0 nulls"),
        (pa.chunked_array([[1], [3]]), "- values: int64, 0 nulls, from 1 to 3"),
        (
            pd.DatetimeIndex(["2026-01-01"], name="day"),
            "- day: datetime64, 0 nulls, from 2026-01-01 00:00:00",
        ),
    ],
)
def test_columns_of_every_kind(value, line):
    assert any(line in fact for fact in facts_of(value))


@pytest.mark.parametrize("make", LIBRARIES)
def test_a_small_table_is_sent_whole(make):
    described = describe_table(make(SALES.to_dict("list")))
    assert described.text.endswith("All rows:\nmonth,sold\n" + "".join(f"M{n},{n}\n" for n in range(24)))
    assert described.shown == "24 of 24 rows"


@pytest.mark.parametrize("make", LIBRARIES)
def test_both_ends_of_a_larger_table_are_sent(make):
    described = describe_table(make(MANY))
    assert "First rows:\nn,word\n0,a\n1,b\n2,a\n3,b\n4,a\n\nLast rows:\nn,word\n4995,b" in described.text
    assert described.text.endswith("4999,b\n")
    assert described.shown == "10 of 5,000 rows, and a summary"


def test_a_table_is_whole_up_to_the_limit():
    for length, is_whole in ((SMALL - len("text\n") - 1, True), (SMALL - len("text\n"), False)):
        text = describe_table(pd.DataFrame({"text": ["x" * length]})).text
        assert ("All rows:" in text) is is_whole


def test_an_index_is_sent_as_columns():
    index = pd.MultiIndex.from_product([["Lyon", "Nantes"], [2025, 2026]], names=["town", None])
    text = describe_table(pd.DataFrame({"sold": range(4)}, index=index)).text
    assert "- town: str, 0 nulls, 2 distinct" in text
    assert "- index: int64, 0 nulls, from 2025 to 2026" in text
    assert "town,index,sold\nLyon,2025,0\n" in text


def test_columns_may_have_the_same_name_or_several_levels():
    doubled = describe_table(pd.DataFrame([["Lyon", 3]], columns=["a", "a"])).text
    assert "- a: str, 0 nulls, 1 distinct\n- a: int64, 0 nulls, from 3 to 3" in doubled
    levels = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    assert "- ('a', 'x'): int64" in describe_table(levels).text


def test_a_lazy_frame_is_not_computed():
    def fail(_: pl.DataFrame) -> pl.DataFrame:
        raise AssertionError("computed")

    lazy = pl.LazyFrame(DATA).map_batches(fail, schema={"n": pl.Int64})
    assert describe_table(lazy).text == "polars LazyFrame, not computed\n- n: Int64"


def test_missing_values_do_not_hide_the_range_of_an_array():
    text = describe("grid", np.array([1.0, np.nan, 3.0])).text
    assert text.startswith("ndarray of shape (3,), float64, 1 of 3 values missing, from 1.0 to 3.0, mean 2\n")


def test_a_secret_at_the_cut_of_a_cell_is_masked():
    cell = " " * 190 + f"sk-proj-{'Ab1' * 16}" + " " * SMALL
    assert "Ab1" not in describe("frame", pd.DataFrame({"note": [cell]})).text


def test_long_tables_are_counted_at_their_beginning(monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 3)
    facts = facts_of(pl.DataFrame({"word": ["a", "a", "b", "c"], "n": [1, 2, 3, 40]}))
    assert facts[0] == "- word: String, 0 nulls, 2 distinct in the first 3 rows; most common: a (2)"
    assert facts[1].endswith("from 1 to 40")


def test_a_wide_table_lists_its_first_columns():
    described = describe_table(pd.DataFrame(0, range(3), range(5_000)))
    assert "- 99: int64, 0 nulls, from 0 to 0\n- and 4,900 more columns: 100, 101," in described.text
    assert described.shown == "3 of 3 rows and 100 of 5,000 columns, and a summary"
    assert len(described.text) < TEXT_LIMIT


@pytest.mark.parametrize(
    "column",
    [
        lambda: np.arange(1_000_000),
        lambda: ["x" * 100_000] * 20,
        lambda: [list(range(100_000))] * 20,
        lambda: [{"id": number} for number in range(10_000)],
        lambda: [Raising()] * 20,
    ],
    ids=["many rows", "long text", "large cells", "many objects", "cells that raise"],
)
def test_whatever_is_in_a_table_its_text_is_short(column):
    assert len(describe("table", pd.DataFrame({"column": column()})).text) < 5_000


def test_a_value_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(describe_values, "SECONDS", 0.3)
    with pytest.raises(ConfigError, match=r"`mood` cannot be described: it takes longer than 0.3 seconds\."):
        expand("{{mood}}", {"mood": Endless()})
