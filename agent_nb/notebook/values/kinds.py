"""Kinds of values in prompts, such as tables. Each row of `KINDS` defines one kind.

Libraries are detected, never imported: if the value exists, its library is loaded. A class matches only if the
library defines it: the attributes of other classes may contain the user's values.
"""

import itertools
import reprlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from agent_nb._base.secrets import MASK, are_secret_names, is_pair_label, is_secret_name
from agent_nb.images.convert import to_image
from agent_nb.notebook.values import tables
from agent_nb.notebook.values.tables import TableText, table_text

ITEMS = 8
"""Items of a container that a one-line summary reads."""
_PLAIN_KINDS = frozenset("biufcmM")
"""NumPy's kind codes for booleans, numbers and dates, which contain no text to mask."""
_SEARCHED = 5_000
"""Cells searched for nested secrets at each end of a long column."""

Mask = Callable[[Any], Any]
"""Returns the same object if there is nothing to mask."""
NoteMasked = Callable[[Any, Any], None]
"""Called with the name and the content of everything that is masked."""

brief = reprlib.Repr()
brief.maxlevel, brief.maxstring = 3, 40
brief.maxlist = brief.maxtuple = brief.maxset = brief.maxfrozenset = brief.maxdeque = brief.maxdict = ITEMS
_NUMPY = tables.PANDAS._replace(cells=lambda column, start, stop: column[start:stop].tolist())
PICTURES = ("matplotlib.figure.Figure", "matplotlib.axes.Axes", "PIL.Image.Image")
_OTHERS = {
    "builtins": "bool int float complex str bytes bytearray memoryview list tuple dict set frozenset range slice type",
    "types": "NoneType FunctionType BuiltinFunctionType MethodType ModuleType GeneratorType SimpleNamespace",
    "collections": "deque Counter OrderedDict defaultdict ChainMap UserDict UserList",
    "datetime": "datetime date time timedelta timezone",
    "decimal": "Decimal",
    "enum": "Enum",
    "fractions": "Fraction",
    "pathlib": "PurePath",
    "uuid": "UUID",
    "pandas": "Timestamp Timedelta Period Interval Categorical",
    "polars": "DataType",
    "scipy.sparse": "sparray spmatrix",
    "torch": "Tensor",
    "xarray": "Dataset DataArray",
    "networkx": "Graph",
    "agent_nb.run.run": "Run",
    "agent_nb.files": "Files",
}
"""Other classes whose names `--data schema` may send, by module."""
_FULL_NAMES: dict[str, list[str]] = {}


class ValueKind(NamedTuple):
    """A kind of value. No field has a default, so a new kind must define all of them."""

    classes: tuple[str, ...]
    """Classes by module and name, including their subclasses."""
    describe: Callable[[Any, str], TableText]
    """The content that `{{name}}` inserts, from the masked value and its name."""
    line: Callable[[Any, Mask], str]
    """The start of the value for `list_variables`, masked. Must not read the whole value."""
    columns: Callable[[Any], Iterable[tuple[Any, Any]]]
    """The labels and types of its columns; the label is None if the value is a column itself. With `--data schema`,
    labels that are strings are sent as names."""
    mask: Callable[[Any, Mask, NoteMasked], Any]
    """The value, or a masked copy or a replacement text; its `Mask` argument masks the content of a cell."""


def kind_of(value: Any) -> ValueKind | None:
    """The kind of a value; None for Python's built-in types and unknown classes."""
    return _BY_CLASS.get(known_class(type(value))[1])


def known_class(kind: type) -> tuple[type, str]:
    """The first known class among the class and its bases, with its full name; empty if there is none."""
    for base in kind.__mro__:
        for full_name in _FULL_NAMES.get(base.__name__, ()):
            module, _, name = full_name.rpartition(".")
            # `sys.modules` maps blocked modules to None.
            if getattr(sys.modules.get(module), "__dict__", {}).get(name) is base:
                return base, full_name
    return object, ""


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
    """The shape or length according to its known class; empty if there is none."""
    kind: Any = known_class(type(value))[0]
    if (shape := getattr(kind, "shape", None)) is not None:
        return shape_text(shape.__get__(value), has_columns=hasattr(kind, "columns"))
    # The length of an Enum class is its number of members.
    if any("__len__" in vars(base) for base in kind.__mro__):
        unit = "character" if kind is str else "byte" if kind is bytes else "item"
        return tables.counted(kind.__len__(value), unit)
    return ""


