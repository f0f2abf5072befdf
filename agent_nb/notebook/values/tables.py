"""Tables and columns of any library, as the model sees them and with secrets masked.

A prompt shows the facts of each column, and all rows of a small table or both ends of a larger one. narwhals finds the
facts. It refuses columns of the same name, batches, arrays and an index, and cannot see the fields of a map, so tables
of pandas, polars and Arrow are taken apart here. A library that nothing here names is read by narwhals alone.
"""

import csv
import io
import itertools
import math
import re
import reprlib
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from agent_nb._base.secrets import (
    MASK,
    are_secret_names,
    is_pair_label,
    is_secret_name,
    short_line,
    shortened,
)
from agent_nb.core.messages import Image
from agent_nb.notebook.values.classes import class_of, counted

SMALL = 2_000
"""Maximum characters of rows for a table to be sent whole."""
ENDS = 5
ITEMS = 8
"""Items of a column or a container that a one-line summary reads."""
MOST_COLUMNS = 100
ROWS = 200_000
"""Rows searched for distinct values. Ranges and missing values cover all rows."""
COMMON = 5
_CELL = 200
"""Maximum characters per cell of a larger table."""
_BORDER = 500
"""Extra characters searched beyond that, so that no secret is split by truncation."""
_NAMES = 1_000
_WIDTH = 40
_SEARCHED = 1_000
"""Characters of a value searched for secrets; far fewer are shown."""
_NESTED = 5_000
"""Cells searched for nested secrets at each end of a long column."""
_UNIT = re.compile(r"(?<=64)\[(?:s|ms|us|ns)(?:, (?=.)|(?=\]))")
PLAIN_KINDS = frozenset("biufcmM")
"""NumPy's kind codes for booleans, numbers and dates, which contain no text to mask."""
_PLAIN_CELLS = frozenset({"string", "integer", "floating", "boolean", "decimal", "date", "datetime", "empty"})
"""pandas' inferred kinds of object columns without nested values."""

Mask = Callable[[Any], Any]
"""Returns the same object if there is nothing to mask."""
NoteMasked = Callable[[Any, Any], None]
"""Called with the name and the content of everything that is masked."""
Labelled = list[tuple[Any, Any]]
"""Labels with columns or with types."""

brief = reprlib.Repr()
brief.maxlevel, brief.maxstring = 3, 40
brief.maxlist = brief.maxtuple = brief.maxset = brief.maxfrozenset = brief.maxdeque = brief.maxdict = ITEMS


class TableText(NamedTuple):
    text: str
    shown: str = ""
    """The included part of a table, for the user: `24 of 24 rows`."""
    images: tuple[Image, ...] = ()
    head: str = ""
    """The first rows of a table."""


# Reading


def columns_of(value: Any) -> Labelled:
    """The columns. The levels of a pandas index come first, without one that only counts the rows."""
    match class_of(value):
        case "pandas.DataFrame":
            return [*_levels(value.index), *_without_index(value)]
        case "pandas.Series":
            return [*_levels(value.index), ("values" if value.name is None else value.name, value)]
        case "pandas.RangeIndex" | "pandas.Index":
            return _levels(value, always=True)
        case "polars.Series":
            return [(value.name or "values", value)]
        case "pyarrow.Array" | "pyarrow.ChunkedArray":
            return [("values", value)]
    return _without_index(value)


def _without_index(value: Any) -> Labelled:
    match class_of(value):
        case "pandas.DataFrame":
            return [(label, value.iloc[:, place]) for place, label in enumerate(value.columns)]
        case "pyarrow.Table" | "pyarrow.RecordBatch":
            return list(zip(value.schema.names, value.columns, strict=True))
    return [(column.name, column.to_native()) for column in _narwhal(value).iter_columns()]


def _levels(index: Any, *, always: bool = False) -> Labelled:
    if class_of(index) == "pandas.RangeIndex" and not always:
        return []
    names = ("index" if name is None else name for name in index.names)
    return [(name, index.get_level_values(place)) for place, name in enumerate(names)]


def types_of(value: Any) -> Labelled:
    """The labels and types of the columns of a table, which is not computed."""
    match class_of(value):
        case "pandas.DataFrame":
            levels = ((label, level.dtype) for label, level in _levels(value.index))
            return [*levels, *zip(value.columns, value.dtypes, strict=True)]
        case "pyarrow.Table" | "pyarrow.RecordBatch":
            return list(zip(value.schema.names, value.schema.types, strict=True))
        case "polars.DataFrame" | "polars.LazyFrame":
            return list(value.collect_schema().items())
    return list(_narwhal(value).collect_schema().items())


