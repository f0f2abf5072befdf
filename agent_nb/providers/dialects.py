"""What each wire protocol takes of JSON Schema in tools: a table, so that no provider rewrites schemas itself."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
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

_KEYWORDS = frozenset(VALID) - {"prefixItems"}
_NOT_IN_GRAMMARS = {"multipleOf", "pattern", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The part of JSON Schema that a protocol takes. Everything else is dropped or rewritten."""

    keywords: frozenset[str] = _KEYWORDS
    formats: frozenset[str] | None = None
    """The values of `format`; None for any."""
    refs: bool = True
    """Whether it takes `$ref`; if not, definitions are written where they are used."""
    enum_types: frozenset[str] = frozenset({"string", "number", "boolean", "null", "object", "array"})
    empty_choices: bool = True
    """Whether an `enum` may contain an empty string."""
    tool_name: re.Pattern[str] = re.compile(r"[a-zA-Z0-9_-]{1,64}")
    property_name: re.Pattern[str] = re.compile(r"[^\x00-\x1f\ud800-\udfff]+")
    max_tools: int | None = None


OPENAI = Dialect(max_tools=128)
"""Arrays need `items`, and patterns have no lookaround.
https://developers.openai.com/api/docs/guides/function-calling, https://github.com/vercel/ai/pull/21037"""
ANTHROPIC = Dialect(keywords=_KEYWORDS | {"prefixItems"}, property_name=re.compile(r"[a-zA-Z0-9_.-]{1,64}"))
"""Any schema that is valid under draft 2020-12, with these names of properties.
https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools
https://github.com/anthropics/claude-code/issues/79418"""
GEMINI = Dialect(
    keywords=frozenset(
        {"type", "title", "description", "enum", "properties", "required", "additionalProperties", "items"}
        | {"prefixItems", "anyOf", "format", "minimum", "maximum", "minItems", "maxItems"}
    ),
    formats=frozenset({"date-time", "date", "time"}),
    refs=False,
    enum_types=frozenset({"string", "number"}),
    empty_choices=False,
    tool_name=re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}"),
    max_tools=512,
)
"""The subset that google-genai documents at `response_json_schema`. It allows cyclic references only in places that
are not required, so there are none. Empty choices are refused (https://github.com/BerriAI/litellm/pull/14155)."""
CHAT = Dialect(
    keywords=_KEYWORDS - _NOT_IN_GRAMMARS, property_name=ANTHROPIC.property_name, max_tools=OPENAI.max_tools
)
"""What all servers take. A gateway may pass a request on to any vendor, and llama.cpp makes one grammar of all tools,
which fails for some patterns and for long repetitions (https://github.com/ggml-org/llama.cpp/issues/25746)."""
