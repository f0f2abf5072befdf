"""Makes up arguments for any tool from its JSON schema."""

import math
import re
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.demo.brief import Brief
from agent_nb.messages import ToolSpec
from agent_nb.tools.schema import compile_schema

_FORMATS = {
    "date": "2025-06-21",
    "time": "09:30:00Z",
    "date-time": "2025-06-21T09:30:00Z",
    "email": "hello@example.com",
    "uri": "https://example.com",
    "url": "https://example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def sample_arguments(tool: ToolSpec, brief: Brief) -> Json | None:
    """Values for the required arguments; None if those that were guessed do not fit the schema."""
    try:
        made = _Maker(tool.schema, brief).value(tool.schema, "")
        compile_schema(tool.schema)(made)
    except Exception:  # a foreign schema can be wrong in any way
        return None
    return made if isinstance(made, dict) else None


class _Maker:
    def __init__(self, root: Json, brief: Brief) -> None:
        self._root, self._brief = root, brief

    def value(self, schema: Any, name: str) -> Any:
        """A value for a field with this schema and name."""
        if not isinstance(schema, dict):
            return name
        if "$ref" in schema:
            found: Any = self._root
            for step in str(schema["$ref"]).removeprefix("#/").split("/"):
                found = found[step]
            return self.value(found, name)
        for fixed in ("const", "default"):
            if fixed in schema:
                return schema[fixed]
        if schema.get("enum"):
            return schema["enum"][0]
        options = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        if options := [option for option in options if option.get("type") != "null"]:
            return self.value(options[0], name)
        kinds = schema.get("type", "object" if "properties" in schema or not name else "string")
        kind = next((k for k in kinds if k != "null"), "null") if isinstance(kinds, list) else kinds
        return self._of_kind(kind, schema, name)

    def _of_kind(self, kind: str, schema: Json, name: str) -> Any:
        match kind:
            case "object":
                fields = schema.get("properties", {})
                return {key: self.value(fields.get(key, True), key) for key in schema.get("required", ())}
            case "array":
                items = schema.get("items", True)
                return [self.value(items, name) for _ in range(schema.get("minItems", 1))]
            case "string":
                return self._string(schema, name)
            case "integer" | "number":
                return _number(schema)
            case _:
                return True if kind == "boolean" else None

    def _string(self, schema: Json, name: str) -> str:
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]]
        brief = self._brief
        if re.search(r"place|city|town|location|where|country", name, re.I):
            first = brief.place or "Lyon"
        elif re.search(r"name|title", name, re.I):
            first = brief.name
        elif re.search(r"prompt|question|message|text|sentence", name, re.I):
            first = " ".join(brief.prompt.split())[:200] or brief.subject
        else:
            first = brief.subject
        candidates = [first, brief.subject, "demo", "Demo", "a", "A", "1", "0", *_FORMATS.values()]
        fits = re.compile(schema.get("pattern", ""))
        shortest, longest = schema.get("minLength", 0), schema.get("maxLength")
        made = (text.ljust(shortest, ".")[:longest] for text in candidates)
        return next((text for text in made if fits.search(text)), first)


def _number(schema: Json) -> float:
    """The smallest number allowed, or 1 if there is no lower bound."""
    step = 1 if schema["type"] == "integer" else 0.5
    highest = min(schema.get("maximum", math.inf), schema.get("exclusiveMaximum", math.inf) - step)
    above = schema.get("exclusiveMinimum", -math.inf) + step
    lowest: float = max(schema.get("minimum", -math.inf), above)
    value = lowest if lowest > -math.inf else min(1, highest)
    if multiple := schema.get("multipleOf"):
        value = math.ceil(value / multiple) * multiple
    return math.ceil(value) if schema["type"] == "integer" else value
