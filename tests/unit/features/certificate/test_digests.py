"""Digests: equal for equal data in every process, different for all else; data as text, and back."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from agent_nb.features.certificate.data import NotExactError, Stored, decoded, encoded
from agent_nb.features.certificate.digests import NotCanonicalError, digest_of

MAKE = """
import datetime, json, numpy as np, pandas as pd, polars as pl, pyarrow as pa
VALUES = {
    "table": pd.DataFrame({"day": pd.date_range("2026-01-01", periods=3), "n": [1, 2, 3], "w": ["a", "b,", ""]}),
    "missing": pd.DataFrame({"x": [1.5, None, 0.1 + 0.2], "w": ["a", None, "c"]}),
    "filtered": pd.DataFrame({"n": range(6)}).query("n > 2"),
    "slice": pd.DataFrame({"n": range(6)}).iloc[2:],
    "indexed": pd.DataFrame({"k": ["a", "b"], "j": [1, 2], "n": [3.5, 4.5]}).set_index(["k", "j"]),
    "series": pd.Series([1.5, 2.5], name="x"),
    "category": pd.Series(["a", "b", "a"], name="c", dtype="category"),
    "polars": pl.DataFrame({"a": [1, 2], "b": ["x", None]}),
    "array": np.arange(6.0).reshape(2, 3),
    "nested": {"a": (1, 2.5, None), "b": [True, {"c", "d"}]},
    "text": "ümlaut",
    "arrow": pa.table({"a": [1, 2]}),
    "date": datetime.date(2026, 1, 1),
    "objects": pd.Series([1, "1", (1, 2), datetime.date(2026, 1, 1)]),
}
"""
scope: dict = {}
exec(MAKE, scope)
VALUES = scope["VALUES"]
WITHOUT_TEXT = ("arrow", "date", "objects")
TABLE = VALUES["table"]


def test_they_are_the_same_in_another_process():
    code = (
        f"{MAKE}\nfrom agent_nb.features.certificate.digests import digest_of\n"
        "print(json.dumps({name: digest_of(value, 'salt') for name, value in VALUES.items()}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {name: digest_of(value, "salt") for name, value in VALUES.items()}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, 1.0),
        (1, True),
        ([1], (1,)),
        ({1: 2}, {"1": 2}),
        ("a", b"a"),
        ([[1], 2], [1, [2]]),
        (np.array([1, 2]), np.array([1.0, 2.0])),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (TABLE, TABLE[["n", "day", "w"]]),
        (TABLE, TABLE.rename(columns={"n": "m"})),
        (TABLE, TABLE.iloc[::-1]),
        (TABLE, TABLE.astype({"n": "int32"})),
        (TABLE, TABLE.set_index("n", drop=False)),
        (pd.Series(["ab", "c"]), pd.Series(["a", "bc"])),
        (pd.Series([1, "1"]), pd.Series(["1", 1])),
        (pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})),
    ],
)
def test_what_differs_has_another_digest(first, second):
    assert digest_of(first) != digest_of(second)
    assert digest_of(first) != digest_of(first, "salt")


@pytest.mark.parametrize("value", [object(), [object()], lambda: 1, iter([1])])
def test_what_has_no_order_is_refused(value):
    with pytest.raises(NotCanonicalError):
        digest_of(value)


@pytest.mark.parametrize("name", [name for name in VALUES if name not in WITHOUT_TEXT])
def test_text_gives_the_same_value_again(name):
    stored = encoded(name, VALUES[name])
    assert digest_of(decoded(stored)) == digest_of(VALUES[name])


@pytest.mark.parametrize("value", [*(VALUES[name] for name in WITHOUT_TEXT), float("nan"), object()])
def test_what_a_text_would_change_is_refused(value):
    with pytest.raises(NotExactError):
        encoded("value", value)


@pytest.mark.parametrize(
    "stored",
    [
        Stored(name="a", form="literal", text="__import__('os').system('true')"),
        Stored(name="a", form="literal", text="(" * 100_000),
        Stored(name="a", form="array", text="[1]", dtypes=(("", "<U999999999"),)),
        Stored(name="a", form="csv", text="a\n1", kind="pandas.DataFrame", dtypes=(("a", "Sparse[int]"),)),
        Stored(name="a", form="csv", text="a\n1", kind="polars.DataFrame", dtypes=(("a", "Config"),)),
    ],
)
def test_hostile_data_are_refused_and_run_nothing(stored):
    with pytest.raises((ValueError, SyntaxError, MemoryError, RecursionError)):
        decoded(stored)
