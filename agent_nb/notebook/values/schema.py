"""Values by name, type and shape alone: `--data schema`.

A type is one of the classes below or unknown, and what is read of a value is read by that class: the value's own
attributes, and what its class says of itself, may be values. Of column labels only strings are names.
"""

import contextlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_nb.engine.data_gate import schema_text
from agent_nb.notebook.values.describe_values import Described, read_path
from agent_nb.notebook.values.limited import UnreadableError, call_within
from agent_nb.notebook.values.tables import MOST_COLUMNS
from agent_nb.notebook.values.value_paths import lookup_masked
from agent_nb.tools.base import Name, Schema

_CLASSES = {
    "builtins": "bool int float complex str bytes bytearray memoryview list tuple dict set frozenset range slice type",
    "types": "NoneType FunctionType BuiltinFunctionType MethodType ModuleType GeneratorType SimpleNamespace",
    "collections": "deque Counter OrderedDict defaultdict ChainMap UserDict UserList",
    "datetime": "datetime date time timedelta timezone",
    "decimal": "Decimal",
    "enum": "Enum",
    "fractions": "Fraction",
    "pathlib": "PurePath",
    "uuid": "UUID",
    "numpy": "ndarray bool_ integer floating complexfloating str_ bytes_ datetime64 timedelta64 void",
    "pandas": "DataFrame Series MultiIndex RangeIndex DatetimeIndex PeriodIndex TimedeltaIndex IntervalIndex"
    " CategoricalIndex Index Timestamp Timedelta Period Interval Categorical",
    "pandas.api.typing": "DataFrameGroupBy SeriesGroupBy Rolling Resampler",
    "polars": "DataFrame LazyFrame Series Expr",
    "pyarrow": "Table RecordBatch ChunkedArray Array Scalar",
    "scipy.sparse": "sparray spmatrix",
    "torch": "Tensor",
    "xarray": "Dataset DataArray",
    "networkx": "Graph",
    "matplotlib.figure": "Figure",
    "matplotlib.axes": "Axes",
    "PIL.Image": "Image",
    "agent_nb.run.run": "Run",
    "agent_nb.files.files": "Files",
}
"""The classes whose names are sent, by the module that has them. A subclass goes by the name of its base."""
_UNSIZED = frozenset(
    {
        "str",
        "bytes",
        "bytearray",
        "numpy.str_",
        "numpy.bytes_",
    }  # the length of a text says something about it
    | {f"pandas.{name}" for name in _CLASSES["pandas.api.typing"].split()}  # which compute it, and keep it
)
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
"""Types of cells. What follows these words in a type, such as categories, are values."""
_NUMPY_KINDS = {"U": "str", "S": "bytes", "V": "void"}


def schema_of(value: Any) -> Schema:
    """The type and shape of a value, and of a table the names and types of its columns."""
    parts: list[str | Name] = [*_heading(value), *_after_comma(_dtype(value))]
    columns = list(_columns(value))
    for label, dtype in columns[:MOST_COLUMNS]:
        parts += ["\n- ", *_label(label), ": ", dtype]
    if len(columns) > MOST_COLUMNS:
        parts.append(f"\n- and {len(columns) - MOST_COLUMNS:,} more columns")
    return tuple(parts)


def read_schema(value: Any, seconds: float = 1.0) -> Schema:
    """The schema of a value whose code may fail or take long. What that says is not part of it."""
    try:
        return call_within(seconds, lambda: schema_of(value))
    except UnreadableError:
        return ("not readable",)


def read_heading(value: Any, seconds: float) -> Schema:
    """The type and shape of a value, as `read_schema`."""
    try:
        return call_within(seconds, lambda: tuple(_heading(value)))
    except UnreadableError:
        return ("not readable",)


def known_names(variables: Mapping[str, Any]) -> frozenset[str]:
    """The names of variables and of the columns of tables."""
    names = {*variables}
    for value in variables.values():
        with contextlib.suppress(Exception):  # the code of a value; its names are then held back
            names.update(label for label, _ in _columns(value) if type(label) is str)
    return frozenset(names)


