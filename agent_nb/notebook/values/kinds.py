"""Kinds of values in prompts, such as tables. Each row of `KINDS` defines one kind."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from agent_nb._base.secrets import is_secret_name
from agent_nb.images.convert import to_image
from agent_nb.notebook.values import tables
from agent_nb.notebook.values.classes import LAZY, PICTURES, class_of
from agent_nb.notebook.values.tables import ITEMS, Mask, NoteMasked, TableText, brief, types_of

TABLES = (
    "pandas.DataFrame", "polars.DataFrame", "pyarrow.Table", "pyarrow.RecordBatch", "narwhals.DataFrame",
    "modin.pandas.DataFrame",
)  # fmt: skip
ARRAYS = ("pandas.RangeIndex", "pandas.Index", "pyarrow.Array", "pyarrow.ChunkedArray")


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
    return _BY_CLASS.get(class_of(value))


def has_columns(value: Any) -> bool:
    """Whether the value is a table or a column of one."""
    return getattr(kind_of(value), "columns", no_columns) is not no_columns


def no_columns(value: Any) -> tuple[()]:
    return ()


def _unmasked(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    return value


def _repr(value: Any, name: str) -> TableText:
    return TableText(repr(value))


def _repr_line(value: Any, mask: Mask) -> str:
    return repr(mask(value))


def _table_line(value: Any, mask: Mask) -> str:
    is_arrow = class_of(value).startswith("pyarrow.")
    return tables.names_line(value.schema.names if is_arrow else value.columns)


def _series_line(value: Any, mask: Mask) -> str:
    return f"{value.dtype}: {brief.repr(mask(value.head(ITEMS)).to_list())}"


def _own_type(value: Any) -> list[tuple[None, Any]]:
    return [(None, tables.type_of(value))]


def _picture(value: Any, name: str) -> TableText:
    # Cassettes match by the prompt, so this wording must not change.
    return TableText(f"(picture `{name}`)", images=(to_image(value, name=name),))


# NumPy


def _array(value: Any, name: str) -> TableText:
    # `subplots` returns an array of axes.
    if value.dtype.kind == "O" and value.size and class_of(value.flat[0]) in PICTURES:
        return _picture(value.flat[0], name)
    facts = f"ndarray of shape {value.shape}, {value.dtype}"
    present = value[value == value] if value.dtype.kind == "f" else value  # noqa: PLR0124 (NaN is not equal to itself)
    if present.size < value.size:
        facts += f", {value.size - present.size:,} of {value.size:,} values missing"
    if present.size and present.dtype.kind in "iuf":
        facts += f", from {present.min()} to {present.max()}, mean {present.mean():.4g}"
    return TableText(f"{facts}\n{value!r}")


def _array_line(value: Any, mask: Mask) -> str:
    head = mask(value[:ITEMS, :ITEMS] if value.ndim == 2 else value.flat[:ITEMS])  # rows may be pairs
    return head if isinstance(head, str) else f"{value.dtype}: {brief.repr(head.ravel().tolist())}"


def _mask_array(value: Any, mask: Mask, note_masked: NoteMasked) -> Any:
    """Reduce an array with a secret field, a nested secret or the value of a secret name to its type."""
    names = [name for name in _text_fields(value.dtype) if is_secret_name(name)]
    for name in names:
        note_masked(name, value[name] if name in value.dtype.names else None)
    is_masked = value.dtype.hasobject and tables.masked_cells(value.ravel().tolist(), mask) is not None
    if value.dtype.kind in "OU" and value.ndim == 2:
        is_masked |= bool(tables.masked_pairs(list(enumerate(value.T[:2])), note_masked))
    return tables.reduced(value, value.dtype) if names or is_masked else value


def _text_fields(kind: Any) -> Iterator[str]:
    for name in kind.base.names or ():
        if kind.base[name].base.kind not in tables.PLAIN_KINDS:
            yield name
            yield from _text_fields(kind.base[name])


KINDS = (
    # classes, describe, line, columns, mask
    ValueKind(PICTURES, _picture, _repr_line, no_columns, _unmasked),
    ValueKind(TABLES, tables.describe_table, _table_line, types_of, tables.mask_table),
    ValueKind(
        LAZY,
        tables.describe_lazy,
        lambda value, mask: tables.names_line(label for label, _ in types_of(value)),
        types_of,
        tables.mask_lazy,
    ),
    ValueKind(
        ("pandas.Series", "polars.Series"),
        tables.describe_column,
        _series_line,
        _own_type,
        tables.mask_series,
    ),
    ValueKind(ARRAYS, tables.describe_column, _repr_line, _own_type, tables.mask_array),
    ValueKind(("pyarrow.Scalar",), _repr, _repr_line, _own_type, tables.mask_array),
    ValueKind(("numpy.ndarray",), _array, _array_line, _own_type, _mask_array),
    ValueKind(("numpy.generic",), _repr, _repr_line, _own_type, _mask_array),
)
_BY_CLASS = {name: kind for kind in KINDS for name in kind.classes}
