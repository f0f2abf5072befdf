"""Facts about the columns of a table: type, missing values, range or most common values.

Libraries are recognised, never imported: if the value exists, its library is loaded.
"""

import importlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from agent_nb._base.secrets import mask, masked_line
from agent_nb._base.text import shortened
from agent_nb.notebook.values.describe_values import dtype_name
from agent_nb.notebook.values.table_masking import is_of
from agent_nb.notebook.values.value_masking import Masks, is_secret

MOST_COLUMNS = 100
ROWS = 1_000_000
"""Rows that are searched for distinct values. Ranges and missing values are those of all rows."""
COMMON = 5
_WIDTH = 40


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


def column_facts(name: str, value: Any) -> str:
    """A line for each column of a table; empty for other values, and for a variable that is called like a secret."""
    if not any(is_of(value, *kind) for kind in _TABLES) or is_secret(name, value):
        return ""
    table = Masks().over(value)
    columns, read = next((_TABLES[kind] for kind in _TABLES if is_of(table, *kind)), (lambda table: (), str))
    labelled = list(columns(table))
    lines = [f"- {label}: {_line(read, column)}" for label, column in labelled[:MOST_COLUMNS]]
    if len(labelled) > MOST_COLUMNS:
        lines.append(f"- and {len(labelled) - MOST_COLUMNS:,} more columns")
    return mask("\n".join(["Facts:", *lines])) if lines else ""


def _line(read: Callable[[Any], Any], column: Any) -> str:
    try:
        return str(read(column))
    except Exception as error:  # cells can be anything, also without an order or with a failing `repr`
        return f"(not readable: {type(error).__name__})"


def _short(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else masked_line(str(value))
    return shortened(text, _WIDTH)


def _sorted(counts: Iterable[tuple[Any, int]]) -> tuple[tuple[Any, int], ...]:
    """Most common first. Equal counts are in the order of their text, so that the same table reads the same."""
    return tuple(sorted(counts, key=lambda pair: (-pair[1], str(pair[0]))))


def _pandas(column: Any) -> Facts:
    dtype, nulls = dtype_name(column), int(column.isna().sum())
    if nulls == len(column):
        return Facts(dtype, nulls)
    if getattr(column.dtype, "kind", "O") in "iufmM":
        return Facts(dtype, nulls, column.min(), column.max())
    try:
        counts = column.head(ROWS).value_counts()
    except TypeError:  # lists and dicts cannot be counted
        return Facts(dtype, nulls)
    return Facts(dtype, nulls, counts=_sorted(counts[counts > 0].items()), rows=len(column))


def _polars(column: Any) -> Facts:
    dtype, nulls = str(column.dtype), column.null_count()
    if nulls == len(column):
        return Facts(dtype, nulls)
    if column.dtype.is_numeric() or column.dtype.is_temporal():
        return Facts(dtype, nulls, column.min(), column.max())
    if column.dtype.is_nested():
        return Facts(dtype, nulls)
    counts = column.head(ROWS).drop_nulls().value_counts().rows()
    return Facts(dtype, nulls, counts=_sorted(counts), rows=len(column))


def _arrow(column: Any) -> Facts:
    compute = importlib.import_module("pyarrow.compute")
    types = importlib.import_module("pyarrow.types")
    kind, nulls = column.type, column.null_count
    if nulls == len(column) or types.is_nested(kind):
        return Facts(str(kind), nulls)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_temporal(kind):
        ends = compute.min_max(column).as_py()
        return Facts(str(kind), nulls, ends["min"], ends["max"])
    counts = compute.value_counts(column.slice(0, ROWS).drop_null()).to_pylist()
    pairs = ((pair["values"], pair["counts"]) for pair in counts)
    return Facts(str(kind), nulls, counts=_sorted(pairs), rows=len(column))


def _itself(column: Any) -> Iterable[tuple[str, Any]]:
    return [(str(column.name), column)]


def _array(array: Any) -> Facts:
    present = array[array == array]  # noqa: PLR0124 (NaN is not equal to itself)
    ends = (present.min(), present.max()) if present.size else (None, None)
    return Facts(str(array.dtype), int(array.size - present.size), *ends)


Columns = Callable[[Any], Iterable[tuple[str, Any]]]
_TABLES: dict[tuple[str, str], tuple[Columns, Callable[[Any], Facts]]] = {
    ("pandas", "DataFrame"): (
        lambda table: ((str(name), table.iloc[:, place]) for place, name in enumerate(table.columns)),
        _pandas,
    ),
    ("pandas", "Series"): (_itself, _pandas),
    ("polars", "DataFrame"): (
        lambda table: ((column.name, column) for column in table.get_columns()),
        _polars,
    ),
    ("polars", "Series"): (_itself, _polars),
    ("pyarrow", "Table"): (lambda table: zip(table.column_names, table.columns, strict=True), _arrow),
    # NaN hides the range in what `{{name}}` says.
    ("numpy", "ndarray"): (
        lambda array: [("values", array)] if array.dtype.kind == "f" and array.size else [],
        _array,
    ),
}
"""How the columns of a table are found, with their names, and how one is read."""