def describe_schema(
    path: str, namespace: Mapping[str, Any], braces: str = "", *, known: frozenset[str]
) -> Described:
    """What the model may know of the value at a path, as `describe_path` for runs that send no values."""

    def read() -> str:
        value, _ = lookup_masked(path, namespace, braces)
        # An attribute may be computed: `df.T` makes names of labels.
        names = frozenset() if "." in path else known_names({path: value})
        return schema_text(schema_of(value), known | names)

    return Described(read_path(path, read))


def _heading(value: Any) -> Iterator[str | Name]:
    kind, name = _known_class(type(value))
    yield name or Name(type(value).__name__)
    if name and name not in _UNSIZED:
        yield from _after_comma(_extent(value, kind))


def _after_comma(text: str) -> list[str]:
    return [", ", text] if text else []


def _known_class(kind: type) -> tuple[type, str]:
    """The first class of the method resolution order that is known, and its name; empty if there is none."""
    known = {
        found: name if module in ("builtins", "types") or module.startswith("agent_nb.") else f"{top}.{name}"
        for module, names in _CLASSES.items()
        if (loaded := sys.modules.get(module)) is not None
        for top in [module.partition(".")[0]]
        for name in names.split()
        if isinstance(found := vars(loaded).get(name), type)
    }
    return next(((base, known[base]) for base in kind.__mro__ if base in known), (object, ""))


def _extent(value: Any, kind: Any) -> str:
    """The shape or the length, as the known class reads it; empty if it has none."""
    if (shape := getattr(kind, "shape", None)) is not None:
        sides = [f"{side:,}" if isinstance(side, int) else "?" for side in shape.__get__(value)]
        if len(sides) == 2 and hasattr(kind, "columns"):
            return f"{_counted(sides[0], 'row')} x {_counted(sides[1], 'column')}"
        return _counted(sides[0], "value") if len(sides) == 1 else " x ".join(sides)
    if any("__len__" in vars(base) for base in kind.__mro__):  # an Enum has the length of its class
        return _counted(f"{kind.__len__(value):,}", "item")
    return ""


def _counted(count: str, unit: str) -> str:
    return f"{count} {unit}{'' if count == '1' else 's'}"


def _label(label: Any) -> Iterable[str | Name]:
    if type(label) is str:
        return (Name(label),)
    name = _known_class(type(label))[1]
    return ("(a label of type ", name or Name(type(label).__name__), ")")


def _columns(value: Any) -> Iterator[tuple[Any, str]]:
    """The labels of a table's columns and of the levels of its index, with their types."""
    match _known_class(type(value))[1]:
        case "pandas.DataFrame":
            if _known_class(type(value.index))[1] != "pandas.RangeIndex":
                levels = (value.index.get_level_values(place) for place in range(value.index.nlevels))
                yield from (
                    ("index" if level.name is None else level.name, _dtype(level)) for level in levels
                )
            yield from (
                (label, _dtype_name(kind)) for label, kind in zip(value.columns, value.dtypes, strict=True)
            )
        case "polars.DataFrame":
            yield from ((label, _dtype_name(kind)) for label, kind in value.schema.items())
        case "pyarrow.Table" | "pyarrow.RecordBatch":
            yield from ((field.name, _dtype_name(field.type)) for field in value.schema)


def _dtype(value: Any) -> str:
    """The type of the cells of a column or an array; empty for other values."""
    kind: Any = _known_class(type(value))[0]
    library = kind.__module__.partition(".")[0]
    found: Any = getattr(kind, "type" if library == "pyarrow" else "dtype", None)
    is_column = library in ("pandas", "polars", "pyarrow", "numpy") and hasattr(found, "__get__")
    return _dtype_name(found.__get__(value)) if is_column else ""


def _dtype_name(dtype: Any) -> str:
    found = re.match(r"\w+", str(dtype))
    if found and found[0] in _DTYPES:
        return found[0]
    return _NUMPY_KINDS.get(str(getattr(dtype, "kind", "")), "another type")
