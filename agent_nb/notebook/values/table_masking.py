"""Masks the columns and rows of tables that are called like secrets.

A table is recognised by the name of its class. Its library is never imported here: if the value exists, it is loaded.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agent_nb._base.secret_names import are_secret_names, is_secret_name
from agent_nb._base.secrets import MASK

_PLAIN_KINDS = frozenset("biufcmM")
"""NumPy's codes for booleans, numbers and dates. Columns of these have no text to mask."""
PLAIN_CELLS = frozenset({"string", "integer", "floating", "boolean", "decimal", "date", "datetime", "empty"})
"""What pandas calls columns of objects that have nothing inside them."""
_SEARCHED = 5_000
"""Cells at each end of a long column that are searched for secrets inside them."""

MaskCell = Callable[[Any], Any]
"""Returns a cell itself if there is nothing to mask in it."""
MaskedTable = tuple[Any, list[str]]
"""The table itself or a masked copy, and the names that were masked."""


def is_of(value: Any, module: str, name: str) -> bool:
    """Whether the value's class is `module.name`, without importing the module."""
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0] == module for kind in type(value).__mro__
    )


def mask_table(value: Any, mask_cell: MaskCell) -> MaskedTable:
    """A masked copy of a table and the names that were masked; the table itself if nothing was.

    A table that we do not know is reduced to its column names.
    """
    if function := _known(value):
        return function(value, mask_cell)
    columns = _column_names(value)
    listed = ", ".join(map(str, columns))
    text = f"{type(value).__name__} with the columns {listed}; its values are masked"
    return text, [str(name) for name in columns if is_secret_name(name)]


def is_table(value: Any) -> bool:
    """Whether it is a table of a library that we know, or has a column that is called like a secret."""
    return _known(value) is not None or any(map(is_secret_name, _column_names(value)))


def table_holds_text(value: Any) -> bool | None:
    """Whether a table or column has text to mask; None if the value is none that we know."""
    if is_of(value, "pandas", "DataFrame"):
        return any(map(_pandas_holds_text, value.dtypes))
    if is_of(value, "polars", "DataFrame"):
        return any(map(_polars_holds_text, value.dtypes))
    if is_of(value, "polars", "Series"):
        return _polars_holds_text(value.dtype)
    if any(is_of(value, module, name) for module, name in (*_COLUMNS, ("numpy", "generic"))):
        return _pandas_holds_text(value.dtype)
    return None


def _known(value: Any) -> Callable[[Any, MaskCell], MaskedTable] | None:
    kinds = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(value).__mro__)
    return next((_KNOWN_TABLES[kind] for kind in kinds if kind in _KNOWN_TABLES), None)


def _masked_cells(cells: list[Any], mask_cell: MaskCell) -> list[Any] | None:
    """The cells, with secrets inside dicts and objects masked; None if there is nothing to mask.

    Of many, those at both ends are searched: no more are ever shown. If there is a secret, the others are masked.
    """
    rest = max(0, len(cells) - 2 * _SEARCHED)
    ends = [*cells[:_SEARCHED], *cells[_SEARCHED + rest :]] if rest else cells
    masked = [mask_cell(cell) for cell in ends]
    if all(after is before for after, before in zip(masked, ends, strict=True)):
        return None
    return [*masked[:_SEARCHED], *[MASK] * rest, *masked[_SEARCHED:]]


def _pandas_frame(value: Any, mask_cell: MaskCell) -> MaskedTable:
    table = value.reset_index() if any(map(is_secret_name, value.index.names)) else value
    masked, names = table.copy(deep=False), []
    changed = table is not value
    for place, label in enumerate(table.columns):
        cells, found = _pandas_cells(label, table.iloc[:, place], mask_cell)
        if cells is not None:
            masked.isetitem(place, cells)
            names += found
            changed = True
    # A transposed frame has column names as row labels.
    rows = _secret_rows(table.index)
    if any(rows):
        names += [str(label) for label, secret in zip(table.index, rows, strict=True) if secret]
        masked = masked.astype(object)
        masked.iloc[[place for place, secret in enumerate(rows) if secret]] = MASK
    return (masked if changed or any(rows) else value), names


def _pandas_cells(label: Any, column: Any, mask_cell: MaskCell) -> tuple[list[Any] | None, list[str]]:
    """The masked cells of a column, None if they stay, and the names that were masked."""
    arrow = getattr(column.dtype, "pyarrow_dtype", None)
    fields = [field for field in _nested_fields(arrow) if is_secret_name(field)]
    if fields or (is_secret_name(label) and _pandas_holds_text(column.dtype)):
        return [MASK] * len(column), fields or [str(label)]
    if str(column.dtype) != "object" or inferred_kind(column) in PLAIN_CELLS:
        return None, []
    return _masked_cells(column.tolist(), mask_cell), []


def inferred_kind(column: Any) -> str:
    """What pandas calls the cells of a column of objects."""
    return str(sys.modules["pandas"].api.types.infer_dtype(column))


def _secret_rows(index: Any) -> list[bool]:
    levels = getattr(index, "levels", [index])  # which have each label once
    if not any(_pandas_holds_text(level.dtype) and any(are_secret_names(level.tolist())) for level in levels):
        return []
    return are_secret_names(index.tolist())


