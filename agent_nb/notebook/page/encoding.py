"""Encodes notebook values as JSON for a page, in pieces that take a few milliseconds each."""

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

from pydantic_core import PydanticSerializationError, to_json

from agent_nb.core.errors import ConfigError
from agent_nb.images.convert import to_image
from agent_nb.notebook.values.kinds import PICTURES, TABLES, known_class

MAX_CHARACTERS = 50_000_000
"""Maximum characters of one value's JSON."""
CHUNK = 1_000_000
"""Maximum characters per message. Each message takes about 2 ms to deliver, and a long one blocks the loop."""
_CELLS = 3_000
"""Maximum items, or table cells, per piece."""
_TEXT = 128_000
"""Maximum characters of a text per piece."""
_MAX_DEPTH = 100
_AS_IS = frozenset({str, int, float, bool, type(None)})
_SEQUENCES = (list, tuple, set, frozenset, deque, range)
_CONTAINERS = (Mapping, *_SEQUENCES)
_NOT_A_VALUE = frozenset({"NaTType", "NAType"})
_TEXTS = (str, uuid.UUID, pathlib.PurePath)
_PANDAS_TEXTS = frozenset({"pandas.Period", "pandas.Interval"})
_ARRAYS = frozenset(
    {
        "numpy.ndarray", "pandas.Series", "pandas.Index", "pandas.RangeIndex", "pandas.Categorical",
        "polars.Series", "pyarrow.Array", "pyarrow.ChunkedArray",
    }
)  # fmt: skip
_LIBRARY = frozenset({*PICTURES, *TABLES, *_ARRAYS, *_PANDAS_TEXTS, "numpy.generic"})


class UnfitError(Exception):
    """A value of this type cannot be encoded as JSON."""


class _TooManyItemsError(Exception):
    """There are too many items for one piece."""


def json_pieces(name: str, value: Any, limit: int = MAX_CHARACTERS) -> Iterator[str]:
    """The JSON text of a value in pieces; raises `ConfigError` if it cannot be encoded or is too long."""
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
            f"`{name}` contains a value of type {error}, which cannot be encoded as JSON. Bind tables, arrays,"
            " numbers, texts, lists and dicts of these, or figures."
        ) from None
    except RecursionError:
        raise ConfigError(f"`{name}` is nested too deep, or contains itself.") from None
    except ConfigError:
        raise
    except Exception as error:  # a user-defined class raised, or the value changed while being read
        raise ConfigError(f"`{name}` cannot be read as JSON: {type(error).__name__}.") from None


def chunks(pieces: Iterable[str]) -> Iterator[str]:
    """Regroup the text into messages of at most `CHUNK` characters."""
    buffer, size = list[str](), 0
    for piece in pieces:
        buffer.append(piece)
        size += len(piece)
        if size >= CHUNK:
            text = "".join(buffer)
            yield from (text[at : at + CHUNK] for at in range(0, size, CHUNK))
            buffer, size = [], 0
    if buffer:
        yield "".join(buffer)


def within(seconds: float, pieces: Iterator[str], output: list[str]) -> bool:
    """Append pieces to `output` for at most `seconds`; return whether all were consumed."""
    end = time.monotonic() + seconds
    for piece in pieces:
        output.append(piece)
        if time.monotonic() > end:
            return False
    return True


def _dumps(value: Any) -> str:
    """The JSON of plain types, with null for NaN and infinity."""
    try:
        return to_json(value, inf_nan_mode="null").decode()  # five times as fast as `json.dumps`
    except PydanticSerializationError:  # a lone surrogate has no UTF-8 form
        return json.dumps(json.loads(json.dumps(value), parse_constant=lambda name: None))


