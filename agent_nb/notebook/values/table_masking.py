"""Masks the columns and rows of tables that are called like secrets.

A table is recognised by the name of its class. Its library is never imported here: if the value exists, it is loaded.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agent_nb._base.secrets import MASK

_PLAIN_KINDS = frozenset("biufcmM")
"""NumPy's codes for booleans, numbers and dates. Columns of these have no text to hide."""
_SAMPLE = 10
"""Rows that are searched for dicts and objects. Descriptions show fewer rows than this."""

IsSecretName = Callable[[str], bool]
MaskCell = Callable[[Any], Any]


def is_of(value: Any, module: str, name: str) -> bool:
    """Whether the value's class is `module.name`, without importing the module."""
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0] == module for kind in type(value).__mro__
    )


def mask_table(value: Any, is_secret_name: IsSecretName, mask_cell: MaskCell) -> tuple[Any, list[str]]:
    """A masked copy of a table and the names that were masked; the table itself if nothing was."""
    for (module, name), function in _KNOWN_TABLES.items():
        if is_of(value, module, name):
            return function(value, is_secret_name, mask_cell)
    return _unknown_table(value, is_secret_name)


def is_table(value: Any) -> bool:
    if isinstance(value, type):
        return False
    if any(is_of(value, module, name) for module, name in _KNOWN_TABLES):
        return True
    return bool(_column_names(value))


def holds_text(value: Any, depth: int = 4) -> bool:
    """Whether a value with a secret name has text to hide. Numbers and dates have none."""
    if isinstance(value, str | bytes | bytearray):
        return True
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return depth > 0 and any(holds_text(item, depth - 1) for item in value)
    if is_of(value, "numpy", "ndarray"):
        return value.dtype.kind not in _PLAIN_KINDS
    if is_of(value, "polars", "Series"):
        return _polars_holds_text(value.dtype)
    if is_of(value, "pandas", "Series") or is_of(value, "pandas", "Index"):
        return _pandas_holds_text(value.dtype)
    return False


def _pandas_frame(value: Any, is_secret_name: IsSecretName, mask_cell: MaskCell) -> tuple[Any, list[str]]:
    if any(is_secret_name(str(name)) for name in value.index.names):
        value = value.reset_index()
    masked, names = value.copy(deep=False), []
    for place, (name, kind) in enumerate(value.dtypes.items()):
        if is_secret_name(str(name)) and _pandas_holds_text(kind):
            names.append(str(name))
            masked.isetitem(place, [MASK] * len(value))
        elif fields := [field for field in _arrow_fields(kind) if is_secret_name(field)]:
            names += fields
            masked.isetitem(place, [MASK] * len(value))
        elif str(kind) == "object":
            column = value.iloc[:, place]
            if (cells := _masked_cells(column, mask_cell)) is not None:
                masked.isetitem(place, cells)
    # A transposed frame has column names as row labels.
    rows = [is_secret_name(str(label)) for label in value.index[:_SAMPLE]]
    if any(rows):
        names += [str(label) for label, secret in zip(value.index, rows, strict=False) if secret]
        masked = masked.iloc[:_SAMPLE].astype(object)
        masked.loc[rows] = MASK
    return masked, names


def _pandas_series(value: Any, is_secret_name: IsSecretName, mask_cell: MaskCell) -> tuple[Any, list[str]]:
    if is_secret_name(str(value.name)) and _pandas_holds_text(value.dtype):
        return type(value)([MASK] * len(value), index=value.index, name=value.name), [str(value.name)]
    if any(is_secret_name(str(name)) for name in value.index.names):
        masked = value.copy(deep=False)
        masked.index = [MASK] * len(value)
        return masked, [str(name) for name in value.index.names if is_secret_name(str(name))]
    if not _pandas_holds_text(value.dtype):
        return value, []
    # A row of a frame has column names as labels.
    rows = [is_secret_name(str(label)) for label in value.index]
    if any(rows):
        labels = [str(label) for label, secret in zip(value.index, rows, strict=True) if secret]
        return value.astype(object).mask(rows, MASK), labels
    cells = _masked_cells(value, mask_cell) if str(value.dtype) == "object" else None
    return (value if cells is None else type(value)(cells, index=value.index, name=value.name)), []


def _pandas_index(value: Any, is_secret_name: IsSecretName, _: MaskCell) -> tuple[Any, list[str]]:
    secret = [str(name) for name in value.names if is_secret_name(str(name))]
    if not secret or not _pandas_holds_text(value.dtype):
        return value, []
    return type(value)([MASK] * len(value), name=value.name), secret


