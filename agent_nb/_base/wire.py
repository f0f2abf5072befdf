"""The wire form of values: plain JSON objects, distinguished by their `type` tag.

Decoding follows the declared types of fields, not the data, so a tool's arguments may contain `{"type": "text"}`
and are not mistaken for a message part.
"""

import base64
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

Json = dict[str, Any]
"""A JSON object, as `json.loads` returns it."""


def to_wire(value: Any) -> Any:
    """The JSON form of a value; `from_wire` reverses it."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return {key: to_wire(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [to_wire(item) for item in value]
    if is_dataclass(value):
        wire = {field.name: to_wire(getattr(value, field.name)) for field in fields(value)}
        return {"type": tag, **wire} if (tag := getattr(value, "type", None)) else wire
    raise TypeError(f"{type(value).__name__} has no wire form")


def from_wire(kind: Any, data: Any) -> Any:
    """The value of type `kind` (a class, a union of tagged classes, a tuple of them) that `data` describes."""
    return _decoder(kind)(data)


@cache
def _decoder(kind: Any) -> Callable[[Any], Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is bytes:
        return base64.b64decode
    if is_dataclass(kind) and isinstance(kind, type):
        return lambda data: _build(kind, data)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        item = _decoder(arguments[0])
        return lambda data: tuple(item(entry) for entry in data)
    if origin is tuple:
        return tuple
    if origin in (typing.Union, types.UnionType):
        return _union_decoder(arguments)
    return lambda data: data


def _union_decoder(arguments: tuple[Any, ...]) -> Callable[[Any], Any]:
    tagged = {option.type: _decoder(option) for option in arguments if hasattr(option, "type")}
    others = [option for option in arguments if not hasattr(option, "type") and option is not type(None)]
    plain = _decoder(others[0]) if len(others) == 1 else (lambda data: data)

    def decode(data: Any) -> Any:
        if data is None:
            return None
        if tagged and isinstance(data, Mapping) and data.get("type") in tagged:
            return tagged[data["type"]](data)
        return plain(data)

    return decode


@cache
def _field_decoders(kind: type) -> dict[str, Callable[[Any], Any]]:
    hints = typing.get_type_hints(kind)
    return {field.name: _decoder(hints[field.name]) for field in fields(kind)}


def _build(kind: type, data: Json) -> Any:
    decoders = _field_decoders(kind)
    return kind(**{name: decoders[name](item) for name, item in data.items() if name in decoders})