def _pandas_series(value: Any, mask_cell: MaskCell) -> MaskedTable:
    frame = value.to_frame()
    masked, names = _pandas_frame(frame, mask_cell)
    if masked is frame:
        return value, []
    column = masked.iloc[:, -1].rename(value.name)
    if len(masked.columns) > 1:  # the index is a column now, because it is called like a secret
        column.index = [MASK] * len(value)
    return column, names


def _pandas_index(value: Any, mask_cell: MaskCell) -> MaskedTable:
    if not _pandas_holds_text(value.dtype):
        return value, []
    frame = value.to_frame(index=False)
    masked, names = _pandas_frame(frame, mask_cell)
    if masked is frame:
        return value, []
    pandas = sys.modules["pandas"]
    if value.nlevels > 1:
        return pandas.MultiIndex.from_frame(masked, names=value.names), names
    return pandas.Index(masked.iloc[:, 0], name=value.name), names


def _pandas_holds_text(kind: Any) -> bool:
    # Arrow-backed text has the kind "U"; categories, lists and structs have "O".
    return getattr(kind, "kind", "O") not in _PLAIN_KINDS


def _nested_fields(kind: Any) -> list[str]:
    """The field names of pyarrow's structs, at any depth; none for other types."""
    count = getattr(kind, "num_fields", 0)
    fields = [kind.field(number) for number in range(count)]
    return [name for field in fields for name in (field.name, *_nested_fields(field.type))]


def _polars_frame(value: Any, mask_cell: MaskCell) -> MaskedTable:
    polars = sys.modules["polars"]
    names = [column.name for column in value.get_columns() if _is_masked_in_polars(column, mask_cell)]
    return (value.with_columns(polars.lit(MASK).alias(name) for name in names) if names else value), names


def _polars_series(value: Any, mask_cell: MaskCell) -> MaskedTable:
    masked = _is_masked_in_polars(value, mask_cell)
    return (type(value)(value.name, [MASK] * len(value)), [value.name]) if masked else (value, [])


def _is_masked_in_polars(column: Any, mask_cell: MaskCell) -> bool:
    if is_secret_name(column.name) and _polars_holds_text(column.dtype):
        return True
    if str(column.dtype) == "Object":
        return _masked_cells(column.to_list(), mask_cell) is not None
    return any(map(is_secret_name, _polars_fields(column.dtype)))


def _polars_holds_text(kind: Any) -> bool:
    return not (kind.is_numeric() or kind.is_temporal() or str(kind) in ("Boolean", "Null"))


def _polars_fields(kind: Any) -> list[str]:
    inner = getattr(kind, "inner", None)
    if inner is not None:
        return _polars_fields(inner)
    fields: Iterable[Any] = getattr(kind, "fields", ())
    return [name for field in fields for name in (field.name, *_polars_fields(field.dtype))]


def _arrow_table(value: Any, _: MaskCell) -> MaskedTable:
    pyarrow, names = sys.modules["pyarrow"], []
    for place, field in enumerate(value.schema):
        if any(map(is_secret_name, (field.name, *_nested_fields(field.type)))):
            names.append(field.name)
            value = value.set_column(place, field.name, pyarrow.array([MASK] * value.num_rows))
    return value, names


def _arrow_array(value: Any, _: MaskCell) -> MaskedTable:
    names = [name for name in _nested_fields(value.type) if is_secret_name(name)]
    return (f"{type(value).__name__} of {value.type}; its values are masked" if names else value), names


def _array(value: Any, mask_cell: MaskCell) -> MaskedTable:
    """An array that has a secret in a field or inside an object is reduced to its type."""
    names = [name for name in _text_fields(value.dtype) if is_secret_name(name)]
    masked = value.dtype.hasobject and _masked_cells(value.ravel().tolist(), mask_cell) is not None
    if not names and not masked:
        return value, []
    return f"{type(value).__name__} of {value.dtype}; its values are masked", names


def _text_fields(kind: Any) -> Iterator[str]:
    """The names of the fields of a structured array that have text, at any depth."""
    for name in kind.base.names or ():
        if kind.base[name].base.kind not in _PLAIN_KINDS:
            yield name
            yield from _text_fields(kind.base[name])


def _column_names(value: Any) -> list[Any]:
    try:
        if inspect.getattr_static(value, "columns", None) is None:  # a proxy's `__getattr__` has everything
            return []
        lazy = is_of(value, "polars", "LazyFrame")  # which warns of its `columns`
        columns = value.collect_schema().names() if lazy else value.columns
        return list(columns) if isinstance(columns, Iterable) and not isinstance(columns, str | bytes) else []
    except Exception:  # a property of someone else's class
        return []


_COLUMNS = (("pandas", "Series"), ("pandas", "Index"), ("numpy", "ndarray"))
_KNOWN_TABLES = {
    ("pandas", "DataFrame"): _pandas_frame,
    ("pandas", "Series"): _pandas_series,
    ("pandas", "Index"): _pandas_index,
    ("polars", "DataFrame"): _polars_frame,
    ("polars", "Series"): _polars_series,
    ("pyarrow", "Table"): _arrow_table,
    ("pyarrow", "RecordBatch"): _arrow_table,
    ("pyarrow", "Array"): _arrow_array,
    ("pyarrow", "ChunkedArray"): _arrow_array,
    ("pyarrow", "Scalar"): _arrow_array,
    ("numpy", "ndarray"): _array,
    ("numpy", "void"): _array,
}