def _pieces(value: Any, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        raise RecursionError
    kind = known_class(type(value))[1]
    if isinstance(value, str) and len(value) > _TEXT:
        parts = (value[at : at + _TEXT] for at in range(0, len(value), _TEXT))
        yield '"'
        yield from (_dumps(part)[1:-1] for part in parts)
        yield '"'
    elif kind in TABLES:
        yield from _between("[]", ([_dumps(rows)[1:-1]] for rows in _rows(value, kind)))
    elif kind == "numpy.ndarray" and value.ndim > 1 and math.prod(value.shape[1:]) > _CELLS:
        yield from _between("[]", (_pieces(row, depth + 1) for row in value))
    elif kind in _ARRAYS:
        yield from _between("[]", ([_dumps(items)[1:-1]] for items in _array_items(value, kind)))
    elif isinstance(value, Mapping):
        yield from _between("{}", _units(list(value.items()), depth, dict, _pair))
    elif isinstance(value, _SEQUENCES):
        items = value if isinstance(value, range) else list(value)  # a range may be huge
        yield from _between("[]", _units(items, depth, list, _pieces))
    else:
        yield _dumps(_plain(value, _Room()))


def _pair(pair: tuple[Any, Any], depth: int) -> Iterator[str]:
    yield f"{_dumps(_key(pair[0]))}:"
    yield from _pieces(pair[1], depth)


def _between(ends: str, units: Iterable[Iterable[str]]) -> Iterator[str]:
    """The units separated by commas. A unit may consist of several pieces."""
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
    build: Callable[[Sequence[Any]], Any],
    encode: Callable[[Any, int], Iterator[str]],
) -> Iterator[Iterable[str]]:
    """Group small items into one unit; large items become separate units."""
    for at in range(0, len(items), _CELLS):
        part = items[at : at + _CELLS]
        try:
            yield [_dumps(_plain(build(part), _Room(2 * _CELLS)))[1:-1]]
        except _TooManyItemsError:
            yield from (encode(item, depth + 1) for item in part)


class _Room:
    """Remaining items of a piece, and the current nesting depth."""

    __slots__ = ("depth", "left")

    def __init__(self, left: float = math.inf) -> None:
        self.left, self.depth = left, 0


def _plain(value: Any, room: _Room) -> Any:
    """The value converted to plain JSON types."""
    kind = type(value)
    if kind in _AS_IS:
        return value
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
    """Convert a value of a library's type, or one that is not a container."""
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
    if isinstance(value, float | decimal.Decimal):
        return float(value)
    if isinstance(value, _TEXTS):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _plain({item.name: getattr(value, item.name) for item in fields(value)}, room)
    raise UnfitError(type(value).__qualname__)


def _of_library(value: Any, kind: str, room: _Room) -> Any:
    if kind in PICTURES:
        image = to_image(value)
        return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
    if kind in TABLES:
        return [row for rows in _rows(value, kind) for row in rows]
    if kind in _ARRAYS:
        return [item for items in _array_items(value, kind) for item in items]
    if kind == "numpy.generic":
        item = float(value) if value.dtype.kind == "f" else _timed(value).item()
        if type(item) is type(value):  # complex numbers of more than 16 bytes
            raise UnfitError(type(value).__name__)
        return _plain(item, room)
    return str(value)


def _rows(value: Any, kind: str) -> Iterator[list[Any]]:
    """The rows of a table, in batches."""
    labelled, library = TABLES[kind]
    columns, count = labelled(value), len(value)
    names = _distinct(
        " / ".join(map(str, label)) if isinstance(label, tuple) else str(label) for label, _ in columns
    )
    step = max(1, _CELLS // max(1, len(names)))
    for start in range(0, count, step):
        stop = min(start + step, count)
        batch = [_cells(list(library.cells(column, start, stop))) for _, column in columns]
        yield [dict(zip(names, row, strict=True)) for row in zip(*batch, strict=True)]


def _cells(column: list[Any]) -> list[Any]:
    kinds = set(map(type, column))
    if kinds <= _AS_IS:
        return column
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


def _array_items(value: Any, kind: str) -> Iterator[list[Any]]:
    """The items of an array, in batches. A series with a meaningful index yields rows."""
    if kind == "pandas.Series" and known_class(type(value.index))[1] != "pandas.RangeIndex":
        frame = value.to_frame("values" if value.name is None else value.name)
        yield from _rows(frame, "pandas.DataFrame")
        return
    length = len(value)
    step = max(1, _CELLS // max(1, math.prod(value.shape[1:]) if kind == "numpy.ndarray" else 1))
    method = {"polars": "to_list", "pyarrow": "to_pylist"}.get(kind.partition(".")[0], "tolist")
    for start in range(0, length, step):
        yield _cells(getattr(_timed(value[start : start + step]), method)())


def _timed(value: Any) -> Any:
    """NumPy times converted to microseconds, Python's precision; other values unchanged."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    is_numpy = known_class(type(value))[1] in ("numpy.ndarray", "numpy.generic")
    return value.astype(f"{kind}8[us]") if is_numpy and kind in "mM" and kind else value
