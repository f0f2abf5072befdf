"""Values of the notebook as JSON for a page, in pieces that take a few milliseconds each."""

import base64
import datetime
import decimal
import enum
import json
import math
import pathlib
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from agent_nb.errors import ConfigError
from agent_nb.images.convert import to_image
from agent_nb.notebook.values.kinds import PICTURES, known_class

MAX_CHARACTERS = 50_000_000
"""Characters of the JSON text of one value. It is ASCII, so these are bytes."""
CHUNK = 128_000
"""Characters of one message."""
_CELLS = 3_000
"""Items, or cells of a table, in one piece."""
_MAX_DEPTH = 100
_AS_IS = frozenset({str, int, bool, type(None)})
_SEQUENCES = (list, tuple, set, frozenset, deque, range)
_CONTAINERS = (Mapping, *_SEQUENCES)
_NOT_A_VALUE = frozenset({"NaTType", "NAType"})
_TEXTS = (str, uuid.UUID, pathlib.PurePath)
_PANDAS_TEXTS = frozenset({"pandas.Period", "pandas.Interval"})


class UnfitError(Exception):
    """JSON cannot hold a value of this type."""


class _TooManyItemsError(Exception):
    """There are more items than one piece takes."""


def json_pieces(name: str, value: Any, limit: int = MAX_CHARACTERS) -> Iterator[str]:
    """The JSON text of a value in pieces; raises `ConfigError` if JSON cannot hold it, or if it is too long."""
    size = 0
    try:
        for piece in _pieces(value, 0):
            size += len(piece)
            if size > limit:
                raise ConfigError(
                    f"`{name}` has more than {limit / 1_000_000:.0f} MB as JSON, which is too much for a page. Bind"
                    " fewer rows or columns, or a function that returns those that the page asks for."
                )
            yield piece
    except UnfitError as error:
        raise ConfigError(
            f"`{name}` holds a value of type {error}, which JSON cannot hold. Bind tables, arrays, numbers, texts,"
            " lists and dicts of these, or figures."
        ) from None
    except RecursionError:
        raise ConfigError(f"`{name}` is nested too deep, or contains itself.") from None
    except ConfigError:
        raise
    except Exception as error:  # of a class of the user's own, or the value changes while it is read
        raise ConfigError(f"`{name}` cannot be read as JSON: {type(error).__name__}.") from None


def chunks(pieces: Iterable[str]) -> Iterator[str]:
    """The same text in messages."""
    held, size = list[str](), 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= CHUNK:
            text = "".join(held)
            yield from (text[at : at + CHUNK] for at in range(0, size, CHUNK))
            held, size = [], 0
    if held:
        yield "".join(held)


def within(seconds: float, pieces: Iterator[str], done: list[str]) -> bool:
    """Adds pieces to those that are done for so long; whether that was all of them."""
    end = time.monotonic() + seconds
    for piece in pieces:
        done.append(piece)
        if time.monotonic() > end:
            return False
    return True


