"""Encodes values as JSON for a page, in pieces that take a few milliseconds each.

Exported pages contain this module, so it imports only the standard library. Values of other libraries are recognized
by the name of their class, without an import.
"""

import base64
import contextlib
import datetime
import decimal
import enum
import io
import json
import math
import pathlib
import sys
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import Any

MAX_CHARACTERS = 50_000_000
"""Maximum characters of one value's JSON."""
_CELLS = 3_000
"""Maximum items, or table cells, per piece."""
_TEXT = 128_000
"""Maximum characters of texts per piece."""
_MAX_DEPTH = 100
_MAX_EDGE = 4096
"""Pixels to which a larger PIL image is scaled down."""
_UPRIGHT = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}
"""PIL's transposition for each EXIF orientation."""
_AS_IS = frozenset({str, int, float, bool, type(None)})
_SEQUENCES = (list, tuple, set, frozenset, deque, range)
_TABLES = frozenset({"pandas.DataFrame", "polars.DataFrame", "pyarrow.Table", "pyarrow.RecordBatch"})
_ARRAYS = frozenset(
    {
        "numpy.ndarray", "pandas.Series", "pandas.Index", "pandas.Categorical",
        "polars.Series", "pyarrow.Array", "pyarrow.ChunkedArray",
    }
)  # fmt: skip
_PICTURES = frozenset({"PIL.Image", "matplotlib.Figure", "matplotlib.Axes"})
_TEXTS = frozenset({"pandas.Period", "pandas.Interval"})
_CONVERSIONS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (enum.Enum, lambda value: value.value),
    (datetime.timedelta, datetime.timedelta.total_seconds),
    ((datetime.date, datetime.time), lambda value: value.isoformat()),
    ((float, decimal.Decimal), float),
    (int, int),
    ((str, uuid.UUID, pathlib.PurePath), str),
)
_KNOWN = frozenset({*_TABLES, *_ARRAYS, *_PICTURES, *_TEXTS, "numpy.generic"})


class EncodingError(ValueError):
    """A value cannot be encoded as JSON, or is too long."""


def json_pieces(name: str, value: Any, limit: int = MAX_CHARACTERS) -> Iterator[str]:
    """The JSON text of a value in pieces; raises `EncodingError` if it cannot be encoded or is too long."""
    size = 0
    try:
        for piece in _pieces(value, 0):
            size += len(piece)
            if size > limit:
                raise EncodingError(
                    f"has more than {limit / 1_000_000:.0f} MB as JSON, which is too much for a page. Bind fewer rows"
                    " or columns, or a function that returns those that the page asks for"
                )
            yield piece
    except EncodingError as error:
        raise EncodingError(f"`{name}` {error}.") from None
    except RecursionError:
        raise EncodingError(f"`{name}` is nested too deep, or contains itself.") from None
    except Exception as error:  # a user-defined class raised, or the value changed while being read
        raise EncodingError(f"`{name}` cannot be read as JSON: {type(error).__name__}.") from None


def _dumps(value: Any) -> str:
    """The JSON of plain types, with null for NaN and infinity."""
    try:
        if core := sys.modules.get("pydantic_core"):  # five times as fast
            return core.to_json(value, inf_nan_mode="null").decode()  # type: ignore[no-any-return]
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except ValueError:  # NaN, or a lone surrogate, which has no UTF-8 form
        return json.dumps(json.loads(json.dumps(value), parse_constant=lambda name: None))
    return text


