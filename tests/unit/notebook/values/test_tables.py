"""Every kind of table, column and array is asked the same: what each use says of it, how much, and what is masked."""

import datetime

import dask.dataframe
import narwhals
import numpy as np
import pandas as pd
import PIL.Image
import polars as pl
import pyarrow as pa
import pytest

from agent_nb._base.secrets import MASK
from agent_nb.core.errors import ConfigError
from agent_nb.engine.data_gate import schema_text
from agent_nb.features.certificate.digests import NotCanonicalError, digest_of
from agent_nb.notebook.kernel_tools.variables import WIDTH, one_line, size
from agent_nb.notebook.values import describe_values, tables
from agent_nb.notebook.values.describe_values import TEXT_LIMIT, describe, expand
from agent_nb.notebook.values.kinds import KINDS, kind_of
from agent_nb.notebook.values.schema import column_names, known_names, schema_of
from agent_nb.notebook.values.secret_values import Collector
from agent_nb.notebook.values.tables import SMALL
from agent_nb.notebook.values.value_masking import Masks

TEXT = "lyon17zq"


class Raising:
    def __hash__(self) -> int:
        raise ValueError

    def __str__(self) -> str:
        raise ValueError


class Endless:
    def __repr__(self) -> str:
        while True:
            pass


def computed(frame):
    raise AssertionError("computed")


def lazy_polars(data):
    return pl.LazyFrame(data).map_batches(computed, schema=pl.DataFrame(data).schema)


def lazy_dask(data):
    frame = pd.DataFrame(data)
    return dask.dataframe.from_pandas(frame, npartitions=1).map_partitions(
        lambda part: computed(part) if len(part) else part, meta=frame.iloc[:0]
    )


def first(make):
    """A column from the first of the columns."""
    return lambda data: make(*next(iter(data.items())))


FRAMES = {
    "pandas.DataFrame": pd.DataFrame,
    "polars.DataFrame": pl.DataFrame,
    "pyarrow.Table": pa.table,
    "pyarrow.RecordBatch": pa.RecordBatch.from_pydict,
    "narwhals.DataFrame": lambda data: narwhals.from_native(pl.DataFrame(data)),
}
LAZY = {
    "polars.LazyFrame": lazy_polars,
    "dask.DataFrame": lazy_dask,
    "narwhals.LazyFrame": lambda data: narwhals.from_native(lazy_polars(data)),
}
COLUMNS = {
    "pandas.Series": first(lambda label, cells: pd.Series(cells, name=label)),
    "pandas.Index": first(lambda label, cells: pd.Index(cells, name=label)),
    "polars.Series": first(pl.Series),
    "pyarrow.Array": first(lambda label, cells: pa.array([{label: cell} for cell in cells])),
    "pyarrow.ChunkedArray": first(lambda label, cells: pa.chunked_array([[{label: cells[0]}]])),
}
OTHERS = {
    "pyarrow.Scalar": first(lambda label, cells: pa.scalar({label: cells[0]})),
    "numpy.ndarray": first(lambda label, cells: np.array([(cells[0],)], [(label, "U20")])),
    "numpy.generic": first(lambda label, cells: np.array([(cells[0],)], [(label, "U20")])[0]),
    "PIL.Image": lambda data: PIL.Image.new("RGB", (4, 4)),
    "list": lambda data: [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)],
    "dict": dict,
}
WITHOUT_DIGEST = {
    "pyarrow.Array",
    "pyarrow.ChunkedArray",
    "pyarrow.Scalar",
    "pyarrow.RecordBatch",
    "PIL.Image",
}
WITHOUT_CELLS = {*LAZY, "pyarrow.Scalar", "PIL.Image"}
ALL = FRAMES | LAZY | COLUMNS | OTHERS


DATA = {
    "n": [1, 2, None],
    "word": ["b", "a", "b"],
    "day": [datetime.date(2026, 1, 1), None, None],
    "none": [None] * 3,
}
MANY = {"n": [*range(5_000)], "word": ["a", "b"] * 2_500}


def each(*groups):
    return pytest.mark.parametrize("name", [name for group in groups for name in group])


def text_of(value) -> str:
    return describe("table", value).text


def facts_of(value) -> list[str]:
    return [line for line in text_of(value).splitlines() if line.startswith("- ")]


def schema_text_of(value) -> str:
    return schema_text(schema_of(value), known_names({"value": value}))


def test_there_is_a_value_of_each_kind():
    assert {*KINDS} <= {kind_of(make({"town": [TEXT]})) for make in ALL.values()}


@each(FRAMES, COLUMNS, OTHERS)
def test_a_prompt_shows_its_text_and_its_schema_has_none(name):
    value = ALL[name]({"town": [TEXT]})
    described = describe("value", value)
    assert (TEXT in described.text) is (name != "PIL.Image")
    assert described.masked == ()
    assert 0 < len(one_line("value", value)) <= WIDTH
    assert TEXT not in schema_text_of(value)
    assert "held back" not in schema_text_of(value)


