"""Makes up arguments for any tool from its JSON schema."""

import math
import re
from collections.abc import Callable
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.demo.brief import Brief
from agent_nb.messages import ToolSpec

_FORMATS = {
    "date": "2025-06-21",
    "time": "09:30:00Z",
    "date-time": "2025-06-21T09:30:00Z",
    "email": "hello@example.com",
    "uri": "https://example.com",
    "url": "https://example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_DEEPEST = 8


class UnfillableError(ValueError):
    """No value is sure to fit the schema."""


def sample_arguments(tool: ToolSpec, brief: Brief) -> Json | None:
    """Values for the required arguments; None if they cannot be guessed from the schema."""
    try:
        made = _Maker(tool.schema, brief).value(tool.schema, "", 0)
    except UnfillableError:
        return None
    return made if isinstance(made, dict) else None


class _Maker:
    def __init__(self, root: Json, brief: Brief) -> None:
        self._root, self._brief = root, brief

    def value(self, schema: Any, name: str, depth: int) -> Any:
        """A value for a field with this schema and name."""
        if depth > _DEEPEST:
            raise UnfillableError
        if not isinstance(schema, dict):
            return name
        schema = self._resolved(schema)
        for fixed in ("const", "default"):
            if fixed in schema:
                return schema[fixed]
        if schema.get("enum"):
            return schema["enum"][0]
        for choice in ("anyOf", "oneOf"):
            if options := [option for option in schema.get(choice, ()) if option.get("type") != "null"]:
                return self.value(options[0], name, depth + 1)
        makers: dict[str, Callable[[], Any]] = {
            "object": lambda: self._object(schema, depth),
            "array": lambda: self._array(schema, name, depth),
            "string": lambda: self._string(schema, name),
            "integer": lambda: int(_number(schema, 1)),
            "number": lambda: _number(schema, 0.5),
            "boolean": lambda: True,
            "null": lambda: None,
        }
        kinds = schema.get("type", "object" if "properties" in schema or depth == 0 else "string")
        kind = next((k for k in kinds if k != "null"), "null") if isinstance(kinds, list) else kinds
        if kind not in makers:
            raise UnfillableError
        return makers[kind]()

    def _resolved(self, schema: Json) -> Json:
        found: Any = schema
        if "$ref" in schema:
            found = self._root
            for step in str(schema["$ref"]).removeprefix("#/").split("/"):
                found = found.get(step) if isinstance(found, dict) else None
        if not isinstance(found, dict) or "$ref" in found:
            raise UnfillableError
        return found

    def _object(self, schema: Json, depth: int) -> Json:
        properties = schema.get("properties", {})
        return {
            name: self.value(properties.get(name, True), name, depth + 1)
            for name in schema.get("required", ())
        }

    def _array(self, schema: Json, name: str, depth: int) -> list[Any]:
        count = max(int(schema.get("minItems", 1)), 0)
        if schema.get("uniqueItems") and count > 1:
            raise UnfillableError
        return [self.value(schema.get("items", True), name, depth + 1) for _ in range(count)]

    def _string(self, schema: Json, name: str) -> str:
        shortest, longest = int(schema.get("minLength", 0)), int(schema.get("maxLength", 10_000))
        for candidate in self._candidates(schema, name):
            text = candidate.ljust(shortest, ".")[:longest].strip() or candidate[:longest]
            if shortest <= len(text) <= longest and _matches(schema.get("pattern"), text):
                return text
        raise UnfillableError

    def _candidates(self, schema: Json, name: str) -> list[str]:
        if schema.get("format") in _FORMATS:
            return [_FORMATS[schema["format"]]]
        brief = self._brief
        if re.search(r"place|city|town|location|where|country", name, re.I):
            first = brief.place or "Lyon"
        elif re.search(r"name|title", name, re.I):
            first = brief.name
        elif re.search(r"prompt|question|message|text|sentence", name, re.I):
            first = " ".join(brief.prompt.split())[:200] or brief.subject
        else:
            first = brief.subject
        return [first, brief.subject, "demo", "Demo", "a", "A", "1", "0", "2025-06-21", "hello@example.com"]


def _number(schema: Json, step: float) -> float:
    """The smallest number allowed, or 1 if there is no lower bound."""
    low = schema.get("minimum")
    if isinstance(above := schema.get("exclusiveMinimum"), int | float) and not isinstance(above, bool):
        low = max(above + step, low if low is not None else -math.inf)
    value: float = 1 if low is None else low
    below = schema.get("exclusiveMaximum")
    highest: float = schema.get("maximum", math.inf if below is None else below - step)
    if low is None:
        value = min(value, highest)
    if multiple := schema.get("multipleOf"):
        value = math.ceil(value / multiple) * multiple
    if value > highest:
        raise UnfillableError
    return math.ceil(value) if schema.get("type") == "integer" else value


def _matches(pattern: Any, text: str) -> bool:
    try:
        return not pattern or re.search(str(pattern), text) is not None
    except re.error:
        return False
