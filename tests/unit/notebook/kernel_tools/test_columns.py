"""Facts about columns: the same questions to each library, and columns that cannot answer."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from agent_nb.notebook.kernel_tools import columns
from agent_nb.notebook.kernel_tools.columns import column_facts

DAYS = [datetime.date(2026, 1, 1), datetime.date(2026, 1, 3), None]
DATA = {"n": [1, 2, None], "word": ["b", "a", "b"], "day": DAYS, "none": [None] * 3}


class Raising:
    def __hash__(self) -> int:
        raise ValueError

    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_each_library_is_asked_the_same(make):
    table = make(DATA)
    facts = column_facts("t", table).splitlines()
    assert facts[0] == "Facts:"
    assert facts[1].endswith("1 null, from 1 to 2")
    assert facts[2].endswith("0 nulls, 2 distinct; most common: b (2)")
    assert facts[4].endswith("3 nulls")
    if make is not pd.DataFrame:  # there, dates are objects
        assert facts[3].endswith("1 null, from 2026-01-01 to 2026-01-03")


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
        (pd.Series([Raising()], name="r"), "- r: (not readable: ValueError)"),
        (pl.Series("s", [[1], [2]]), "- s: List(Int64), 0 nulls"),
        (pa.table({"s": [{"a": 1}]}), "0 nulls"),
        (np.array([1.0, np.nan, 3.0]), "- values: float64, 1 null, from 1 to 3"),
        (np.array([np.nan]), "- values: float64, 1 null"),
    ],
)
def test_columns_of_every_kind(value, line):
    text = column_facts("value", value)
    assert line in text, text


@pytest.mark.parametrize("value", [3, "text", [1], {"a": 1}, pd.DataFrame(), np.array([1]), np.array([])])
def test_other_values_have_none(value):
    assert column_facts("value", value) == ""


def test_secret_columns_are_masked(monkeypatch):
    frame = pd.DataFrame({"token": ["abc", "abc"], "note": [f"sk-proj-{'Ab1' * 16}"] * 2})
    for table in (frame, pl.from_pandas(frame), pa.table(frame)):
        text = column_facts("frame", table)
        assert "abc" not in text
        assert "Ab1" not in text
        assert text.count("•••") == 2
    assert column_facts("secret", frame["note"]) == ""


def test_long_tables_are_counted_at_their_beginning(monkeypatch):
    monkeypatch.setattr(columns, "ROWS", 3)
    text = column_facts("t", pl.DataFrame({"word": ["a", "a", "b", "c"], "n": [1, 2, 3, 40]}))
    assert "word: String, 0 nulls, 2 distinct in the first 3 rows; most common: a (2)" in text
    assert text.endswith("from 1 to 40")


def test_a_wide_table_lists_its_first_columns():
    lines = column_facts("t", pd.DataFrame(0, [0], range(5_000))).splitlines()
    assert lines[-1] == "- and 4,900 more columns"
    assert len(lines) == 102
