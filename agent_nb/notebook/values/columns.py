"""Facts about the columns of a table: type, missing values, range or most common values.

Libraries are recognised, never imported: if the value exists, its library is loaded.
"""

import importlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from agent_nb._base.dtypes import without_unit
from agent_nb._base.secrets import masked_line
from agent_nb._base.text import shortened
from agent_nb.notebook.values.table_masking import PLAIN_CELLS, inferred_kind

ROWS = 200_000
"""Rows that are searched for distinct values. Ranges and missing values are those of all rows."""
COMMON = 5
_WIDTH = 40
_TYPE = 200
_SEARCHED = 1_000
"""Characters of a value that are searched for secrets, of which far fewer are shown."""


class Facts(NamedTuple):
    """What there is to say about a column."""

    dtype: str
    nulls: int
    low: Any = None
    high: Any = None
    """The range of numbers and dates; None for others."""
    counts: tuple[tuple[Any, int], ...] | None = None
    """Distinct values and how often they occur, most common first; None if they were not counted."""
    rows: int = 0

    def __str__(self) -> str:
        parts = [self.dtype, f"{self.nulls:,} null{'' if self.nulls == 1 else 's'}"]
        if self.low is not None:
            parts.append(f"from {_short(self.low)} to {_short(self.high)}")
        if self.counts is None:
            return ", ".join(parts)
        where = f" in the first {ROWS:,} rows" if self.rows > ROWS else ""
        parts.append(f"{len(self.counts):,} distinct{where}")
        common = [f"{_short(value)} ({count:,})" for value, count in self.counts[:COMMON] if count > 1]
        return ", ".join(parts) + (f"; most common: {', '.join(common)}" if common else "")


def fact_line(read: Callable[[Any], Facts], column: Any) -> str:
    """The facts of a column, or why they cannot be read."""
    try:
        return str(read(column))
    except Exception as error:  # cells can be anything, also without an order or with a failing `repr`
        return f"(not readable: {type(error).__name__})"


def _short(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else masked_line(str(value)[:_SEARCHED])
    return shortened(text, _WIDTH)


def _sorted(counts: Iterable[tuple[Any, int]]) -> tuple[tuple[Any, int], ...]:
    """Most common first. Equal counts are in the order of their text, so that the same table reads the same."""
    return tuple(sorted(counts, key=lambda pair: (-pair[1], str(pair[0]))))


def dtype_name(column: Any) -> str:
    """The type of a column. Its name is part of the prompt, so all versions of pandas must have the same."""
    name = str(column.dtype)
    return "str" if name == "object" and inferred_kind(column) == "string" else without_unit(name)


def pandas_facts(column: Any) -> Facts:
    dtype, nulls = dtype_name(column), int(column.isna().sum())
    if nulls == len(column):
        return Facts(dtype, nulls)
    if getattr(column.dtype, "kind", "O") in "iufmM":
        return Facts(dtype, nulls, column.min(), column.max())
    if str(column.dtype) == "object" and inferred_kind(column) not in PLAIN_CELLS:
        return Facts(dtype, nulls)  # objects, whose own code would have to compare and print them
    counts = column.head(ROWS).value_counts()
    return Facts(dtype, nulls, counts=_sorted(counts[counts > 0].items()), rows=len(column))


def polars_facts(column: Any) -> Facts:
    dtype, nulls = shortened(str(column.dtype), _TYPE), column.null_count()
    if nulls == len(column):
        return Facts(dtype, nulls)
    if column.dtype.is_numeric() or column.dtype.is_temporal():
        return Facts(dtype, nulls, column.min(), column.max())
    if column.dtype.is_nested():
        return Facts(dtype, nulls)
    counts = column.head(ROWS).drop_nulls().value_counts().rows()
    return Facts(dtype, nulls, counts=_sorted(counts), rows=len(column))


def arrow_facts(column: Any) -> Facts:
    compute = importlib.import_module("pyarrow.compute")
    types = importlib.import_module("pyarrow.types")
    kind, nulls = column.type, column.null_count
    dtype = shortened(str(kind), _TYPE)
    if nulls == len(column) or types.is_nested(kind):
        return Facts(dtype, nulls)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_temporal(kind):
        ends = compute.min_max(column).as_py()
        return Facts(dtype, nulls, ends["min"], ends["max"])
    counts = compute.value_counts(column.slice(0, ROWS).drop_null()).to_pylist()
    pairs = ((pair["values"], pair["counts"]) for pair in counts)
    return Facts(dtype, nulls, counts=_sorted(pairs), rows=len(column))
