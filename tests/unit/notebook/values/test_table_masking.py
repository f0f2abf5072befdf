"""Secret columns, rows and fields of tables are masked, whichever library made the table."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from agent_nb._base.secrets import MASK
from agent_nb.notebook.values.describe_values import describe


def tables() -> dict[str, Any]:
    """Tables of each library with a secret column, row, field or label."""
    columns = {"user": ["ann", "bob"], "password": ["hush-1", "hush-2"], "n": [1, 2]}
    nested = {"user": ["ann"], "login": [{"password": "hush-1", "n": 1}]}
    frame, arrow = pd.DataFrame(columns), pa.table(columns)
    return {
        "pandas": frame,
        "pandas, row": frame.iloc[0],
        "pandas, turned": frame.T,
        "pandas, column": frame["password"],
        "pandas, values": frame["password"].to_numpy(),
        "pandas, index": frame.set_index("password").index,
        "pandas, series by label": frame.set_index("password")["n"],
        "pandas, category": frame.astype({"password": "category"}),
        "pandas, nested": pd.DataFrame(nested),
        "pandas on arrow": frame.convert_dtypes(dtype_backend="pyarrow"),
        "pandas on arrow, column": frame.convert_dtypes(dtype_backend="pyarrow")["password"],
        "pandas on arrow, struct": pa.table(nested).to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.DataFrame(columns),
        "polars, column": pl.DataFrame(columns)["password"],
        "polars, struct": pl.DataFrame(nested),
        "polars, list of structs": pl.DataFrame({"logins": [[{"password": "hush-1"}]]}),
        "arrow": arrow,
        "arrow, struct": pa.table(nested),
        "pandas, pairs": pd.DataFrame({"name": ["password", "host"], "n": [1, 2], "value": ["hush-1", "x"]}),
        "polars, pairs": pl.DataFrame({"Key": ["password"], "Value": ["hush-1"]}),
        "arrow, pairs": pa.table({"field": ["password"], "value": ["hush-1"]}),
        "numpy, pairs": np.array([["password", "hush-1"]]),
        "numpy, structured": np.array([("ann", "hush-1")], dtype=[("user", "U8"), ("password", "U8")]),
    }


@pytest.mark.parametrize("kind", tables())
def test_secret_columns_are_masked_in_every_library(kind):
    table = tables()[kind]
    name = "password" if kind == "pandas, values" else "table"
    before = repr(table)
    described = describe(name, table)
    assert "hush" not in described.text
    assert MASK in described.text or "its values are masked" in described.text
    names = ("password", "login", "alue", "`1`")
    assert any(name in masked for masked in described.masked for name in names)
    assert repr(table) == before
    assert "hush" not in describe("inside", {"of": [{name: table}], "password": table}).text


class ForeignTable:
    """A table of a library we know nothing about."""

    columns = ("user", "password")

    def __repr__(self) -> str:
        return "user password\nann hush-1"


def test_an_unknown_table_with_a_secret_column_shows_only_its_columns():
    described = describe("table", ForeignTable())
    assert "hush" not in described.text
    assert "user, password" in described.text


@pytest.mark.parametrize(
    "value", [{"password": ["hush-1"]}, {"api_keys": ("hush-1", "hush-2")}, {"credentials": {"a": "hush-1"}}]
)
def test_text_in_containers_with_a_secret_name_is_masked(value):
    assert "hush" not in describe("config", value).text


def test_numbers_and_dates_with_a_secret_name_are_shown():
    frame = pd.DataFrame({"token": [17, 18], "secret": pd.to_datetime(["2026-01-02", "2026-01-03"])})
    assert "17,2026-01-02" in describe("frame", frame).text
    assert describe("frame", pl.from_pandas(frame)).masked == ()
