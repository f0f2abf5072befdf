"""Every kind of value is asked the same: what a prompt shows, the line in the list, the schema, and what is masked."""

import numpy as np
import pandas as pd
import PIL.Image
import polars as pl
import pyarrow as pa
import pytest

from agent_nb._base.secrets import MASK
from agent_nb.engine.data_gate import schema_text
from agent_nb.notebook.kernel_tools.variables import WIDTH, one_line
from agent_nb.notebook.values.describe_values import describe
from agent_nb.notebook.values.kinds import KINDS, kind_of
from agent_nb.notebook.values.schema import known_names, schema_of
from agent_nb.notebook.values.value_masking import Masks

TEXT = "lyon17zq"
VALUES = {
    "matplotlib.figure.Figure": lambda label, text: PIL.Image.new("RGB", (4, 4)),
    "pandas.DataFrame": lambda label, text: pd.DataFrame({label: [text]}),
    "pandas.Series": lambda label, text: pd.Series([text], name=label),
    "pandas.RangeIndex": lambda label, text: pd.Index([text], name=label),
    "polars.DataFrame": lambda label, text: pl.DataFrame({label: [text]}),
    "polars.Series": lambda label, text: pl.Series(label, [text]),
    "polars.LazyFrame": lambda label, text: pl.DataFrame({label: [text]}).lazy(),
    "pyarrow.Table": lambda label, text: pa.table({label: [text]}),
    "pyarrow.Array": lambda label, text: pa.array([{label: text}]),
    "pyarrow.Scalar": lambda label, text: pa.scalar({label: text}),
    "numpy.ndarray": lambda label, text: np.array([(text,)], dtype=[(label, "U20")]),
    "numpy.generic": lambda label, text: np.array([(text,)], dtype=[(label, "U20")])[0],
}
"""A value of each kind, by the first class of the kind, that has the text under the label if it can hold text."""
WITHOUT_TEXT = {"matplotlib.figure.Figure", "polars.LazyFrame"}
"""Kinds of which a prompt shows no text."""
WITHOUT_LABELS = {"matplotlib.figure.Figure"}
"""Kinds in which nothing has a name."""
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.classes[0])


def value_of(kind, label="town"):
    return VALUES[kind.classes[0]](label, TEXT)


@each_kind
def test_a_prompt_shows_it(kind):
    assert kind_of(value_of(kind)) is kind
    described = describe("value", value_of(kind))
    assert (TEXT in described.text) is (kind.classes[0] not in WITHOUT_TEXT)
    assert described.masked == ()


@each_kind
def test_it_has_a_line(kind):
    assert 0 < len(one_line("value", value_of(kind))) <= WIDTH


@each_kind
def test_its_schema_has_no_values(kind):
    schema = schema_text(schema_of(value_of(kind)), known_names({"value": value_of(kind)}))
    assert TEXT not in schema
    assert "held back" not in schema


@each_kind
def test_what_is_called_like_a_secret_is_masked_in_it(kind):
    value = value_of(kind, "password")
    described = describe("value", value)
    assert TEXT not in f"{described.text}{one_line('value', value)}{Masks().over([value])}"
    if kind.classes[0] not in WITHOUT_LABELS:
        assert described.masked == ("`password` in `value`",)
        assert describe("api_key", value).text == MASK
