"""Which tool schemas fit OpenAI's strict mode. One that does not is sent as it is, with `strict` off.

Strict mode requires every property. Making an optional one nullable instead would put nulls into the
arguments, which the tool's own schema refuses, so such a schema is not rewritten.
"""

from typing import Any

from agent_nb._base.wire import Json

_KEYWORDS = frozenset(
    {
        "type",
        "description",
        "title",
        "enum",
        "const",
        "properties",
        "required",
        "additionalProperties",
        "items",
    }
    | {"anyOf", "$ref", "$defs", "pattern", "format", "minimum", "maximum", "exclusiveMinimum"}
    | {"exclusiveMaximum", "multipleOf", "minItems", "maxItems"}
)
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})


def strict_schema(schema: Json) -> Json | None:
    """The schema in the form of strict mode, or None if that would change its meaning."""
    if schema.get("type") != "object" or "anyOf" in schema:
        return None
    return _strict(schema)


def _strict(schema: Any) -> Json | None:
    if not isinstance(schema, dict) or not _KEYWORDS.issuperset(schema):
        return None
    if schema.get("format", "date") not in _FORMATS or not str(schema.get("$ref", "#")).startswith("#"):
        return None
    strict = dict(schema)
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        if schema.get("additionalProperties", False) is not False:
            return None
        if set(properties) != set(schema.get("required", ())):
            return None
        strict |= {"properties": properties, "required": list(properties), "additionalProperties": False}
    elif not {"type", "enum", "const", "anyOf", "$ref"} & set(schema):
        return None
    return _with_children(strict)


def _with_children(strict: Json) -> Json | None:
    for keyword in ("properties", "$defs"):
        if keyword in strict:
            children = {name: _strict(child) for name, child in strict[keyword].items()}
            if None in children.values():
                return None
            strict[keyword] = children
    if "anyOf" in strict:
        strict["anyOf"] = [_strict(child) for child in strict["anyOf"]]
        if None in strict["anyOf"]:
            return None
    if "items" in strict and (strict.update(items=_strict(strict["items"])) or strict["items"] is None):
        return None
    return None if strict.get("type") == "array" and "items" not in strict else strict
