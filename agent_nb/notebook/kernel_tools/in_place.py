"""Changes inside objects: tables, arrays and containers, compared before and after code runs."""

import contextlib
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from agent_nb._base.secrets import safe_line
from agent_nb.core.limited import UnreadableError, call_within
from agent_nb.notebook.values.classes import known_class, size_of
from agent_nb.notebook.values.kinds import kind_of

SECONDS = 0.02
"""Time limit for reading the objects, before the code and again after it. What is not read in time is not compared."""
COMPARE_SECONDS = 0.01
MAX_BYTES = 20_000_000
"""Arrays that are larger are compared only by type and shape."""
MAX_ITEMS = 100_000
MOST_COLUMNS = 5
WIDTH = 40
_ARRAYS = ("pandas.DataFrame", "pandas.Series", "polars.DataFrame", "polars.Series", "numpy.ndarray")
_CONTAINERS = (list, dict, set, tuple)
_PARTS = ("_ndarray", "_data", "_mask", "_pa_array")
"""Attributes in which pandas arrays store their values."""


class Snapshot(NamedTuple):
    size: str
    """`12 rows`, `3 items`, `2 x 3`"""
    contents: dict[Any, list[Any]]
    """The contents to compare, by column; the key is None if the object has no columns."""
    kept: list[Any]
    """Objects that are compared by id, kept so that no new object gets the same id."""

    def difference(self, after: "Snapshot") -> str:
        """`+ revenue`, `3 items → 4 items`, or empty."""
        old, new = self.contents, after.contents
        # A snapshot that ran out of time has fewer contents to compare.
        changed = [
            label
            for label in new
            if any(one != other for one, other in zip(old.get(label, ()), new[label], strict=False))
        ]
        parts = [
            f"{self.size} → {after.size}" if self.size != after.size else "",
            _listed("+", [label for label in new if label not in old]),
            _listed("-", [label for label in old if label not in new]),
            _listed("changed", changed) if self.size == after.size else "",
        ]
        return ", ".join(filter(None, parts))


def snapshots(values: Mapping[str, Any]) -> dict[str, Snapshot]:
    """Snapshots of tables, arrays and containers: the sizes and columns of all, then contents until the time is up.

    The contents of items of containers are read last.
    """
    outlines: dict[str, Snapshot] = {}

    def read_all() -> None:
        for name, value in values.items():
            with contextlib.suppress(Exception):  # one unreadable object must not hide the others
                outlines.update({name: outline} if (outline := _outline(value)) else {})
        for name, outline in list(outlines.items()):
            with contextlib.suppress(Exception):
                for label, column in _columns(values[name]):
                    outline.contents[label] += _contents(column, outline.kept)
        for name, outline in list(outlines.items()):
            with contextlib.suppress(Exception):
                if issubclass(type(values[name]), _CONTAINERS):
                    outline.contents[None] += _nested(values[name], outline.kept)

    with contextlib.suppress(UnreadableError):
        call_within(SECONDS, read_all)
    return dict(outlines)


def differences(before: Mapping[str, Snapshot], values: Mapping[str, Any]) -> dict[str, str]:
    """What has changed in these objects since their snapshots, by name."""
    after = snapshots({name: value for name, value in values.items() if name in before})
    texts: dict[str, str] = {}

    def compare() -> None:
        for name, snapshot in after.items():
            texts[name] = before[name].difference(snapshot)

    with contextlib.suppress(UnreadableError):
        call_within(COMPARE_SECONDS, compare)
    return {name: text for name, text in list(texts.items()) if text}


def _outline(value: Any) -> Snapshot | None:
    kind = kind_of(value)
    if kind is not None and known_class(type(value))[1] in _ARRAYS:
        columns = {label: [dtype] for label, dtype in kind.columns(value)}
        rows, *_ = size_of(value).split(" x ")
        return Snapshot(size_of(value) if None in columns else rows, columns, [])
    return Snapshot(size_of(value), {None: []}, []) if issubclass(type(value), _CONTAINERS) else None


def _columns(value: Any) -> Iterable[tuple[Any, Any]]:
    match known_class(type(value))[1]:
        case "pandas.DataFrame":
            return value.items()  # type: ignore[no-any-return]
        case "polars.DataFrame":
            return [(column.name, column) for column in value.get_columns()]
    return [(None, value)]


def _contents(value: Any, kept: list[Any]) -> Iterator[Any]:
    known, kind = known_class(type(value))
    if kind == "pandas.Series":
        for part in (getattr(value.array, name) for name in _PARTS if hasattr(value.array, name)):
            yield from _contents(part, kept)
    elif kind == "polars.Series":
        try:
            yield from _contents(value.to_numpy(allow_copy=False), kept)
        except RuntimeError:  # text, and columns with missing values
            yield zlib.crc32(repr(value.to_list()).encode()) if len(value) <= MAX_ITEMS else None
    elif kind == "numpy.ndarray":
        if value.dtype.kind == "O" and value.size <= MAX_ITEMS:
            yield _ids(value.ravel().tolist(), kept)
        elif not value.dtype.hasobject and value.nbytes <= MAX_BYTES:
            yield zlib.crc32(value.tobytes())
    elif not issubclass(known, _CONTAINERS):  # Arrow data, which is replaced when it changes
        yield _ids([value], kept)
    elif known.__len__(value) <= MAX_ITEMS:
        yield _ids(_items(value), kept)


def _nested(value: Any, kept: list[Any]) -> Iterator[Any]:
    """The contents of the containers, tables and arrays in a container, level by level."""
    containers, seen, count = [value], {id(value)}, 0
    for container in containers:
        known: Any = known_class(type(container))[0]
        count += known.__len__(container)
        if count > MAX_ITEMS:
            return
        items = list(_items(container))
        kinds = {*filter(_is_compared, {*map(type, items)})}
        for item in items if kinds else ():
            if type(item) not in kinds or id(item) in seen:
                continue
            seen.add(id(item))
            if issubclass(type(item), _CONTAINERS):
                containers.append(item)
            elif outline := _outline(item):
                yield outline.size, [hash(label) for label in outline.contents]
            for _, column in _columns(item):
                yield from _contents(column, kept)


def _is_compared(kind: type) -> bool:
    return issubclass(kind, _CONTAINERS) or known_class(kind)[1] in _ARRAYS


def _items(value: Any) -> Iterable[Any]:
    """The items of a container, read as its built-in type does."""
    if issubclass(type(value), dict):
        return (*dict.keys(value), *dict.values(value))
    if issubclass(type(value), set):
        return sorted(set.__iter__(value), key=id)
    return list.__iter__(value) if issubclass(type(value), list) else tuple.__iter__(value)


def _ids(items: Iterable[Any], kept: list[Any]) -> list[int]:
    objects = list(items)
    kept.append(objects)
    return list(map(id, objects))


def _listed(verb: str, labels: list[Any]) -> str:
    """`+ revenue, tax and 3 more`"""
    if not labels:
        return ""
    names = [safe_line(str(label), WIDTH) for label in labels[:MOST_COLUMNS]]
    names = ["values"] if labels == [None] else names
    more = f" and {len(labels) - MOST_COLUMNS:,} more" if len(labels) > MOST_COLUMNS else ""
    return f"{verb} {', '.join(names)}{more}"
