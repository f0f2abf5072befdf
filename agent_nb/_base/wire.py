"""The wire form of values: plain JSON objects, distinguished by their `type` tag.

Decoding follows the declared types of fields, not the data, so a tool's arguments may contain `{"type": "text"}`
and are not mistaken for a message part. Types are checked, because the data may be untrusted.
"""

import base64
import contextlib
import json
import math
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from agent_nb._base.secrets import shortened

Json = dict[str, Any]
_MOST = 2**53
"""The largest integer, as in JavaScript."""
_DEEPEST = 100
"""Maximum nesting of lists and objects, which are processed recursively."""
Decoder = Callable[[Any], Any]


def parse_json(text: str | bytes, default: Any = None) -> Any:
    """Parse JSON from a model, a vendor or a file; return `default` if it is invalid or nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return default


def as_object(value: Any) -> Json:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def to_wire(value: Any) -> Any:
    """Return the JSON form of a value; `from_wire` reverses it."""
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


def brief_wire(value: Any) -> Any:
    """Return the JSON form of a value, without fields that equal their default."""
    if is_dataclass(value):
        names = [field.name for field in fields(value) if getattr(value, field.name) != default_of(field)]
        wire = {name: brief_wire(getattr(value, name)) for name in names}
        return {"type": tag, **wire} if (tag := getattr(value, "type", None)) else wire
    if isinstance(value, Mapping):
        return {key: brief_wire(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [brief_wire(item) for item in value]
    return to_wire(value)


def default_of(item: Field[Any]) -> Any:
    return item.default if item.default_factory is MISSING else item.default_factory()


def from_wire(kind: Any, data: Any) -> Any:
    """Decode `data` as a value of type `kind`; raises `WireError` if it does not match.

    A kind is a dataclass, a TypedDict, a union of tagged classes, a tuple or mapping of them, a class with its own
    `from_wire`, or a plain type. Unknown fields are ignored.
    """
    return _decoder(kind)(data)


def each_from_wire(kind: Any, data: Any) -> Iterator[Any]:
    """Yield the values of type `kind` in a list."""
    if not isinstance(data, list | tuple):
        raise _other("a list", data)
    decode = _decoder(kind)
    for number, entry in enumerate(data):
        try:
            yield decode(entry)
        except WireError as error:
            raise error.under(f"[{number}]") from None


class WireError(ValueError):
    """Invalid data and its position: `events[3].at`."""

    def __init__(self, why: str, path: str = "") -> None:
        self.why, self.path = why, path
        super().__init__(f"`{path.removeprefix('.')}` {why}" if path else f"it {why}")

    def under(self, step: str) -> "WireError":
        return WireError(self.why, step + self.path)


@cache
def _decoder(kind: Any) -> Decoder:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if typing.is_typeddict(kind) or is_dataclass(kind):
        return lambda data: _build(kind, data)
    if hasattr(kind, "from_wire"):
        return kind.from_wire  # type: ignore[no-any-return]
    if origin is typing.Literal:
        return _checked(lambda data: data in arguments, f"one of {', '.join(filter(None, arguments))}")
    if origin is tuple:
        return _tuple_decoder(arguments)
    if origin in (dict, Mapping):
        return _mapping_decoder(arguments[1])
    if origin in (typing.Union, types.UnionType):
        return _union_decoder(arguments)
    raise TypeError(f"{kind} has no wire form")


def _checked(test: Callable[[Any], bool], expected: str) -> Decoder:
    def decode(data: Any) -> Any:
        if test(data):
            return data
        raise _other(expected, data)

    return decode


def _other(expected: str, data: Any) -> WireError:
    if isinstance(data, str | int | float):
        excerpt = repr(data)
        return WireError(f"is {shortened(excerpt, 40)}, not {expected}")
    kind = "null" if data is None else "a list" if isinstance(data, list | tuple) else "an object"
    return WireError(f"is {kind}, not {expected}")


def _number(data: Any) -> bool:
    return type(data) in (int, float) and -_MOST <= data <= _MOST


def _bytes(data: Any) -> bytes:
    if isinstance(data, str):
        with contextlib.suppress(ValueError):
            return base64.b64decode(data)
    raise _other("base64", data)


def _datetime(data: Any) -> datetime:
    with contextlib.suppress(TypeError, ValueError):
        moment = datetime.fromisoformat(data)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    raise _other("a time with its time zone", data)


def _json(data: Any, depth: int = 0) -> Any:
    """Check any JSON value: finite numbers, limited nesting."""
    if data is None or isinstance(data, str | bool | int):
        return data
    if isinstance(data, float):
        if math.isfinite(data):
            return data
        raise _other("a finite number", data)
    if depth == _DEEPEST:
        raise WireError("is nested too deeply")
    for item in data.values() if isinstance(data, Mapping) else data:
        _json(item, depth + 1)
    return data


_PLAIN: dict[Any, Decoder] = {
    Any: _json,
    bytes: _bytes,
    datetime: _datetime,
    str: _checked(lambda data: isinstance(data, str), "text"),
    bool: _checked(lambda data: isinstance(data, bool), "true or false"),
    int: _checked(lambda data: type(data) is int and _number(data), "a whole number"),
    float: _checked(_number, "a number"),
    type(None): _checked(lambda data: data is None, "null"),
}


def _tuple_decoder(arguments: tuple[Any, ...]) -> Decoder:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return lambda data: tuple(each_from_wire(arguments[0], data))
    decoders = [_decoder(kind) for kind in arguments]

    def decode(data: Any) -> tuple[Any, ...]:
        if not isinstance(data, list | tuple) or len(data) != len(decoders):
            raise _other(f"a list of {len(decoders)}", data)
        return tuple(decode_one(entry) for decode_one, entry in zip(decoders, data, strict=True))

    return decode


def _mapping_decoder(kind: Any) -> Decoder:
    item = _decoder(kind)

    def decode(data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise _other("an object", data)
        if kind is Any:
            return _json(data)
        return {key: _inside(f"[{key[:40]!r}]", item, value) for key, value in data.items()}

    return decode


def _inside(step: str, decode: Decoder, data: Any) -> Any:
    try:
        return decode(data)
    except WireError as error:
        raise error.under(step) from None


def _union_decoder(arguments: tuple[Any, ...]) -> Decoder:
    tagged = {option.type: _decoder(option) for option in arguments if hasattr(option, "type")}
    plain = [_decoder(option) for option in arguments if not hasattr(option, "type")]
    plain.sort(key=lambda decoder: decoder is not _PLAIN[type(None)])  # errors are about the last one

    def decode(data: Any) -> Any:
        tag = data.get("type") if isinstance(data, Mapping) else None
        if isinstance(tag, str) and tag in tagged:
            return tagged[tag](data)
        for decoder in plain:
            try:
                return decoder(data)
            except WireError as error:
                failure = error
        if not tagged:
            raise failure
        if not isinstance(data, Mapping):
            raise _other("an object", data)
        raise WireError(f"is of an unknown type, {str(tag)[:40]!r}")

    return decode


@cache
def _fields_of(kind: Any) -> tuple[dict[str, Decoder], set[str]]:
    hints = typing.get_type_hints(kind)
    if not is_dataclass(kind):
        return {name: _decoder(hint) for name, hint in hints.items()}, set(kind.__required_keys__)
    required = {item.name for item in fields(kind) if item.default is item.default_factory is MISSING}
    return {item.name: _decoder(hints[item.name]) for item in fields(kind)}, required


def _build(kind: Any, data: Any) -> Any:
    if not isinstance(data, Mapping):
        raise _other("an object", data)
    (decoders, required), values, name = _fields_of(kind), dict[str, Any](), ""
    try:
        for name, item in data.items():
            if name in decoders:
                values[name] = decoders[name](item)
    except WireError as error:
        raise error.under(f".{name}") from None
    if missing := required - values.keys():
        raise WireError(f"lacks `{min(missing)}`")
    return kind(**values)