def _dumps(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _pieces(value: Any, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        raise RecursionError
    kind = known_class(type(value))[1]
    if isinstance(value, str) and len(value) > CHUNK:
        parts = (value[at : at + CHUNK] for at in range(0, len(value), CHUNK))
        yield '"'
        yield from (_dumps(part)[1:-1] for part in parts)
        yield '"'
    elif read := _TABLES.get(kind):
        yield from _between("[]", ([_dumps(rows)[1:-1]] for rows in _rows(*read(value))))
    elif kind == "numpy.ndarray" and value.ndim > 1 and math.prod(value.shape[1:]) > _CELLS:
        yield from _between("[]", (_pieces(row, depth + 1) for row in value))
    elif kind in _ARRAYS:
        yield from _between("[]", ([_dumps(items)[1:-1]] for items in _array_items(value, kind)))
    elif isinstance(value, Mapping):
        yield from _between("{}", _units(list(value.items()), depth, dict, _pair))
    elif isinstance(value, _SEQUENCES):
        items = value if isinstance(value, range) else list(value)  # a range may be endless
        yield from _between("[]", _units(items, depth, list, _pieces))
    else:
        yield _dumps(_plain(value, _Room()))


def _pair(pair: tuple[Any, Any], depth: int) -> Iterator[str]:
    yield f"{_dumps(_key(pair[0]))}:"
    yield from _pieces(pair[1], depth)


def _between(ends: str, units: Iterable[Iterable[str]]) -> Iterator[str]:
    """The units with commas between them. A unit may come in several pieces."""
    yield ends[0]
    comma = ""
    for unit in units:
        for piece in unit:
            yield comma + piece
            comma = ""
        comma = ","
    yield ends[1]


def _units(
    items: Sequence[Any],
    depth: int,
    joined: Callable[[Sequence[Any]], Any],
    one: Callable[[Any, int], Iterator[str]],
) -> Iterator[Iterable[str]]:
    """Many small items together, and items with many items in them by themselves."""
    for at in range(0, len(items), _CELLS):
        part = items[at : at + _CELLS]
        try:
            yield [_dumps(_plain(joined(part), _Room(2 * _CELLS)))[1:-1]]
        except _TooManyItemsError:
            yield from (one(item, depth + 1) for item in part)


class _Room:
    """How many more items a piece takes, and how deep they are nested."""

    __slots__ = ("depth", "left")

    def __init__(self, left: float = math.inf) -> None:
        self.left, self.depth = left, 0


def _plain(value: Any, room: _Room) -> Any:
    """A value as JSON's own types."""
    kind = type(value)
    if kind in _AS_IS:
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, _CONTAINERS):
        return _container(value, room)
    return _leaf(value, room)


def _container(value: Any, room: _Room) -> Any:
    room.left -= len(value)
    room.depth += 1
    if room.depth > _MAX_DEPTH:
        raise RecursionError
    if room.left < 0:
        raise _TooManyItemsError
    if isinstance(value, Mapping):
        plain: Any = {_key(key): _plain(item, room) for key, item in value.items()}
    else:
        plain = [_plain(item, room) for item in value]
    room.depth -= 1
    return plain


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    plain = _plain(key, _Room(0)) if not isinstance(key, tuple) else None
    if isinstance(plain, str | int | float):
        return str(plain)
    raise UnfitError(f"{type(key).__name__} as a key")


def _leaf(value: Any, room: _Room) -> Any:
    """A value that is no container, or one of a library."""
    if type(value).__name__ in _NOT_A_VALUE:
        return None
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    kind = known_class(type(value))[1]
    if kind in _LIBRARY:
        return _of_library(value, kind, room)
    if isinstance(value, enum.Enum):
        return _plain(value.value, room)
    if isinstance(value, decimal.Decimal):
        return float(value) if value.is_finite() else None
    if isinstance(value, _TEXTS):
        return str(value)
    if isinstance(value, int):  # a subclass
        return int(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _plain({each.name: getattr(value, each.name) for each in fields(value)}, room)
    raise UnfitError(type(value).__qualname__)


def _of_library(value: Any, kind: str, room: _Room) -> Any:
    if kind in PICTURES:
        image = to_image(value)
        return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
    if read := _TABLES.get(kind):
        return [row for rows in _rows(*read(value)) for row in rows]
    if kind in _ARRAYS:
        return [item for items in _array_items(value, kind) for item in items]
    if kind == "numpy.generic":
        item = float(value) if value.dtype.kind == "f" else _timed(value).item()
        if type(item) is type(value):  # complex numbers of more than 16 bytes
            raise UnfitError(type(value).__name__)
        return _plain(item, room)
    return str(value)


_Columns = tuple[list[Any], int, Callable[[int, int], list[list[Any]]]]
"""Labels, the number of rows, and the cells of each column in a range of rows."""


def _rows(labels: list[Any], count: int, read: Callable[[int, int], list[list[Any]]]) -> Iterator[list[Any]]:
    """The rows of a table, several at a time."""
    names = _distinct(
        " / ".join(map(str, label)) if isinstance(label, tuple) else str(label) for label in labels
    )
    step = max(1, _CELLS // max(1, len(names)))
    for start in range(0, count, step):
        columns = [_cells(column) for column in read(start, min(start + step, count))]
        yield [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _cells(column: list[Any]) -> list[Any]:
    kinds = set(map(type, column))
    if kinds <= _AS_IS:
        return column
    if kinds == {float}:
        return [cell if math.isfinite(cell) else None for cell in column]
    if all(issubclass(kind, datetime.date) and kind.__name__ not in _NOT_A_VALUE for kind in kinds):
        return [cell.isoformat() for cell in column]
    return [cell if type(cell) in _AS_IS else _plain(cell, _Room()) for cell in column]


def _distinct(names: Iterable[str]) -> list[str]:
    distinct: dict[str, None] = {}
    for name in names:
        number, unique = 2, name
        while unique in distinct:
            number, unique = number + 1, f"{name}_{number}"
        distinct[unique] = None
    return list(distinct)


def _pandas_frame(value: Any) -> _Columns:
    levels = [] if _is_counted(value.index) else list(range(value.index.nlevels))
    labels = ["index" if name is None else name for name in value.index.names] if levels else []

    def read(start: int, stop: int) -> list[list[Any]]:
        part = value.iloc[start:stop]
        index = [part.index.get_level_values(level).tolist() for level in levels]
        return [*index, *(part.iloc[:, place].tolist() for place in range(part.shape[1]))]

    return [*labels, *value.columns], len(value), read


def _pandas_series(value: Any) -> _Columns:
    return _pandas_frame(value.to_frame("values" if value.name is None else value.name))


def _is_counted(index: Any) -> bool:
    """Whether an index only counts the rows."""
    return known_class(type(index))[1] == "pandas.RangeIndex"


def _polars_frame(value: Any) -> _Columns:
    def read(start: int, stop: int) -> list[list[Any]]:
        return [column.to_list() for column in value.slice(start, stop - start).get_columns()]

    return list(value.columns), value.height, read


def _arrow_table(value: Any) -> _Columns:
    def read(start: int, stop: int) -> list[list[Any]]:
        return [column.to_pylist() for column in value.slice(start, stop - start).columns]

    return list(value.schema.names), value.num_rows, read


_TABLES: dict[str, Callable[[Any], _Columns]] = {
    "pandas.DataFrame": _pandas_frame,
    "polars.DataFrame": _polars_frame,
    "pyarrow.Table": _arrow_table,
    "pyarrow.RecordBatch": _arrow_table,
}
_ARRAYS = frozenset(
    {
        "numpy.ndarray", "pandas.Series", "pandas.Index", "pandas.RangeIndex", "pandas.Categorical",
        "polars.Series", "pyarrow.Array", "pyarrow.ChunkedArray",
    }
)  # fmt: skip
_LIBRARY = frozenset({*PICTURES, *_TABLES, *_ARRAYS, *_PANDAS_TEXTS, "numpy.generic"})


def _array_items(value: Any, kind: str) -> Iterator[list[Any]]:
    """The items of an array, several at a time. A series whose index is more than a count has rows."""
    if kind == "pandas.Series" and not _is_counted(value.index):
        yield from _rows(*_pandas_series(value))
        return
    if kind == "numpy.ndarray" and value.ndim == 0:
        raise UnfitError("numpy.ndarray without dimensions")
    length = len(value)
    step = max(1, _CELLS // max(1, math.prod(value.shape[1:]) if kind == "numpy.ndarray" else 1))
    for start in range(0, length, step):
        part = value[start : start + step]
        items = part.to_pylist() if kind.startswith("pyarrow") else _timed(part).tolist()
        yield _cells(list(items))


def _timed(value: Any) -> Any:
    """NumPy's times at a precision that Python has; anything else as it is."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    is_numpy = known_class(type(value))[1] in ("numpy.ndarray", "numpy.generic")
    return value.astype(f"{kind}8[us]") if is_numpy and kind in "mM" and kind else value
