"""Classes that are known by name, of which a description may say the name and the size.

Libraries are detected, never imported: if the value exists, its library is loaded. A class matches only if the
library defines it: the attributes of other classes may contain the user's values.
"""

import itertools
import sys
import types
from collections.abc import Iterable
from typing import Any

SIDES = 8
PICTURES = ("matplotlib.figure.Figure", "matplotlib.axes.Axes", "PIL.Image.Image")
LAZY = (
    "polars.LazyFrame", "narwhals.LazyFrame", "dask.dataframe.DataFrame", "duckdb.DuckDBPyRelation",
    "ibis.expr.types.relations.Table",
)  # fmt: skip
"""Tables that would first have to be computed."""
_KNOWN = {
    "builtins": "bool int float complex str bytes bytearray memoryview list tuple dict set frozenset range slice type",
    "types": "NoneType FunctionType BuiltinFunctionType MethodType ModuleType GeneratorType SimpleNamespace",
    "collections": "deque Counter OrderedDict defaultdict ChainMap UserDict UserList",
    "datetime": "datetime date time timedelta timezone",
    "decimal": "Decimal",
    "enum": "Enum",
    "fractions": "Fraction",
    "pathlib": "PurePath",
    "uuid": "UUID",
    "numpy": "ndarray generic",
    "pandas": "DataFrame Series RangeIndex Index Timestamp Timedelta Period Interval Categorical",
    "polars": "DataFrame Series DataType",
    "pyarrow": "Table RecordBatch Array ChunkedArray Scalar DataType",
    "narwhals": "DataFrame",
    "modin.pandas": "DataFrame",
    "scipy.sparse": "sparray spmatrix",
    "torch": "Tensor",
    "xarray": "Dataset DataArray",
    "networkx": "Graph",
    "agent_nb.run.run": "Run",
    "agent_nb.files": "Files",
}
"""The names that `--data schema` may send, by module."""
_FULL_NAMES: dict[str, list[str]] = {}
for _full_name in (
    *PICTURES,
    *LAZY,
    *(f"{module}.{name}" for module in _KNOWN for name in _KNOWN[module].split()),
):
    _module, _, _name = _full_name.rpartition(".")
    _name = vars(types)[_name].__name__ if _module == "types" else _name
    _FULL_NAMES.setdefault(_name, []).append(_full_name)


def known_class(kind: type) -> tuple[type, str]:
    """The first known class among the class and its bases, with its full name; empty if there is none."""
    for base in kind.__mro__:
        for full_name in _FULL_NAMES.get(base.__name__, ()):
            module, _, name = full_name.rpartition(".")
            # `sys.modules` maps blocked modules to None.
            if getattr(sys.modules.get(module), "__dict__", {}).get(name) is base:
                return base, full_name
    return object, ""


def class_of(value: Any) -> str:
    """`pandas.DataFrame`: the full name of the known class of a value; empty if there is none."""
    return known_class(type(value))[1]


def class_name(kind: type) -> str:
    """`int`, `pandas.DataFrame`: the name of the known class; empty if there is none."""
    return _short_name(known_class(kind)[1])


def _short_name(full_name: str) -> str:
    module, _, name = full_name.rpartition(".")
    library = module.partition(".")[0]
    return name if library in ("", "builtins", "types", "agent_nb") else f"{library}.{name}"


def class_names() -> set[str]:
    """All names that `class_name` gives."""
    names = (full_name for full_names in _FULL_NAMES.values() for full_name in full_names)
    return set(map(_short_name, names))


def size_of(value: Any) -> str:
    """The shape or length according to its known class; empty if there is none, or it would have to be computed."""
    known: tuple[Any, str] = known_class(type(value))
    kind, full_name = known
    if full_name in LAZY:
        return ""
    if (shape := getattr(kind, "shape", None)) is not None:
        return shape_text(shape.__get__(value), has_columns=hasattr(kind, "columns"))
    # The length of an Enum class is its number of members.
    if any("__len__" in vars(base) for base in kind.__mro__):
        unit = "character" if kind is str else "byte" if kind is bytes else "item"
        return counted(kind.__len__(value), unit)
    return ""


def shape_text(shape: Any, *, has_columns: bool) -> str:
    sides = list(itertools.islice(shape, SIDES)) if isinstance(shape, Iterable) else []
    if len(sides) == 1:
        return counted(sides[0], "value")
    if len(sides) == 2 and has_columns:
        return f"{counted(sides[0], 'row')} x {counted(sides[1], 'column')}"
    return " x ".join(map(_number, sides))


def counted(count: Any, unit: str) -> str:
    return f"{_number(count)} {unit}{'' if count == 1 else 's'}"


def _number(side: Any) -> str:
    """One dimension of a shape. Some tables have no row count."""
    return f"{side:,}" if isinstance(side, int) else "?"