def shape_text(shape: Any, *, has_columns: bool) -> str:
    sides = list(itertools.islice(shape, ITEMS)) if isinstance(shape, Iterable) else []
    if len(sides) == 1:
        return tables.counted(sides[0], "value")
    if len(sides) == 2 and has_columns:
        return f"{tables.counted(sides[0], 'row')} x {tables.counted(sides[1], 'column')}"
    return " x ".join(map(tables.number, sides))


def is_text(dtype: Any) -> bool:
    """Whether cells of this dtype can contain text to mask."""
    if known_class(type(dtype))[1] == "polars.DataType":
        return not (dtype.is_numeric() or dtype.is_temporal() or str(dtype) in ("Boolean", "Null"))
    # Arrow-backed text in pandas has the kind "U"; categories, lists and structs have "O".
    return getattr(dtype, "kind", "O") not in _PLAIN_KINDS


def repr_line(value: Any, mask: Mask) -> str:
    return repr(mask(value))


def no_columns(value: Any) -> tuple[()]:
    return ()


def unmasked(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    return value


def repr_content(value: Any, name: str) -> TableText:
    return TableText(repr(value))


def _own_dtype(value: Any) -> list[tuple[None, Any]]:
    return [(None, value.dtype)]


def _frame_line(value: Any, mask: Mask) -> str:
    return _names_line(value.columns)


def _names_line(labels: Iterable[Any]) -> str:
    names = [str(label) for label in itertools.islice(labels, 2 * ITEMS)]
    return f"columns {', '.join(names)}" if names else "no columns"


def _series_line(value: Any, mask: Mask) -> str:
    return f"{value.dtype}: {brief.repr(mask(value.head(ITEMS)).to_list())}"


def _masked_cells(cells: list[Any], mask: Mask) -> list[Any] | None:
    """The cells with secrets in nested dicts and objects masked; None if there is nothing to mask."""
    middle = max(0, len(cells) - 2 * _SEARCHED)
    ends = [*cells[:_SEARCHED], *cells[_SEARCHED + middle :]] if middle else cells
    masked = [mask(cell) for cell in ends]
    if all(after is before for after, before in zip(masked, ends, strict=True)):
        return None
    return [*masked[:_SEARCHED], *[MASK] * middle, *masked[_SEARCHED:]]


def _masked_pairs(
    columns: tables.Columns, library: tables.Library, note_masked: NoteMasked
) -> dict[int, list[Any]]:
    """The masked cells of columns whose values are named in another column, by the position of the column."""
    holding = [place for place, (label, _) in enumerate(columns) if is_pair_label(label, 1)]
    names = [
        are_secret_names(
            [cell if isinstance(cell, str) else "" for cell in library.cells(column, 0, len(column))]
        )
        for label, column in columns
        if holding and is_pair_label(label, 0) and is_text(getattr(column, "dtype", None))
    ]
    secrets, masked = [any(row) for row in zip(*names, strict=True)], {}
    for place in holding if any(secrets) else ():
        label, column = columns[place]
        cells = library.cells(column, 0, len(column))
        note_masked(label, list(itertools.compress(cells, secrets)))
        masked[place] = [MASK if secret else cell for cell, secret in zip(cells, secrets, strict=True)]
    return masked


def _reduced(value: Any, dtype: Any) -> str:
    return f"{type(value).__name__} of {dtype}; its values are masked"


def columns_only(value: Any, labels: Iterable[Any]) -> str:
    return f"{type(value).__name__} with the columns {', '.join(map(str, labels))}; its values are masked"


# pandas


def _pandas_frame(value: Any, name: str) -> TableText:
    heading = tables.frame_heading("DataFrame", len(value), len(value.columns))
    return table_text(heading, len(value), _labelled_pandas(value), tables.PANDAS)


def _labelled_pandas(value: Any) -> tables.Columns:
    columns = ((label, value.iloc[:, place]) for place, label in enumerate(value.columns))
    return [*_levels(value.index), *columns]


def _pandas_series(value: Any, name: str) -> TableText:
    heading = tables.column_heading("Series", value.name, len(value), tables.dtype_name(value))
    label = "values" if value.name is None else value.name
    return table_text(heading, len(value), [*_levels(value.index), (label, value)], tables.PANDAS)


def _pandas_index(value: Any, name: str) -> TableText:
    heading = f"{type(value).__name__} of {tables.counted(len(value), 'value')}"
    return table_text(heading, len(value), list(_levels(value, always=True)), tables.PANDAS)


def _levels(index: Any, *, always: bool = False) -> Iterator[tuple[Any, Any]]:
    """The levels of an index, without one that only counts the rows."""
    if always or known_class(type(index))[1] != "pandas.RangeIndex":
        for place, name in enumerate(index.names):
            yield "index" if name is None else name, index.get_level_values(place).to_series()


def _pandas_columns(value: Any) -> Iterator[tuple[Any, Any]]:
    if known_class(type(value.index))[1] != "pandas.RangeIndex":
        levels = (value.index.get_level_values(place) for place in range(value.index.nlevels))
        yield from (("index" if level.name is None else level.name, level.dtype) for level in levels)
    yield from zip(value.columns, value.dtypes, strict=True)


def _mask_pandas_frame(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    table = value.reset_index() if any(map(is_secret_name, value.index.names)) else value
    columns = [(label, table.iloc[:, place]) for place, label in enumerate(table.columns)]
    masked_columns = _masked_pairs(columns, tables.PANDAS, note_masked)
    for place, (label, column) in enumerate(columns):
        if (cells := _mask_pandas_cells(label, column, mask, note_masked)) is not None:
            masked_columns[place] = cells
    masked = table.copy(deep=False)
    for place, cells in masked_columns.items():
        masked.isetitem(place, cells)
    # A transposed frame has column names as row labels.
    rows = [place for place, is_secret in enumerate(_secret_rows(table.index)) if is_secret]
    if rows:
        for label in table.index[rows].unique():
            note_masked(label, table.iloc[rows])
        masked = masked.astype(object)
        masked.iloc[rows] = MASK
    return masked if masked_columns or rows or table is not value else value


def _mask_pandas_cells(label: Any, column: Any, mask: Mask, note_masked: NoteMasked) -> list[Any] | None:
    """The masked cells of a column, or None if unchanged."""
    arrow = getattr(column.dtype, "pyarrow_dtype", None)
    fields = [field for field in _arrow_fields(arrow) if is_secret_name(field)]
    if fields or (is_secret_name(label) and is_text(column.dtype)):
        for name in fields or [label]:
            note_masked(name, column)
        return [MASK] * len(column)
    if str(column.dtype) != "object" or tables.inferred_kind(column) in tables.PLAIN_CELLS:
        return None
    return _masked_cells(column.tolist(), mask)


def _secret_rows(index: Any) -> list[bool]:
    levels = getattr(index, "levels", [index])  # levels contain each label once
    if not any(is_text(level.dtype) and any(are_secret_names(level.tolist())) for level in levels):
        return []
    return are_secret_names(index.tolist())


def _mask_pandas_series(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    frame = value.to_frame()
    masked = _mask_pandas_frame(frame, mask, note_masked)
    if masked is frame:
        return value
    column = masked.iloc[:, -1].rename(value.name)
    if len(masked.columns) > 1:  # `reset_index` has made the secret index a column
        column.index = [MASK] * len(value)
    return column


def _mask_pandas_index(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    if not is_text(value.dtype):
        return value
    frame = value.to_frame(index=False)
    return value if _mask_pandas_frame(frame, mask, note_masked) is frame else _reduced(value, value.dtype)


# polars


def _polars_frame(value: Any, name: str) -> TableText:
    heading = tables.frame_heading("polars DataFrame", value.height, value.width)
    return table_text(heading, value.height, _labelled_polars(value), tables.POLARS)


def _labelled_polars(value: Any) -> tables.Columns:
    return [(column.name, column) for column in value.get_columns()]


def _polars_series(value: Any, name: str) -> TableText:
    heading = tables.column_heading("polars Series", value.name, len(value), tables.short_text(value.dtype))
    return table_text(heading, len(value), [(value.name or "values", value)], tables.POLARS)


def _polars_columns(value: Any) -> Iterable[tuple[Any, Any]]:
    return value.collect_schema().items()  # type: ignore[no-any-return]


def _lazy_frame(value: Any, name: str) -> TableText:
    types = [f"- {label}: {dtype}" for label, dtype in value.collect_schema().items()]
    return TableText("\n".join(["polars LazyFrame, not computed", *types]), "its columns and their types")


def _mask_lazy_frame(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    labels = value.collect_schema().names()
    names = [label for label in labels if is_secret_name(label)]
    for name in names:
        note_masked(name, None)
    return columns_only(value, labels) if names else value


def _mask_polars_frame(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    polars, columns = sys.modules["polars"], value.get_columns()
    pairs = _masked_pairs(_labelled_polars(value), tables.POLARS, note_masked)
    masked = [polars.Series(columns[place].name, cells) for place, cells in pairs.items()]
    masked += [
        polars.lit(MASK).alias(column.name)
        for column in columns
        if _is_masked_in_polars(column, mask, note_masked)
    ]
    return value.with_columns(masked) if masked else value


def _mask_polars_series(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    is_masked = _is_masked_in_polars(value, mask, note_masked)
    return type(value)(value.name, [MASK] * len(value)) if is_masked else value


def _is_masked_in_polars(column: Any, mask: Mask, note_masked: NoteMasked) -> bool:
    if str(column.dtype) == "Object":
        is_masked = _masked_cells(column.to_list(), mask) is not None
    else:
        is_masked = any(map(is_secret_name, _polars_fields(column.dtype)))
    is_masked = is_masked or (is_secret_name(column.name) and is_text(column.dtype))
    if is_masked:
        note_masked(column.name, column)
    return is_masked


def _polars_fields(kind: Any) -> list[str]:
    inner = getattr(kind, "inner", None)
    if inner is not None:
        return _polars_fields(inner)
    fields: Iterable[Any] = getattr(kind, "fields", ())
    return [name for field in fields for name in (field.name, *_polars_fields(field.dtype))]


# pyarrow


def _arrow_table(value: Any, name: str) -> TableText:
    heading = tables.frame_heading(f"pyarrow {type(value).__name__}", value.num_rows, value.num_columns)
    return table_text(heading, value.num_rows, _labelled_arrow(value), tables.ARROW)


def _labelled_arrow(value: Any) -> tables.Columns:
    return list(zip(value.schema.names, value.columns, strict=True))


def _arrow_array(value: Any, name: str) -> TableText:
    heading = f"pyarrow {type(value).__name__} of {len(value):,} {tables.short_text(value.type)} values"
    return table_text(heading, len(value), [("values", value)], tables.ARROW)


def _own_type(value: Any) -> list[tuple[None, Any]]:
    return [(None, value.type)]


def _mask_arrow_table(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    masked = _masked_pairs(_labelled_arrow(value), tables.ARROW, note_masked)
    for place, field in enumerate(value.schema):
        if any(map(is_secret_name, (field.name, *_arrow_fields(field.type)))):
            note_masked(field.name, value.column(place))
            masked[place] = [MASK] * value.num_rows
    for place, cells in masked.items():
        value = value.set_column(place, value.schema.names[place], sys.modules["pyarrow"].array(cells))
    return value


def _mask_arrow_array(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    names = [name for name in _arrow_fields(value.type) if is_secret_name(name)]
    for name in names:
        note_masked(name, value)
    return _reduced(value, value.type) if names else value


def _arrow_fields(kind: Any) -> list[str]:
    count = getattr(kind, "num_fields", 0)
    fields = [kind.field(number) for number in range(count)]
    return [name for field in fields for name in (field.name, *_arrow_fields(field.type))]


# NumPy


def _array(value: Any, name: str) -> TableText:
    # `subplots` returns an array of axes.
    if value.dtype.kind == "O" and value.size and known_class(type(value.flat[0]))[1] in PICTURES:
        return _picture(value.flat[0], name)
    return TableText(tables.array_text(value))


def _array_line(value: Any, mask: Mask) -> str:
    head = mask(value[:ITEMS, :ITEMS] if value.ndim == 2 else value.flat[:ITEMS])  # rows may be pairs
    return head if isinstance(head, str) else f"{value.dtype}: {brief.repr(head.ravel().tolist())}"


def _mask_array(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    """Reduce an array with a secret field, a nested secret or the value of a secret name to its type."""
    names = [name for name in _text_fields(value.dtype) if is_secret_name(name)]
    for name in names:
        note_masked(name, value[name] if name in value.dtype.names else None)
    is_masked = value.dtype.hasobject and _masked_cells(value.ravel().tolist(), mask) is not None
    if value.dtype.kind in "OU" and value.ndim == 2:
        is_masked |= bool(_masked_pairs(list(enumerate(value.T[:2])), _NUMPY, note_masked))
    return _reduced(value, value.dtype) if names or is_masked else value


def _text_fields(kind: Any) -> Iterator[str]:
    for name in kind.base.names or ():
        if kind.base[name].base.kind not in _PLAIN_KINDS:
            yield name
            yield from _text_fields(kind.base[name])


def _picture(value: Any, name: str) -> TableText:
    # Cassettes match by the prompt, so this wording must not change.
    return TableText(f"(picture `{name}`)", images=(to_image(value, name=name),))


KINDS = (
    # classes, describe, line, columns, mask
    ValueKind(PICTURES, _picture, repr_line, no_columns, unmasked),
    ValueKind(("pandas.DataFrame",), _pandas_frame, _frame_line, _pandas_columns, _mask_pandas_frame),
    ValueKind(("pandas.Series",), _pandas_series, _series_line, _own_dtype, _mask_pandas_series),
    ValueKind(
        ("pandas.RangeIndex", "pandas.Index"), _pandas_index, repr_line, _own_dtype, _mask_pandas_index
    ),
    ValueKind(("polars.DataFrame",), _polars_frame, _frame_line, _polars_columns, _mask_polars_frame),
    ValueKind(("polars.Series",), _polars_series, _series_line, _own_dtype, _mask_polars_series),
    ValueKind(("polars.LazyFrame",), _lazy_frame, repr_line, _polars_columns, _mask_lazy_frame),
    ValueKind(
        ("pyarrow.Table", "pyarrow.RecordBatch"),
        _arrow_table,
        lambda value, mask: _names_line(value.schema.names),
        lambda value: zip(value.schema.names, value.schema.types, strict=True),
        _mask_arrow_table,
    ),
    ValueKind(
        ("pyarrow.Array", "pyarrow.ChunkedArray"), _arrow_array, repr_line, _own_type, _mask_arrow_array
    ),
    ValueKind(("pyarrow.Scalar",), repr_content, repr_line, _own_type, _mask_arrow_array),
    ValueKind(("numpy.ndarray",), _array, _array_line, _own_dtype, _mask_array),
    ValueKind(("numpy.generic",), repr_content, repr_line, _own_dtype, _mask_array),
)
_BY_CLASS = {name: kind for kind in KINDS for name in kind.classes}
for _full_name in (
    *_BY_CLASS,
    *(f"{module}.{name}" for module in _OTHERS for name in _OTHERS[module].split()),
):
    _module, _, _name = _full_name.rpartition(".")
    _FULL_NAMES.setdefault(vars(types)[_name].__name__ if _module == "types" else _name, []).append(
        _full_name
    )
