"""Makes up arguments for a tool from its JSON schema."""

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
        return self._of_kind(schema.get("type", "object" if not name else "string"), schema, name)

    def _of_kind(self, kind: str, schema: Json, name: str) -> Any:
        match kind:
            case "object":
                fields = schema.get("properties", {})
                return {key: self.value(fields.get(key, True), key) for key in schema.get("required", ())}
            case "array":
                return [self.value(schema.get("items", True), name)] * schema.get("minItems", 1)
            case "string":
                return _FORMATS.get(schema.get("format", "")) or self._text(name)
            case "integer" | "number":
                return schema.get("minimum", min(1, schema.get("maximum", 1)))
            case _:
                return True if kind == "boolean" else None

    def _text(self, name: str) -> str:
        brief = self._brief
        if re.search(r"place|city|town|location|where|country", name, re.I):
            return brief.place or "Lyon"
        if re.search(r"name|title", name, re.I):
            return brief.name
        if re.search(r"prompt|question|message|text|sentence", name, re.I):
            return " ".join(brief.prompt.split())[:200] or brief.subject
        return brief.subject
