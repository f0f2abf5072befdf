"""Masks values by name: variables, keys, fields and columns with secret names."""

import contextlib
import copy
import dataclasses
import datetime
import inspect
import operator
import os
from collections import ChainMap, UserList, deque
from collections.abc import Collection, ItemsView, Iterable, KeysView, Mapping, ValuesView
from enum import Enum
from functools import lru_cache
from numbers import Number
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, ModuleType, SimpleNamespace
from typing import Any

from agent_nb._base.secrets import MASK, is_secret_name, register, secret_pairs
from agent_nb.notebook.user_variables import is_of
from agent_nb.notebook.values.kinds import kind_of
from agent_nb.notebook.values.tables import columns_only, is_text

DEPTH = 8
_OBJECTS = 3
"""Maximum nesting of objects to search. A `repr` seldom shows more, and deep object graphs reach everything."""
_NO_TEXT = (
    Number, type(None), datetime.date, datetime.time, datetime.timedelta, range,
    type, FunctionType, BuiltinFunctionType, ModuleType,
)  # fmt: skip
"""Types with no text to mask and no content that a description shows."""
_LEAVES = (str, bytes, bytearray, *_NO_TEXT)
PLAIN = frozenset({str, bytes, int, float, complex, bool, type(None)})
BUILT_IN = frozenset({dict, list, tuple, set, frozenset})
_ITEMS = (list, tuple, set, frozenset, deque, UserList)
_CONTAINERS = (Mapping, *_ITEMS)


class MaskedValue(str):
    """Placeholder for a masked value. Paths cannot go below it."""

    __slots__ = ()


def is_secret(name: Any, value: Any) -> bool:
    """Whether a value has text to mask and a secret name: `api_key`, `config["client-secret"]`."""
    return is_secret_name(name) and holds_text(value)


def holds_text(value: Any, depth: int = 4) -> bool:
    """Whether a value with a secret name has text to mask: numbers and dates do not, unknown objects may."""
    if isinstance(value, _NO_TEXT) or _is_own(value):
        return False
    if kind := kind_of(value):
        dtypes = [dtype for _, dtype in kind.columns(value)]
        return not dtypes or any(map(is_text, dtypes))
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, _ITEMS):
        return depth == 0 or any(holds_text(item, depth - 1) for item in value)
    return True


def is_table(value: Any) -> bool:
    """Whether the value is of a known kind, such as a table, or has a column with a secret name."""
    return kind_of(value) is not None or any(map(is_secret_name, _labels(value)))


def _labels(value: Any) -> list[Any]:
    try:
        if inspect.getattr_static(value, "columns", None) is None:  # a proxy's `__getattr__` accepts any name
            return []
        columns = value.columns
        return list(columns) if isinstance(columns, Iterable) and not isinstance(columns, str | bytes) else []
    except Exception:  # a property can raise anything
        return []


def mask_environment() -> None:
    """Mask the values of environment variables with secret names, such as `JUPYTERHUB_API_TOKEN`."""
    for name, value in os.environ.items():
        if is_secret_name(name) and not os.path.exists(value):
            register(value, f"`{name}`")


def stored(value: Any) -> dict[str, Any]:
    """An object's stored attributes, read without running its code and without cached properties."""
    kind = type(value)
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        attributes = {}
    fields = {
        name: item for name, item in attributes.items() if not hasattr(getattr(kind, name, None), "__get__")
    }
    for name, member in _members(kind):  # type: ignore[arg-type]
        with contextlib.suppress(AttributeError):  # not set
            fields[name] = member.__get__(value)
    if isinstance(value, BaseException):
        fields["args"] = value.args
    return fields


@lru_cache(maxsize=1024)
def _members(kind: type) -> list[tuple[str, MemberDescriptorType]]:
    names = {name for base in kind.__mro__ for name in vars(base)} - {"__dict__", "__weakref__"}
    members = [(name, inspect.getattr_static(kind, name)) for name in sorted(names)]
    return [(name, member) for name, member in members if isinstance(member, MemberDescriptorType)]


