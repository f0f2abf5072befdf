"""Turns a type annotation into its JSON schema, and a JSON value into what the annotation promises.

Cassettes are matched by these schemas, byte for byte. Pydantic writes others, and takes 75 ms to import.
"""

import collections.abc
import enum
import functools
import types
import typing
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, Literal

from agent_nb._base.wire import Json
from agent_nb.errors import ToolError
from agent_nb.tools.schema import compile_schema, object_schema

_LISTS = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable)
_DICTS = (dict, collections.abc.Mapping)


@dataclass(frozen=True, slots=True)
class Reader:
    schema: Json
    """What the model is shown."""
    read: Callable[[Any], Any]
    """Converts a JSON value that fits the schema."""


def reader(annotation: Any) -> Reader:
    """The reader for an annotation. Raises a TypeError whose message continues "The parameter ..."."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    found = None
    if origin is typing.Annotated:
        found = _annotated(*arguments)
    elif origin is not None:
        found = _generic(origin, arguments)
    elif isinstance(annotation, collections.abc.Hashable) and annotation in _SIMPLE:
        found = _SIMPLE[annotation]
    elif isinstance(annotation, type):
        found = _class(annotation)
    if found is None:
        raise _unsupported(annotation)
    return found


def _same(value: Any) -> Any:
    return value


_SIMPLE: dict[Any, Reader] = {
    Any: Reader({}, _same),
    object: Reader({}, _same),
    str: Reader({"type": "string"}, _same),
    bool: Reader({"type": "boolean"}, _same),
    int: Reader({"type": "integer"}, int),  # 3.0 is an integer in JSON Schema
    float: Reader({"type": "number"}, float),
    type(None): Reader({"type": "null"}, _same),
    list: Reader({"type": "array"}, _same),
    dict: Reader({"type": "object"}, _same),
}


def _annotated(annotation: Any, *notes: Any) -> Reader:
    inner = reader(annotation)
    description = " ".join(note for note in notes if isinstance(note, str))
    return Reader({**inner.schema, "description": description}, inner.read) if description else inner


def _generic(origin: Any, arguments: tuple[Any, ...]) -> Reader | None:
    if origin in (typing.Required, typing.NotRequired):
        return reader(arguments[0])
    if origin is Literal:
        return Reader(_enum(arguments), _same)
    if origin in (typing.Union, types.UnionType):
        return _union([reader(option) for option in arguments])
    if origin in _LISTS and (origin is not tuple or arguments[1:] == (Ellipsis,)):
        return _list(origin, reader(arguments[0]))
    if origin in _DICTS and arguments[0] is str:
        return _dict(reader(arguments[1]))
    return None


def _class(kind: type) -> Reader | None:
    if issubclass(kind, enum.Enum):
        return Reader(_enum([member.value for member in kind]), kind)
    if is_dataclass(kind):
        given = [one for one in fields(kind) if one.init]
        required = [one.name for one in given if one.default is MISSING and one.default_factory is MISSING]
        return _object(kind, [one.name for one in given], required)
    if typing.is_typeddict(kind):
        names, required_keys = list(typing.get_type_hints(kind)), getattr(kind, "__required_keys__", ())
        return _object(kind, names, [name for name in names if name in required_keys])
    return None


def _object(kind: type, names: list[str], required: list[str]) -> Reader:
    hints = typing.get_type_hints(kind, include_extras=True)
    readers = {name: reader(hints[name]) for name in names}
    schema = object_schema({name: one.schema for name, one in readers.items()}, required)
    return Reader(
        schema, lambda value: kind(**{name: readers[name].read(item) for name, item in value.items()})
    )


def _list(origin: Any, item: Reader) -> Reader:
    build = origin if origin in (tuple, set, frozenset) else list
    return Reader(
        {"type": "array", "items": item.schema}, lambda value: build(item.read(one) for one in value)
    )


def _dict(item: Reader) -> Reader:
    return Reader(
        {"type": "object", "additionalProperties": item.schema},
        lambda value: {key: item.read(one) for key, one in value.items()},
    )


def _union(options: list[Reader]) -> Reader:
    @functools.cache
    def checks() -> list[Callable[[Any], None]]:
        return [compile_schema(option.schema) for option in options]

    def read(value: Any) -> Any:
        for option, check in zip(options, checks(), strict=True):
            try:
                check(value)
            except ToolError:
                continue
            return option.read(value)
        return value

    return Reader({"anyOf": [option.schema for option in options]}, read)


def _enum(values: typing.Iterable[Any]) -> Json:
    values = list(values)
    kinds = {type(value) for value in values}
    if not kinds <= {str, int, bool, float, type(None)}:
        raise TypeError("has choices that are not JSON values: use strings or numbers.")
    names = {str: "string", int: "integer", bool: "boolean", float: "number"}
    kind = names.get(next(iter(kinds))) if len(kinds) == 1 else None
    return {"type": kind, "enum": values} if kind else {"enum": values}


def _unsupported(annotation: Any) -> TypeError:
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return TypeError(
        f"is annotated {name}, which has no JSON schema: use str, int, float, bool, list, dict, Literal,"
        " an Enum, a dataclass or a TypedDict of those."
    )
