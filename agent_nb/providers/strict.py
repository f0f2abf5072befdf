"""Which tool schemas fit OpenAI's strict mode. One that does not is sent as it is, with `strict` off.

Strict mode requires every property. Making an optional one nullable instead would put nulls into the
arguments, which the tool's own schema refuses, so such a schema is not rewritten.
"""

from collections.abc import Iterator

from agent_nb._base.wire import Json
from agent_nb.providers.dialects import STRICT

MAX_LEVELS, MAX_SCHEMAS, MAX_CHOICES = 5, 100, 500
"""The limits of older models; those of newer ones are higher."""


def strict_schema(schema: Json) -> Json | None:
    """A schema of `tool_schemas` in the form of strict mode; None if that would change its meaning."""
    found = list(_levels(schema))
    is_small = len(found) <= MAX_SCHEMAS and max(level for level, _ in found) <= MAX_LEVELS
    choices = sum(len(each.get("enum", ())) for _, each in found)
    if not is_small or choices > MAX_CHOICES or not all(_fits(each, each is schema) for _, each in found):
        return None
    return _closed(schema)


def _fits(schema: Json, is_root: bool) -> bool:
    known = STRICT.keywords.issuperset(schema.keys() - {"$ref", "$defs"})
    if not known or schema.get("format", "date") not in (STRICT.formats or ()):
        return False
    if not {"type", "anyOf", "$ref"} & schema.keys():
        return False
    if not _is_object(schema):
        return True
    properties = schema.get("properties", {})
    is_closed = schema.get("additionalProperties", False) is False and (is_root or bool(properties))
    return is_closed and set(properties) == set(schema.get("required", ()))


def _is_object(schema: Json) -> bool:
    return (
        "object" in (kind if isinstance(kind := schema.get("type"), list) else [kind])
        or "properties" in schema
    )


def _levels(schema: Json, level: int = 0) -> Iterator[tuple[int, Json]]:
    yield level, schema
    for inner in _children(schema):
        yield from _levels(inner, level + ("anyOf" not in schema))


def _children(schema: Json) -> list[Json]:
    items = [schema["items"]] if "items" in schema else []
    return [
        *schema.get("properties", {}).values(),
        *schema.get("$defs", {}).values(),
        *schema.get("anyOf", ()),
        *items,
    ]


def _closed(schema: Json) -> Json:
    """A copy in which every object has its properties alone."""
    closed = dict(schema)
    for keyword in ("properties", "$defs"):
        if keyword in closed:
            closed[keyword] = {name: _closed(inner) for name, inner in closed[keyword].items()}
    if "anyOf" in closed:
        closed["anyOf"] = [_closed(inner) for inner in closed["anyOf"]]
    if "items" in closed:
        closed["items"] = _closed(closed["items"])
    if _is_object(closed):
        properties = closed.get("properties", {})
        closed |= {"properties": properties, "required": list(properties), "additionalProperties": False}
    return closed
