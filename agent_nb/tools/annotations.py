"""From a type annotation to its JSON schema, and from a JSON value to what the annotation promises."""

import collections.abc
import enum
import types
import typing
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, Literal

from agent_nb.errors import ToolError
from agent_nb.tools.schema import compile_schema
from agent_nb.wire import Json

_PLAIN = {str: "string", bool: "boolean", type(None): "null", None: "null", list: "array", dict: "object"}
_LISTS = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable)
_DICTS = (dict, collections.abc.Mapping)


@dataclass(frozen=True, slots=True)
class Reader:
    """`schema` for the model, `read` for the value it sends."""

    schema: Json
    read: Callable[[Any], Any]


def reader(annotation: Any) -> Reader:
    """Raises a TypeError that goes on from the words "The parameter ..."."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        inner = reader(arguments[0])
        words = " ".join(word for word in arguments[1:] if isinstance(word, str))
        return Reader({**inner.schema, "description": words}, inner.read) if words else inner
    if annotation in (Any, object):
        return Reader({}, _same)
    if annotation is int:
        return Reader({"type": "integer"}, int)  # a schema's integer may come as 3.0
    if annotation is float:
        return Reader({"type": "number"}, float)
    if origin is Literal:
        return Reader(_enum(arguments), _same)
    if origin in (typing.Union, types.UnionType):
        return _union([reader(option) for option in arguments])
    if origin in _LISTS and _is_list(origin, arguments):
        return _list(origin, reader(arguments[0]))
    if origin in _DICTS and arguments[0] is str:
        return _dict(reader(arguments[1]))
    if isinstance(annotation, collections.abc.Hashable) and annotation in _PLAIN:
        return Reader({"type": _PLAIN[annotation]}, _same)
    if isinstance(annotation, type):
        return _class(annotation)
    raise _unsupported(annotation)


def _class(kind: type) -> Reader:
    if issubclass(kind, enum.Enum):
        return Reader(_enum([member.value for member in kind]), kind)
    if is_dataclass(kind):
        optional = [
            one.name
            for one in fields(kind)
            if one.default is not MISSING or one.default_factory is not MISSING
        ]
        shown = [one.name for one in fields(kind) if one.init]
        return _object(kind, [name for name in shown if name not in optional], shown)
    if typing.is_typeddict(kind):
        return _object(kind, sorted(kind.__required_keys__), list(typing.get_type_hints(kind)))
    raise _unsupported(kind)


def _object(kind: type, required: list[str], names: list[str]) -> Reader:
    hints = typing.get_type_hints(kind, include_extras=True)
    readers = {name: reader(hints[name]) for name in names}
    schema = {
        "type": "object",
        "properties": {name: one.schema for name, one in readers.items()},
        "required": required,
        "additionalProperties": False,
    }
    return Reader(
        schema, lambda value: kind(**{name: readers[name].read(item) for name, item in value.items()})
    )


def _list(origin: Any, item: Reader) -> Reader:
    build = origin if origin in (tuple, set, frozenset) else list
    return Reader(
        {"type": "array", "items": item.schema}, lambda value: build(item.read(one) for one in value)
    )


def _is_list(origin: Any, arguments: tuple[Any, ...]) -> bool:
    return origin is not tuple or (len(arguments) == 2 and arguments[1] is Ellipsis)


def _dict(item: Reader) -> Reader:
    return Reader(
        {"type": "object", "additionalProperties": item.schema},
        lambda value: {key: item.read(one) for key, one in value.items()},
    )


def _union(options: list[Reader]) -> Reader:
    def read(value: Any) -> Any:
        for option in options:
            try:
                compile_schema(option.schema)(value)
            except ToolError:
                continue
            return option.read(value)
        return value

    return Reader({"anyOf": [option.schema for option in options]}, read)


def _enum(values: typing.Iterable[Any]) -> Json:
    values = list(values)
    kinds = {type(value) for value in values}
    if not kinds <= {str, int, bool, float, type(None)}:
        raise TypeError("has choices that JSON cannot hold: use strings or numbers.")
    names = {str: "string", int: "integer", bool: "boolean", float: "number"}
    kind = names.get(next(iter(kinds))) if len(kinds) == 1 else None
    return {"type": kind, "enum": values} if kind else {"enum": values}


def _same(value: Any) -> Any:
    return value


def _unsupported(annotation: Any) -> TypeError:
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return TypeError(
        f"is annotated {name}, which has no JSON schema: use str, int, float, bool, list, dict, Literal,"
        " an Enum, a dataclass or a TypedDict of those."
    )