def type_of(column: Any) -> Any:
    return column.type if class_of(column).startswith("pyarrow.") else column.dtype


def _narwhal(value: Any) -> Any:
    import narwhals  # which takes 0.1 seconds

    match class_of(value):
        case "pandas.RangeIndex" | "pandas.Index":
            value = value.to_series()
        case "pyarrow.Array":
            value = sys.modules["pyarrow"].chunked_array([value])
    return narwhals.from_native(value, allow_series=True)


def _cells(column: Any, start: int, stop: int) -> list[Any]:
    part = getattr(column, "iloc", column)[start:stop]
    methods = (getattr(part, name, None) for name in ("tolist", "to_list", "to_pylist"))
    cells: list[Any] = next(filter(None, methods))()
    return cells


def is_text(dtype: Any) -> bool:
    """Whether cells of this type can contain text to mask."""
    if class_of(dtype) == "polars.DataType":
        return not (dtype.is_numeric() or dtype.is_temporal() or str(dtype) in ("Boolean", "Null"))
    # Arrow-backed text in pandas has the kind "U"; categories, lists and structs have "O".
    return getattr(dtype, "kind", "O") not in PLAIN_KINDS


def _fields(dtype: Any) -> list[str]:
    """The names of the fields in a type of polars or Arrow, also if pandas has wrapped it."""
    dtype = getattr(dtype, "pyarrow_dtype", dtype)
    if class_of(dtype) not in ("polars.DataType", "pyarrow.DataType"):
        return []
    if (inner := getattr(dtype, "inner", None)) is not None:
        return _fields(inner)
    if count := getattr(dtype, "num_fields", 0):
        fields = [(dtype.field(place).name, dtype.field(place).type) for place in range(count)]
    else:
        fields = [(field.name, field.dtype) for field in getattr(dtype, "fields", ())]
    return [name for label, kind in fields for name in (label, *_fields(kind))]


def _has_objects(column: Any) -> bool:
    """Whether the cells are Python objects other than plain values."""
    if str(type_of(column)).lower() != "object":
        return False
    return not class_of(column).startswith("pandas.") or _inferred(column) not in _PLAIN_CELLS


def _inferred(column: Any) -> str:
    return str(sys.modules["pandas"].api.types.infer_dtype(column))


# Describing


def describe_table(value: Any, name: str) -> TableText:
    rows, width = value.shape
    heading = f"{_kind(value)} with {counted(rows, 'row')} and {counted(width, 'column')}"
    return _described(heading, rows, columns_of(value))


def describe_lazy(value: Any, name: str) -> TableText:
    types = [f"- {label}: {dtype}" for label, dtype in types_of(value)]
    return TableText("\n".join([f"{_kind(value)}, not computed", *types]), "its columns and their types")


def describe_column(value: Any, name: str) -> TableText:
    rows, kind = len(value), class_of(value)
    label = f" {value.name!r}" if kind.endswith("Series") else ""
    heading = f"{_kind(value) if label else _library(kind) + type(value).__name__}{label} of {rows:,} "
    dtype = "" if kind.endswith("Index") else f"{_dtype_name(value)} "
    return _described(f"{heading}{dtype}value{'' if rows == 1 else 's'}", rows, columns_of(value))


def names_line(labels: Iterable[Any]) -> str:
    names = [str(label) for label in itertools.islice(labels, 2 * ITEMS)]
    return f"columns {', '.join(names)}" if names else "no columns"


def _kind(value: Any) -> str:
    kind = class_of(value)
    return f"{_library(kind)}{kind.rpartition('.')[2]}"


def _library(kind: str) -> str:
    library = kind.partition(".")[0]
    return "" if library == "pandas" else f"{library} "


