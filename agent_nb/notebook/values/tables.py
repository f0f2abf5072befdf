"""Tables as the model sees them: column statistics, and all rows of a small table or both ends of a larger one."""

import csv
import importlib
import io
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from agent_nb._base.secrets import mask, masked_line
from agent_nb._base.text import shortened
from agent_nb.core.messages import Image

_UNIT = re.compile(r"(?<=64)\[(?:s|ms|us|ns)(?:, (?=.)|(?=\]))")
SMALL = 2_000
"""Maximum characters of rows for a table to be sent whole."""
ENDS = 5
MOST_COLUMNS = 100
_CELL = 200
"""Maximum characters per cell of a larger table."""
_BORDER = 500
"""Extra characters searched beyond that, so that no secret is split by truncation."""
_NAMES = 1_000
ROWS = 200_000
"""Rows searched for distinct values. Ranges and missing values cover all rows."""
COMMON = 5
_WIDTH = 40
_SEARCHED = 1_000
"""Characters of a value searched for secrets; far fewer are shown."""

PLAIN_CELLS = frozenset({"string", "integer", "floating", "boolean", "decimal", "date", "datetime", "empty"})
"""pandas' inferred kinds of object columns without nested values."""

Columns = Sequence[tuple[Any, Any]]
"""Label and column; index levels come first."""


class ColumnFacts(NamedTuple):
    dtype: str
    nulls: int
    low: Any = None
    high: Any = None
    """The range of numbers and dates; None for other types."""
    counts: tuple[tuple[Any, int], ...] | None = None
    """Distinct values and how often they occur, most common first; None if they were not counted."""
    rows: int = 0

    def __str__(self) -> str:
        parts = [self.dtype, counted(self.nulls, "null")]
        if self.low is not None:
            parts.append(f"from {_short(self.low)} to {_short(self.high)}")
        if self.counts is None:
            return ", ".join(parts)
        where = f" in the first {ROWS:,} rows" if self.rows > ROWS else ""
        parts.append(f"{len(self.counts):,} distinct{where}")
        common = [f"{_short(value)} ({count:,})" for value, count in self.counts[:COMMON] if count > 1]
        return ", ".join(parts) + (f"; most common: {', '.join(common)}" if common else "")


def fact_line(facts_of: Callable[[Any], ColumnFacts], column: Any) -> str:
    try:
        return str(facts_of(column))
    except Exception as error:  # cells can be anything, such as unorderable or with a failing `repr`
        return f"(not readable: {type(error).__name__})"