def _masked_cells(column: Any, mask_cell: MaskCell) -> list[Any] | None:
    """The cells, with secrets inside dicts and objects masked; None if there is nothing to mask."""
    first = column.iloc[:_SAMPLE].tolist()
    masked = [mask_cell(cell) for cell in first]
    if all(after is before for after, before in zip(masked, first, strict=True)):
        return None
    return [mask_cell(cell) for cell in column.tolist()]


def _pandas_holds_text(kind: Any) -> bool:
    # Arrow-backed text has the kind "U"; categories, lists and structs have "O".
    return getattr(kind, "kind", "O") not in _PLAIN_KINDS


def _arrow_fields(kind: Any) -> list[str]:
    """The field names of a struct column, at any depth."""
    arrow = getattr(kind, "pyarrow_dtype", None)
    return _nested_fields(arrow) if arrow is not None else []


def _nested_fields(kind: Any) -> list[str]:
    count = getattr(kind, "num_fields", 0)
    fields = [kind.field(number) for number in range(count)]
    return [name for field in fields for name in (field.name, *_nested_fields(field.type))]


def _polars_frame(value: Any, is_secret_name: IsSecretName, _: MaskCell) -> tuple[Any, list[str]]:
    polars = sys.modules["polars"]
    names = [
        name
        for name, kind in zip(value.columns, value.dtypes, strict=True)
        if (is_secret_name(name) and _polars_holds_text(kind))
        or any(is_secret_name(field) for field in _polars_fields(kind))
    ]
    return (value.with_columns(polars.lit(MASK).alias(name) for name in names) if names else value), names


def _polars_series(value: Any, is_secret_name: IsSecretName, _: MaskCell) -> tuple[Any, list[str]]:
    own = is_secret_name(value.name) and _polars_holds_text(value.dtype)
    if not own and not any(is_secret_name(field) for field in _polars_fields(value.dtype)):
        return value, []
    return type(value)(value.name, [MASK] * len(value)), [value.name]


def _polars_holds_text(kind: Any) -> bool:
    return not (kind.is_numeric() or kind.is_temporal() or str(kind) in ("Boolean", "Null"))


def _polars_fields(kind: Any) -> list[str]:
    inner = getattr(kind, "inner", None)
    if inner is not None:
        return _polars_fields(inner)
    fields: Iterable[Any] = getattr(kind, "fields", ())
    return [name for field in fields for name in (field.name, *_polars_fields(field.dtype))]


def _arrow_table(value: Any, is_secret_name: IsSecretName, _: MaskCell) -> tuple[Any, list[str]]:
    pyarrow, names = sys.modules["pyarrow"], []
    for place, field in enumerate(value.schema):
        if any(is_secret_name(name) for name in (field.name, *_nested_fields(field.type))):
            names.append(field.name)
            value = value.set_column(place, field.name, pyarrow.array([MASK] * value.num_rows))
    return value, names


def _structured_array(value: Any, is_secret_name: IsSecretName, _: MaskCell) -> tuple[Any, list[str]]:
    names = [
        name
        for name in value.dtype.names or ()
        if is_secret_name(name) and value.dtype[name].kind not in _PLAIN_KINDS
    ]
    if not names:
        return value, []
    kinds = [(name, object if name in names else value.dtype[name]) for name in value.dtype.names]
    masked = value.astype(kinds)
    for name in names:
        masked[name] = MASK
    return masked, names


def _unknown_table(value: Any, is_secret_name: IsSecretName) -> tuple[Any, list[str]]:
    """An unknown table with a secret column is reduced to its column names, because its cells cannot be masked."""
    columns = _column_names(value)
    names = [name for name in columns if is_secret_name(name)]
    if not names:
        return value, []
    return f"{type(value).__name__} with the columns {', '.join(columns)}; its values are masked", names


def _column_names(value: Any) -> list[str]:
    try:
        columns = getattr(value, "columns", None)
        if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
            return []
        return [str(name) for name in columns]
    except Exception:  # a property of someone else's class
        return []


_KNOWN_TABLES = {
    ("pandas", "DataFrame"): _pandas_frame,
    ("pandas", "Series"): _pandas_series,
    ("pandas", "Index"): _pandas_index,
    ("polars", "DataFrame"): _polars_frame,
    ("polars", "Series"): _polars_series,
    ("pyarrow", "Table"): _arrow_table,
    ("numpy", "ndarray"): _structured_array,
}
