"""The keywords of JSON Schema that are sent to vendors, and which values of theirs draft 2020-12 allows."""

import json
import re
from collections.abc import Callable
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
}
_NOT_REGULAR = re.compile(r"\(\?<?[=!]|\\[1-9]|\\k<|\(\?P=")
"""Lookaround and back references."""


def types(value: Any) -> tuple[str, ...]:
    """The types that `type` names."""
    names = value if isinstance(value, list) else [value]
    return tuple(name for name in names if isinstance(name, str) and name in TYPES)


def is_a(value: Any, types: tuple[str, ...]) -> bool:
    if isinstance(value, bool):
        return "boolean" in types
    return any(isinstance(value, TYPES[name]) for name in types)


def is_text(value: Any) -> bool:
    """Whether it can be sent: half of a surrogate pair cannot."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_type(value: Any) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and len(set(types(value))) == len(names)


def _is_pattern(value: Any) -> bool:
    try:
        return _is_string(value) and bool(re.compile(value)) and not _NOT_REGULAR.search(value)
    except (re.error, OverflowError, RecursionError):
        return False


def _is_number(value: Any) -> bool:
    return is_a(value, ("number",))


def _is_count(value: Any) -> bool:
    return is_a(value, ("integer",)) and value >= 0


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_string(value: Any) -> bool:
    return isinstance(value, str) and is_text(value)


VALID: dict[str, Callable[[Any], bool]] = {
    "type": _is_type,
    **dict.fromkeys(("title", "description", "format"), _is_string),
    **dict.fromkeys(("anyOf", "prefixItems"), _is_list),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("minProperties", "maxProperties"), _is_count),
    **dict.fromkeys(("const", "default"), is_text),
    "enum": lambda value: _is_list(value) and is_text(value),
    "required": lambda value: _is_list(value) and all(isinstance(each, str) for each in value),
    "properties": lambda value: isinstance(value, dict),
    "items": lambda value: isinstance(value, dict),
    "additionalProperties": lambda value: isinstance(value, dict | bool),
    "uniqueItems": lambda value: isinstance(value, bool),
    "multipleOf": lambda value: _is_number(value) and value > 0,
    "pattern": _is_pattern,
}
"""Whether the value of a keyword is valid under draft 2020-12."""