def _described(heading: str, rows: int, all_columns: Labelled) -> TableText:
    labelled = [(shortened(str(label), _CELL), column) for label, column in all_columns]
    columns, others = labelled[:MOST_COLUMNS], labelled[MOST_COLUMNS:]
    lines = [heading, *(f"- {label}: {_fact_line(column)}" for label, column in columns)]
    head = _csv(columns, 0, min(ENDS, rows), _CELL)
    # A row has at least one character and a newline.
    if not others and rows <= SMALL // 2 and len(text := _csv(columns, 0, rows, SMALL)) <= SMALL:
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
        lines += ["Last rows:", _csv(columns, last, rows, _CELL)]
    row_count = first + rows - last
    return TableText(
        "\n".join(lines), f"{row_count:,} of {rows:,} rows{of_columns}, and a summary", head=head
    )


def _fact_line(column: Any) -> str:
    try:
        return ", ".join(_facts(column))
    except Exception as error:  # cells can be anything, such as unorderable or with a failing `repr`
        return f"(not readable: {type(error).__name__})"


def _facts(column: Any) -> Iterator[str]:
    """The type and the missing values; the range of numbers and dates; the most common of other values."""
    series, dtype = _narwhal(column), type_of(column)
    nulls, kind = int(series.null_count()), series.dtype
    yield _dtype_name(column)
    yield counted(nulls, "null")
    if nulls == len(series) or kind.is_nested() or _fields(dtype) or _has_objects(column):
        return  # counting objects would run their own code
    if kind.is_numeric() or kind.is_temporal() or getattr(dtype, "kind", "O") in "iufmM":
        low, high = _ends(series)
        yield f"from {_short(low)} to {_short(high)}"
        return
    first = series.head(ROWS).drop_nulls() if nulls else series.head(ROWS)
    counts = [row for row in first.value_counts().rows() if row[1] > 0]
    counts.sort(key=lambda row: (-row[1], str(row[0])))  # by text, so that the order is always the same
    where = f" in the first {ROWS:,} rows" if len(series) > ROWS else ""
    common = ", ".join(f"{_short(value)} ({count:,})" for value, count in counts[:COMMON] if count > 1)
    yield f"{len(counts):,} distinct{where}{f'; most common: {common}' if common else ''}"


def _ends(series: Any) -> Iterable[Any]:
    column = series.to_native()
    if class_of(column) == "pyarrow.ChunkedArray":  # narwhals would read it twice
        ends: Iterable[Any] = sys.modules["pyarrow.compute"].min_max(column).as_py().values()
        return ends
    return series.min(), series.max()


def _dtype_name(column: Any) -> str:
    """The name of a column's type. It is part of the prompt, so it must be the same in all pandas versions."""
    name = str(type_of(column))
    if not class_of(column).startswith("pandas."):
        return shortened(name, _CELL)
    if name == "object" and _inferred(column) == "string":
        return "str"
    return _UNIT.sub("[", name).replace("64[]", "64")  # pandas 3 uses other units


def _short(value: Any) -> str:
    return short_line(f"{value:.6g}" if isinstance(value, float) else str(value)[:_SEARCHED], _WIDTH)


def _csv(columns: Labelled, start: int, stop: int, width: int) -> str:
    cells = [[_cell(cell, width) for cell in _cells(column, start, stop)] for _, column in columns]
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
    return text if len(text) <= width else shortened(text[: width + _BORDER], width)


# Masking