def _pieces(value: Any, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        raise RecursionError
    library_class = _library_class(value) if type(value) not in _AS_IS else ""
    if type(value) is str and len(value) > _TEXT:
        parts = (value[at : at + _TEXT] for at in range(0, len(value), _TEXT))
        yield from ('"', *(_dumps(part)[1:-1] for part in parts), '"')
    elif type(value) in _AS_IS:
        yield _dumps(value)
    elif library_class in _TABLES:
        yield from _between("[]", _rows(value, library_class, depth))
    elif library_class in _ARRAYS and getattr(value, "ndim", 1) > 0:
        yield from _between("[]", _items(value, library_class, depth))
    elif isinstance(value, Mapping):
        batches = ({_key(key): item for key, item in batch} for batch in _batches(list(value.items())))
        yield from _between("{}", chain.from_iterable(_units(batch, depth) for batch in batches))
    elif isinstance(value, _SEQUENCES):
        items = value if isinstance(value, range) else list(value)  # a range may be huge
        yield from _between("[]", chain.from_iterable(_units(batch, depth) for batch in _batches(items)))
    else:
        yield from _pieces(_simpler(value, library_class), depth + 1)


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


def _batches(items: Any) -> Iterator[list[Any]]:
    return (list(items[at : at + _CELLS]) for at in range(0, len(items), _CELLS))


def _units(batch: Any, depth: int) -> Iterator[Iterable[str]]:
    """One unit for a list or dict of plain items; otherwise a unit per item."""
    if _is_plain(batch.values() if isinstance(batch, dict) else batch):
        yield [_dumps(batch)[1:-1]]
    elif isinstance(batch, dict):
        yield from (chain([_dumps(key) + ":"], _pieces(item, depth + 1)) for key, item in batch.items())
    else:
        yield from (_pieces(item, depth + 1) for item in batch)


def _is_plain(items: Collection[Any]) -> bool:
    """Whether the items can be encoded at once."""
    kinds = set(map(type, items))
    if str in kinds and sum(len(item) for item in items if type(item) is str) > _TEXT:
        return False
    return kinds <= _AS_IS


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    plain = json.loads("".join(_pieces(key, 0)))
    if isinstance(plain, str | int | float):
        return str(plain)
    raise _unfit(f"{type(key).__name__} as a key")


def _unfit(what: str) -> EncodingError:
    return EncodingError(
        f"contains a value of type {what}, which cannot be encoded as JSON. Bind tables, arrays, numbers, texts, lists"
        " and dicts of these, or figures"
    )


def _simpler(value: Any, library_class: str) -> Any:
    """The value as a type that is nearer to JSON."""
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    for types, convert in _CONVERSIONS:
        if isinstance(value, types):
            return convert(value)
    if library_class in _PICTURES:
        return _data_url(value, library_class)
    if library_class == "numpy.generic":
        item = float(value) if value.dtype.kind == "f" else _in_microseconds(value).item()
        if type(item) is not type(value):  # complex numbers of more than 16 bytes stay as they are
            return item
    elif library_class in _TEXTS:
        return str(value)
    elif is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    elif hasattr(value, "tolist") and not isinstance(value, type):  # arrays of other libraries
        return value.tolist()
    raise _unfit(type(value).__qualname__)


def _library_class(value: Any) -> str:
    """`pandas.DataFrame`: the known class or base class of a value; empty if there is none."""
    names = (f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in type(value).__mro__)
    return next((name for name in names if name in _KNOWN), "")


def _rows(value: Any, library_class: str, depth: int) -> Iterator[Iterable[str]]:
    """The rows of a table."""
    columns = list(_columns(value, library_class))
    names = _distinct(
        " / ".join(map(str, label)) if isinstance(label, tuple) else str(label) for label, _ in columns
    )
    step = max(1, _CELLS // max(1, len(names)))
    for start in range(0, len(value), step):
        batch = [_cells(column, start, start + step) for _, column in columns]
        rows = [dict(zip(names, row, strict=True)) for row in zip(*batch, strict=True)]
        if all(map(_is_plain, batch)):
            yield [_dumps(rows)[1:-1]]
        else:
            yield from (_pieces(row, depth + 1) for row in rows)


def _columns(value: Any, library_class: str) -> Iterator[tuple[Any, Any]]:
    """The labels and columns of a table. An index that does not merely count the rows is a column, too."""
    if library_class == "polars.DataFrame":
        yield from ((column.name, column) for column in value.get_columns())
    elif library_class == "pandas.DataFrame":
        index = value.index
        for place, name in enumerate(index.names if type(index).__name__ != "RangeIndex" else ()):
            yield "index" if name is None else name, index.get_level_values(place)
        yield from ((label, value.iloc[:, place]) for place, label in enumerate(value.columns))
    else:
        yield from zip(value.schema.names, value.columns, strict=True)


def _distinct(names: Iterable[str]) -> list[str]:
    distinct: dict[str, None] = {}
    for name in names:
        number, unique = 2, name
        while unique in distinct:
            number, unique = number + 1, f"{name}_{number}"
        distinct[unique] = None
    return list(distinct)


def _items(value: Any, library_class: str, depth: int) -> Iterator[Iterable[str]]:
    """The items of an array. A series with a meaningful index has rows."""
    if library_class == "pandas.Series" and type(value.index).__name__ != "RangeIndex":
        frame = value.to_frame("values" if value.name is None else value.name)
        yield from _rows(frame, "pandas.DataFrame", depth)
        return
    width = math.prod(getattr(value, "shape", ())[1:])
    if width > _CELLS:
        yield from (_pieces(row, depth + 1) for row in value)
        return
    step = _CELLS // max(1, width)
    for start in range(0, len(value), step):
        yield from _units(_cells(value, start, start + step), depth)


def _cells(column: Any, start: int, stop: int) -> list[Any]:
    """Items of an array or a column, with dates as texts."""
    part = _in_microseconds(getattr(column, "iloc", column)[start:stop])
    methods = (getattr(part, name, None) for name in ("tolist", "to_list", "to_pylist"))
    cells: list[Any] = next(filter(None, methods))()
    kinds = set(map(type, cells))
    if all(issubclass(kind, datetime.date) and kind.__name__ != "NaTType" for kind in kinds):
        return [cell.isoformat() for cell in cells]
    return cells


def _in_microseconds(value: Any) -> Any:
    """NumPy times in Python's precision; other values unchanged."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    is_time = kind in ("m", "M") and _library_class(value).startswith("numpy.")
    return value.astype(f"{kind}8[us]") if is_time else value


def _data_url(value: Any, library_class: str) -> str:
    """A picture as PNG, or as JPEG if it was one."""
    buffer, kind = io.BytesIO(), "png"
    if library_class == "PIL.Image":
        image = _web_image(value)
        kind = "jpeg" if value.format == "JPEG" and image.mode != "RGBA" else kind
        image.save(buffer, kind, quality=88)
    else:
        while not hasattr(value, "savefig"):  # axes
            value = value.figure
        value.savefig(buffer, format=kind)
    return f"data:image/{kind};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _web_image(value: Any) -> Any:
    """A copy of a PIL image that is upright, not too large, and of a mode that browsers can show."""
    image = value.copy()
    with contextlib.suppress(Exception):  # EXIF data can be damaged
        image = image.transpose(_UPRIGHT[value.getexif()[274]])
    image.thumbnail((_MAX_EDGE, _MAX_EDGE))
    if image.mode[0] in "IF":
        low, high = image.getextrema()
        scale = 255.0 / (high - low) if high > low else 1.0
        return image.convert("F").point(lambda pixel: (pixel - low) * scale).convert("L")
    if image.mode in ("L", "RGB", "RGBA"):
        return image
    is_transparent = image.mode[-1] in "Aa" or "transparency" in image.info
    return image.convert("RGBA" if is_transparent else "RGB")