class Masks:
    """Makes masked copies of values and collects the names that were masked."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._found = False
        """Whether anything was masked. Comparing copies is not enough: a recursive value always differs."""
        self._objects = 0
        self._done: dict[tuple[int, int], tuple[Any, Any]] = {}
        """Containers and their copies, by id and object nesting depth."""

    def over(self, value: Any, depth: int = DEPTH) -> Any:
        """The same object if it contains no secret, else a masked copy truncated below `depth` levels."""
        self._found, self._done = False, {}
        masked = self._over(value, depth)
        return masked if self._found else value

    def _over(self, value: Any, depth: int) -> Any:
        if type(value) in PLAIN or _is_own(value):
            return value
        if isinstance(value, _LEAVES) and not (
            isinstance(value, Number | str) and hasattr(value, "__dict__")
        ):
            return value
        # Fast path: most containers, also large ones, contain only plain values.
        if type(value) in BUILT_IN and type(value) is not dict and set(map(type, value)) <= PLAIN:
            return self._pair(value)
        place = id(value), self._objects
        if place in self._done:
            return self._done[place][1]
        if depth == 0:
            self._found = True
            return MaskedValue("…")
        self._done[place] = value, MaskedValue("…")
        masked = self._copy(value, depth - 1)
        if masked is value and isinstance(value, _CONTAINERS) and type(value) not in BUILT_IN:
            masked = self._object(value)  # a `repr` may show fields of the container too
        self._done[place] = value, masked
        return masked

    def note_masked(self, name: Any, item: Any) -> None:
        """Note that the item with this name is masked."""
        self._found = True
        if str(name) not in self.names:
            self.names.append(str(name))

    def _copy(self, value: Any, depth: int) -> Any:
        if type(value) not in BUILT_IN and self._is_table(value):
            return self._known(value, depth)
        match value:
            case ChainMap():
                return self._rebuilt(value, value.maps, lambda maps: ChainMap(*maps), depth)
            case Mapping():
                return self._mapping(value, depth)
            case ItemsView() | KeysView() | ValuesView() if hasattr(value, "mapping"):
                return self._rebuilt(value, [value.mapping], lambda mappings: mappings[0], depth)
            case tuple() if names := getattr(value, "_fields", None):
                items = self._fields(dict(zip(names, value, strict=True)), depth).values()
                return value if _all_identical(items, value) else tuple.__new__(type(value), items)
            case deque():
                return self._rebuilt(value, value, lambda items: deque(items, value.maxlen), depth)
            case UserList():
                return self._rebuilt(value, value.data, UserList, depth)
            case list() | tuple() | set() | frozenset():
                kind = next(kind for kind in _ITEMS if isinstance(value, kind))
                return self._pair(self._rebuilt(value, value, kind, depth))
            case Enum():
                masked = self._item(value.name, value.value, depth)
                return value if masked is value.value else MaskedValue(f"{type(value).__name__}.{value.name}")
            case _:
                return self._record(value, depth) if _is_record(value) else self._object(value)

    def _pair(self, value: Any) -> Any:
        """Mask a pair of a name and a value, as in a list of headers."""
        if type(value) not in (list, tuple) or len(value) != 2 or not isinstance(value[0], str | tuple):
            return value
        if not is_secret(*value):
            return value
        self.note_masked(value[0], value[1:])
        return type(value)((value[0], MaskedValue(MASK)))

    def _fields(self, fields: Mapping[Any, Any], depth: int) -> dict[Any, Any]:
        """The fields of a record, masked by their own names or as pairs of a name and a value."""
        names = secret_pairs(fields)
        return {label: self._item(names.get(label, label), item, depth) for label, item in fields.items()}

    def _is_table(self, value: Any) -> bool:
        return is_table(value)

    def _known(self, value: Any, depth: int) -> Any:
        if kind := kind_of(value):
            masked = kind.mask(value, lambda cell: self._over(cell, depth), self.note_masked)
        else:
            labels = _labels(value)
            masked = columns_only(value, labels)
            for label in filter(is_secret_name, labels):
                self.note_masked(label, None)
        return MaskedValue(masked) if isinstance(masked, str) else masked

    def _rebuilt(self, value: Any, items: Iterable[Any], build: Any, depth: int) -> Any:
        before = list(items)
        masked = [self._over(item, depth) for item in before]
        return value if _all_identical(masked, before) else build(masked)

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> Any:
        items = dict(value.items())
        fields = self._fields(items, depth).items()
        masked = {self._over(key, depth): item for key, item in fields}
        same = _all_identical(masked, items) and _all_identical(masked.values(), items.values())
        return value if same else masked

    def _item(self, name: Any, item: Any, depth: int) -> Any:
        if not is_secret(name, item):
            return self._over(item, depth)
        self.note_masked(name, item)
        return MaskedValue(MASK)

    def _record(self, value: Any, depth: int) -> Any:
        """A masked copy of the same class, which keeps its `repr`."""
        fields = stored(value)
        masked = self._fields(fields, depth)
        if _all_identical(masked.values(), fields.values()):
            return value
        if not hasattr(value, "__del__"):
            with contextlib.suppress(Exception):  # a class that cannot be copied
                copied = copy.copy(value)
                for name in set(getattr(copied, "__dict__", ())) - set(masked):  # such as cached properties
                    object.__delattr__(copied, name)
                for name, item in masked.items():
                    object.__setattr__(copied, name, item)  # works for frozen classes too
                return copied
        return _fields_only(value, fields)

    def _object(self, value: Any) -> Any:
        """Reduce an object with a secret to its field names: a copy could expose it under another name."""
        if self._objects == _OBJECTS:
            return value
        self._objects += 1
        fields = stored(value)
        same = _all_identical(self._fields(fields, DEPTH).values(), fields.values())
        # For example a dataclass field, whose default may be a secret.
        if is_secret_name(name := fields.get("name", fields.get("_name"))):
            self.note_masked(name, None)
            same = False
        self._objects -= 1
        return value if same else _fields_only(value, fields)


def _all_identical(items: Collection[Any], originals: Collection[Any]) -> bool:
    return len(items) == len(originals) and all(map(operator.is_, items, originals))


def _is_own(value: Any) -> bool:
    """Whether the value's class is part of this package, such as a run, which has no secret fields."""
    return type(value).__module__.partition(".")[0] == "agent_nb" and not isinstance(value, Mapping)


def _is_record(value: Any) -> bool:
    """Whether all state is in the fields: a dataclass, a namespace, a pydantic or attrs model."""
    kind = type(value)
    if dataclasses.is_dataclass(kind) or isinstance(value, SimpleNamespace):
        return True
    if isinstance(getattr(kind, "model_fields", None), dict):
        return True
    return hasattr(kind, "__attrs_attrs__") or is_of(value, "argparse", "Namespace")


def _fields_only(value: Any, fields: Iterable[str]) -> MaskedValue:
    public_fields = [name for name in fields if not name.startswith("_")]
    listing = f" with the fields {', '.join(public_fields)}" if public_fields else ""
    return MaskedValue(f"{type(value).__name__}{listing}; its values are masked")
