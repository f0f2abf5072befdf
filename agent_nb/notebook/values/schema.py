"""Describes values only by name, type and shape: `--data schema`.

Types are named after known classes (`classes.py`) or variables, and a value is read only through its known class: other
attributes, even those of the class, may contain values. Only column labels that are strings count as names.
"""

import contextlib
import re
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

from agent_nb.core.limited import UnreadableError, call_within
from agent_nb.engine.data_gate import schema_text
from agent_nb.engine.description import Description
from agent_nb.notebook.values.classes import class_name, class_names, size_of
from agent_nb.notebook.values.describe_values import read_path
from agent_nb.notebook.values.kinds import kind_of
from agent_nb.notebook.values.tables import MOST_COLUMNS
from agent_nb.notebook.values.value_paths import lookup_masked
from agent_nb.tools.base import SCHEMA_PHRASES, Name, Schema

_DTYPES = frozenset(
    re.findall(
        r"\w+",
        "bool boolean object str string bytes void category period interval Sparse int8 int16 int32 int64"
        " uint8 uint16 uint32 uint64 Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 float16 float32"
        " float64 Float32 Float64 complex64 complex128 datetime64 timedelta64 Int128 UInt128 Float16 Decimal"
        " Boolean String Utf8 Binary Date Time Datetime Duration Categorical Enum List Array Struct Object"
        " Null Unknown null halffloat float double decimal32 decimal64 decimal128 decimal256 date32 date64"
        " time32 time64 timestamp duration month_day_nano_interval large_string string_view binary"
        " large_binary binary_view fixed_size_binary list large_list list_view fixed_size_list struct map"
        " dictionary run_end_encoded dense_union sparse_union extension",
    )
)
"""Known dtype names. Anything after them in a dtype, such as categories, is data."""
_NUMPY_KINDS = {"U": "str", "S": "bytes", "V": "void"}
_UNITS = ("row", "column", "value", "item", "character", "byte", "variable")
SCHEMA_PHRASES.update(
    (
        *class_names(),
        *_DTYPES,
        *_NUMPY_KINDS.values(),
        "another type",
        "not readable",
        "? rows",
        "?",
        ", ",
        ": ",
    ),
    ("(a label of type ", ")", "\n- ", "\n- and ", " more columns"),
    (f" {unit}{ending}" for unit in _UNITS for ending in ("", "s")),
)


def schema_of(value: Any) -> Schema:
    """The type and shape of a value; for a table also the names and types of its columns."""
    kind = kind_of(value)
    parts = [*heading(value)]
    columns = list(kind.columns(value)) if kind else []
    for label, dtype in columns[:MOST_COLUMNS]:
        name = [Name(label)] if type(label) is str else ["(a label of type ", _type_name(label), ")"]
        parts += [", "] if label is None else ["\n- ", *name, ": "]
        parts.append(_dtype_name(dtype))
    if len(columns) > MOST_COLUMNS:
        parts.append(f"\n- and {len(columns) - MOST_COLUMNS:,} more columns")
    return tuple(parts)


def read_schema(value: Any, seconds: float = 1.0, read: Callable[[Any], Schema] = schema_of) -> Schema:
    """The schema of a value, with a timeout. Error messages are left out: they may contain data."""
    try:
        return call_within(seconds, lambda: read(value))
    except UnreadableError:
        return ("not readable",)


def known_names(variables: Mapping[str, Any]) -> frozenset[str]:
    """The names of variables and table columns, without those of unreadable tables."""
    return frozenset((*variables, *chain.from_iterable(map(column_names, variables.values()))))


def column_names(value: Any) -> list[str]:
    """The names of a table's columns; empty if it is unreadable or no table."""
    kind = kind_of(value)
    with contextlib.suppress(UnreadableError):
        columns = call_within(1.0, lambda: list(kind.columns(value))) if kind else []
        return [label for label, _ in columns if type(label) is str]
    return []


def describe_schema(
    path: str, namespace: Mapping[str, Any], braces: str = "", *, allowed_names: frozenset[str]
) -> Description:
    """`describe_path` for runs that send no values."""

    def read() -> str:
        value, _ = lookup_masked(path, namespace, braces)
        # An attribute may be computed: `df.T` turns row labels into column names.
        names = frozenset() if "." in path else known_names({path: value})
        return schema_text(schema_of(value), allowed_names | names)

    return Description(read_path(path, read))


def heading(value: Any) -> Schema:
    name = _type_name(value)
    # The length of a text reveals something about it.
    size = (
        "" if isinstance(name, Name) or issubclass(type(value), str | bytes | bytearray) else size_of(value)
    )
    return (name, ", ", size) if size else (name,)


def _type_name(value: Any) -> str | Name:
    return class_name(type(value)) or Name(type(value).__name__)


def _dtype_name(dtype: Any) -> str:
    match = re.match(r"\w+", str(dtype))
    if match and match[0] in _DTYPES:
        return match[0]
    return _NUMPY_KINDS.get(str(getattr(dtype, "kind", "")), "another type")