def _short(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else masked_line(str(value)[:_SEARCHED])
    return shortened(text, _WIDTH)


def _sorted(counts: Iterable[tuple[Any, int]]) -> tuple[tuple[Any, int], ...]:
    """Most common first. Ties are sorted by text, so that the output is deterministic."""
    return tuple(sorted(counts, key=lambda pair: (-pair[1], str(pair[0]))))


def inferred_kind(column: Any) -> str:
    """pandas' inferred kind of the cells in an object column."""
    return str(sys.modules["pandas"].api.types.infer_dtype(column))


def dtype_name(column: Any) -> str:
    """The dtype name of a column. It is part of the prompt, so it must be the same in all pandas versions."""
    name = str(column.dtype)
    if name == "object" and inferred_kind(column) == "string":
        return "str"
    return _UNIT.sub("[", name).replace("64[]", "64")  # pandas 3 uses other units


def pandas_facts(column: Any) -> ColumnFacts:
    dtype, nulls = dtype_name(column), int(column.isna().sum())
    if nulls == len(column):
        return ColumnFacts(dtype, nulls)
    if getattr(column.dtype, "kind", "O") in "iufmM":
        return ColumnFacts(dtype, nulls, column.min(), column.max())
    if str(column.dtype) == "object" and inferred_kind(column) not in PLAIN_CELLS:
        return ColumnFacts(dtype, nulls)  # objects: counting them would run their own code
    counts = column.head(ROWS).value_counts()
    return ColumnFacts(dtype, nulls, counts=_sorted(counts[counts > 0].items()), rows=len(column))


def polars_facts(column: Any) -> ColumnFacts:
    dtype, nulls = short_text(column.dtype), column.null_count()
    if nulls == len(column):
        return ColumnFacts(dtype, nulls)
    if column.dtype.is_numeric() or column.dtype.is_temporal():
        return ColumnFacts(dtype, nulls, column.min(), column.max())
    if column.dtype.is_nested():
        return ColumnFacts(dtype, nulls)
    counts = column.head(ROWS).drop_nulls().value_counts().rows()
    return ColumnFacts(dtype, nulls, counts=_sorted(counts), rows=len(column))


def arrow_facts(column: Any) -> ColumnFacts:
    compute = importlib.import_module("pyarrow.compute")
    types = importlib.import_module("pyarrow.types")
    kind, nulls = column.type, column.null_count
    dtype = short_text(kind)
    if nulls == len(column) or types.is_nested(kind):
        return ColumnFacts(dtype, nulls)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_temporal(kind):
        ends = compute.min_max(column).as_py()
        return ColumnFacts(dtype, nulls, ends["min"], ends["max"])
    counts = compute.value_counts(column.slice(0, ROWS).drop_null()).to_pylist()
    pairs = ((pair["values"], pair["counts"]) for pair in counts)
    return ColumnFacts(dtype, nulls, counts=_sorted(pairs), rows=len(column))


class Library(NamedTuple):
    facts: Callable[[Any], ColumnFacts]
    cells: Callable[[Any, int, int], Iterable[Any]]
    """The cells of a column in a range of rows."""


PANDAS = Library(pandas_facts, lambda column, start, stop: column.iloc[start:stop].tolist())
POLARS = Library(polars_facts, lambda column, start, stop: column[start:stop].to_list())
ARROW = Library(arrow_facts, lambda column, start, stop: column[start:stop].to_pylist())


class TableText(NamedTuple):
    text: str
    shown: str = ""
    """The included part of a table, for the user: `24 of 24 rows`."""
    images: tuple[Image, ...] = ()
    head: str = ""
    """The first rows of a table."""


def table_text(heading: str, rows: int, all_columns: Columns, library: Library) -> TableText:
    labelled = [(short_text(label), column) for label, column in all_columns]
    columns, others = labelled[:MOST_COLUMNS], labelled[MOST_COLUMNS:]
    lines = [heading, *(f"- {label}: {fact_line(library.facts, column)}" for label, column in columns)]
    csv_text = partial(_csv, columns, library)
    head = csv_text(0, min(ENDS, rows), _CELL)
    # A row has at least one character and a newline.
    if not others and rows <= SMALL // 2 and len(text := csv_text(0, rows, SMALL)) <= SMALL:
        return TableText("\n".join([*lines, "All rows:", text]), f"{rows:,} of {rows:,} rows", head=head)
    of_columns = ""
    if others:
        names = shortened(", ".join(label for label, _ in others), _NAMES)
        lines.append(f"- and {len(others):,} more columns: {names}")
        of_columns = f" and {MOST_COLUMNS:,} of {len(all_columns):,} columns"
    first = min(ENDS, rows)
    last = max(first, rows - ENDS)
    lines += [f"First rows{' of these columns' if others else ''}:", head]
    if last < rows:
        lines += ["Last rows:", csv_text(last, rows, _CELL)]
    row_count = first + rows - last
    return TableText(
        "\n".join(lines), f"{row_count:,} of {rows:,} rows{of_columns}, and a summary", head=head
    )


def array_text(value: Any) -> str:
    facts = f"ndarray of shape {value.shape}, {value.dtype}"
    present = value[value == value] if value.dtype.kind == "f" else value  # noqa: PLR0124 (NaN is not equal to itself)
    if present.size < value.size:
        facts += f", {value.size - present.size:,} of {value.size:,} values missing"
    if present.size and present.dtype.kind in "iuf":
        facts += f", from {present.min()} to {present.max()}, mean {present.mean():.4g}"
    return f"{facts}\n{value!r}"


def _csv(columns: Columns, library: Library, start: int, stop: int, width: int) -> str:
    cells = [[_cell(cell, width) for cell in library.cells(column, start, stop)] for _, column in columns]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([label for label, _ in columns])
    writer.writerows(zip(*cells, strict=True))
    return text.getvalue()


def _cell(cell: Any, width: int) -> str:
    is_nan = isinstance(cell, float) and math.isnan(cell)
    if cell is None or is_nan or type(cell).__name__ in ("NAType", "NaTType"):
        return ""
    try:
        text = str(cell)
    except Exception as error:  # the cell's own code
        return f"(not readable: {type(error).__name__})"
    if isinstance(cell, datetime):
        text = text.removesuffix(" 00:00:00")
    return text if len(text) <= width else shortened(mask(text[: width + _BORDER]), width)


def short_text(value: Any) -> str:
    return shortened(str(value), _CELL)


def frame_heading(kind: str, rows: int, columns: int) -> str:
    return f"{kind} with {counted(rows, 'row')} and {counted(columns, 'column')}"


def column_heading(kind: str, name: Any, rows: int, dtype: str) -> str:
    return f"{kind} {name!r} of {rows:,} {dtype} value{'' if rows == 1 else 's'}"


def counted(count: Any, unit: str) -> str:
    return f"{number(count)} {unit}{'' if count == 1 else 's'}"


def number(side: Any) -> str:
    """One dimension of a shape. Lazy tables have no row count."""
    return f"{side:,}" if isinstance(side, int) else "?"