@each(ALL)
def test_what_is_called_like_a_secret_is_masked_in_it(name):
    value = ALL[name]({"password": [TEXT]})
    described = describe("value", value)
    assert TEXT not in f"{described.text}{one_line('value', value)}{Masks().over([value])}"
    found: dict[str, dict[str, str]] = {}
    Collector(found, 60).read("value", value)
    assert (TEXT in found) is (name not in WITHOUT_CELLS)
    if name != "PIL.Image":
        assert described.masked == ("`password` in `value`",)
        assert describe("api_key", value).text == MASK


@each(FRAMES, COLUMNS, OTHERS)
def test_its_digest_is_that_of_its_cells(name):
    value, same, other = (ALL[name]({"town": [cell]}) for cell in (TEXT, TEXT, "x"))
    try:
        assert digest_of(value) == digest_of(same) != digest_of(other)
    except NotCanonicalError:
        assert name in WITHOUT_DIGEST


@each(FRAMES)
def test_a_table_has_facts_about_its_columns_and_all_rows_if_they_are_few(name):
    value = FRAMES[name](DATA)
    described = describe("value", value)
    n, word, day, none = facts_of(value)
    assert n.endswith("1 null, from 1 to 2")
    assert word.endswith("0 nulls, 2 distinct; most common: b (2)")
    if name != "pandas.DataFrame":  # there, dates are objects
        assert day.endswith("2 nulls, from 2026-01-01 to 2026-01-01")
    assert none.endswith("3 nulls")
    rows = described.text.partition("All rows:\n")[2].replace(".0", "")
    assert rows == "n,word,day,none\n1,b,2026-01-01,\n2,a,,\n,b,,\n"
    assert described.tables == ("`value` (3 of 3 rows)",)
    assert one_line("value", value) == "columns n, word, day, none"
    assert size(value) == "3 rows x 4 columns"
    assert column_names(value) == [*DATA]


@each(FRAMES)
def test_both_ends_of_a_larger_table_are_sent(name):
    described = describe("value", FRAMES[name](MANY))
    assert "First rows:\nn,word\n0,a\n1,b\n2,a\n3,b\n4,a\n\nLast rows:\nn,word\n4995,b" in described.text
    assert described.text.endswith("4999,b\n")
    assert described.tables == ("`value` (10 of 5,000 rows, and a summary)",)


@each(FRAMES)
def test_long_tables_are_counted_at_their_beginning(name, monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 3)
    word, n = facts_of(FRAMES[name]({"word": ["a", "a", "b", "c"], "n": [1, 2, 3, 40]}))
    assert word.endswith(", 0 nulls, 2 distinct in the first 3 rows; most common: a (2)")
    assert n.endswith("from 1 to 40")


@each(LAZY)
def test_a_lazy_table_has_columns_and_types_and_is_not_computed(name):
    value = LAZY[name]({"n": [1], "town": [TEXT]})
    assert ", not computed\n- n: Int64\n- town: String" in text_of(value)
    assert "\n- n: Int64\n- town: String" in schema_text_of(value)
    assert one_line("value", value) == "columns n, town"
    assert size(value) == ""


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


def test_a_table_is_whole_up_to_the_limit():
    for length, is_whole in ((SMALL - len("text\n") - 1, True), (SMALL - len("text\n"), False)):
        text = describe("table", pd.DataFrame({"text": ["x" * length]})).text
        assert ("All rows:" in text) is is_whole


def test_an_index_is_sent_as_columns():
    index = pd.MultiIndex.from_product([["Lyon", "Nantes"], [2025, 2026]], names=["town", None])
    text = describe("table", pd.DataFrame({"sold": range(4)}, index=index)).text
    assert "- town: str, 0 nulls, 2 distinct" in text
    assert "- index: int64, 0 nulls, from 2025 to 2026" in text
    assert "town,index,sold\nLyon,2025,0\n" in text


def test_columns_may_have_the_same_name_or_several_levels():
    doubled = describe("table", pd.DataFrame([["Lyon", 3]], columns=["a", "a"])).text
    assert "- a: str, 0 nulls, 1 distinct\n- a: int64, 0 nulls, from 3 to 3" in doubled
    levels = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    assert "- ('a', 'x'): int64" in describe("table", levels).text


def test_missing_values_do_not_hide_the_range_of_an_array():
    text = describe("grid", np.array([1.0, np.nan, 3.0])).text
    assert text.startswith("ndarray of shape (3,), float64, 1 of 3 values missing, from 1.0 to 3.0, mean 2\n")


def test_a_secret_at_the_cut_of_a_cell_is_masked():
    cell = " " * 190 + f"sk-proj-{'Ab1' * 16}" + " " * SMALL
    assert "Ab1" not in describe("frame", pd.DataFrame({"note": [cell]})).text


def test_a_wide_table_lists_its_first_columns():
    described = describe("table", pd.DataFrame(0, range(3), range(5_000)))
    assert "- 99: int64, 0 nulls, from 0 to 0\n- and 4,900 more columns: 100, 101," in described.text
    assert described.tables == ("`table` (3 of 3 rows and 100 of 5,000 columns, and a summary)",)
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