def mask_table(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    is_pandas = class_of(value) == "pandas.DataFrame"
    # A secret level of the index becomes a column.
    is_reset = is_pandas and any(map(is_secret_name, value.index.names))
    table = value.reset_index() if is_reset else value
    columns = _without_index(table)
    masked = masked_pairs(columns, note_masked)
    for place, (label, column) in enumerate(columns):
        if (cells := _masked_column(label, column, mask, note_masked)) is not None:
            masked[place] = cells
    # A transposed frame has column names as row labels.
    rows = _secret_rows(table.index) if is_pandas else []
    if rows:
        for label in table.index[rows].unique():
            note_masked(label, table.iloc[rows])
    if masked or rows:
        return _with_cells(table, masked, rows)
    return table


def _with_cells(table: Any, masked: dict[int, list[Any]], rows: list[int]) -> Any:
    """A copy of the table with these cells, by the position of the column, and with these rows masked."""
    match class_of(table):
        case "pandas.DataFrame":
            table = table.copy(deep=False)
            for place, cells in masked.items():
                table.isetitem(place, cells)
            if rows:
                table = table.astype(object)
                table.iloc[rows] = MASK
            return table
        case "polars.DataFrame":
            series, names = sys.modules["polars"].Series, table.columns
            # A list without texts would have another type.
            return table.with_columns(
                series(names[place], cells or [MASK]).head(len(cells)) for place, cells in masked.items()
            )
        case "pyarrow.Table" | "pyarrow.RecordBatch":
            array, names = sys.modules["pyarrow"].array, table.schema.names
            for place, cells in masked.items():
                table = table.set_column(place, names[place], array(cells))
            return table
    return columns_only(table, (label for label, _ in types_of(table)))


def mask_lazy(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    labels = [label for label, _ in types_of(value)]
    names = [label for label in labels if is_secret_name(label)]
    for name in names:
        note_masked(name, None)
    return columns_only(value, labels) if names else value


def mask_series(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    if class_of(value) == "polars.Series":
        cells = _masked_column(value.name, value, mask, note_masked)
        return value if cells is None else type(value)(value.name, cells)
    frame = value.to_frame()
    masked = mask_table(frame, mask, note_masked)
    if masked is frame:
        return value
    column = masked.iloc[:, -1].rename(value.name)
    if len(masked.columns) > 1:  # the secret index is now a column
        column.index = [MASK] * len(value)
    return column


def mask_array(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    """Reduce an index, or an array or a scalar of Arrow, to its type if it contains secrets."""
    if class_of(value).startswith("pyarrow."):
        names = [name for name in _fields(value.type) if is_secret_name(name)]
        for name in names:
            note_masked(name, value)
        return reduced(value, value.type) if names else value
    if not is_text(value.dtype):
        return value
    frame = value.to_frame(index=False)
    return value if mask_table(frame, mask, note_masked) is frame else reduced(value, value.dtype)


def _masked_column(label: Any, column: Any, mask: Mask, note_masked: NoteMasked) -> list[Any] | None:
    """The masked cells of a column, or None if unchanged."""
    dtype, is_pandas = type_of(column), class_of(column).startswith("pandas.")
    names = [field for field in _fields(dtype) if is_secret_name(field)]
    names = names or ([label] if is_secret_name(label) and is_text(dtype) else [])
    if not names and _has_objects(column):
        cells = masked_cells(_cells(column, 0, len(column)), mask)
        if is_pandas or cells is None:
            return cells
        names = [label]
    for name in names:
        note_masked(name, column)
    return [MASK] * len(column) if names else None


def masked_cells(cells: list[Any], mask: Mask) -> list[Any] | None:
    """The cells with secrets in nested dicts and objects masked; None if there is nothing to mask."""
    middle = max(0, len(cells) - 2 * _NESTED)
    ends = [*cells[:_NESTED], *cells[_NESTED + middle :]] if middle else cells
    masked = [mask(cell) for cell in ends]
    if all(after is before for after, before in zip(masked, ends, strict=True)):
        return None
    return [*masked[:_NESTED], *[MASK] * middle, *masked[_NESTED:]]


def masked_pairs(columns: Labelled, note_masked: NoteMasked) -> dict[int, list[Any]]:
    """The masked cells of columns whose values are named in another column, by the position of the column."""
    holding = [place for place, (label, _) in enumerate(columns) if is_pair_label(label, 1)]
    names = [
        are_secret_names([cell if isinstance(cell, str) else "" for cell in _cells(column, 0, len(column))])
        for label, column in columns
        if holding and is_pair_label(label, 0) and is_text(type_of(column))
    ]
    secrets, masked = [any(row) for row in zip(*names, strict=True)], {}
    for place in holding if any(secrets) else ():
        label, column = columns[place]
        cells = _cells(column, 0, len(column))
        note_masked(label, list(itertools.compress(cells, secrets)))
        masked[place] = [MASK if secret else cell for cell, secret in zip(cells, secrets, strict=True)]
    return masked


def _secret_rows(index: Any) -> list[int]:
    levels = getattr(index, "levels", [index])  # levels contain each label once
    if not any(is_text(level.dtype) and any(are_secret_names(level.tolist())) for level in levels):
        return []
    return [place for place, is_secret in enumerate(are_secret_names(index.tolist())) if is_secret]


def reduced(value: Any, dtype: Any) -> str:
    return f"{type(value).__name__} of {dtype}; its values are masked"


def columns_only(value: Any, labels: Iterable[Any]) -> str:
    return f"{type(value).__name__} with the columns {', '.join(map(str, labels))}; its values are masked"
