"""The JSON schema of a tool's arguments: how it is written, and how a call is checked against it."""

import functools
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from agent_nb._base.text import shortened
from agent_nb._base.wire import Json
from agent_nb.errors import ToolError
from agent_nb.messages import ToolSpec

_JSON_TYPES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
}
_KINDS = {"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"}
"""Keywords of which a schema that does not allow everything has one."""
_FETCHED = ("http", "https", "ftp", "file", "data")
"""URL schemes that the compiler would fetch for a `$ref`. Schemas may come from untrusted places."""


def tool_spec(name: str, description: str, properties: Json, required: Sequence[str] = ()) -> ToolSpec:
    """A tool as the model sees it; `properties` are the schemas of its arguments by name."""
    return ToolSpec(name=name, description=description, schema=object_schema(properties, required))


def described(kind: str, description: str, **keywords: Any) -> Json:
    return {"type": kind, "description": description, **keywords}


def object_schema(properties: Json, required: Sequence[str]) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def compile_schema(schema: Json) -> Callable[[Any], None]:
    """Returns a function that raises a `ToolError` with the code `SCHEMA` for arguments that break the schema."""
    import fastjsonschema

    check = _compiled(json.dumps(schema))

    def validate(args: Any) -> None:
        try:
            check(args)
        except fastjsonschema.JsonSchemaValueException as error:
            raise _explained(error) from None

    return validate


@functools.lru_cache(maxsize=256)
def _compiled(schema: str) -> Callable[[Any], Any]:
    """Compiling takes milliseconds, and every run has a toolbox of its own with the same tools."""
    import fastjsonschema

    try:
        # Without defaults, so that arguments stay as the model wrote them.
        check: Callable[[Any], Any] = fastjsonschema.compile(
            json.loads(schema, object_hook=_without_foreign_patterns),
            handlers=dict.fromkeys(_FETCHED, _refuse),
            use_default=False,
        )
    except Exception as error:  # a foreign schema can break the compiler in any way
        raise ToolError(
            f"The tool's schema is invalid: {error}.", code="SCHEMA", hint="Use another tool."
        ) from None
    return check


def _without_foreign_patterns(schema: Json) -> Json:
    """Leaves out patterns that Python cannot read, such as `\\p{L}`. Servers check their arguments themselves."""
    if not _is_regular(schema.get("pattern", "")):
        del schema["pattern"]
    if not all(map(_is_regular, schema.get("patternProperties") or ())):
        schema = {
            key: schema[key] for key in schema if key not in ("patternProperties", "additionalProperties")
        }
    return schema


def _is_regular(pattern: Any) -> bool:
    try:
        return not isinstance(pattern, str) or bool(re.compile(pattern))
    except (re.error, OverflowError, RecursionError):
        return False


def types_only(schema: Any) -> Any:
    """The schema with names and types alone: no defaults, choices, examples, patterns and descriptions."""
    if not isinstance(schema, dict):
        return schema if isinstance(schema, bool) else {}
    types: Json = {}
    for key, value in schema.items():
        match key, value:
            case "type", str() | list():
                named = value if isinstance(value, list) else [value]
                known = [kind for kind in named if kind in (*_JSON_TYPES.values(), "null")]
                types[key] = known[0] if len(known) == 1 else known
            case "enum", list() if "type" not in schema:
                types["type"] = list(dict.fromkeys(map(_json_type, value)))
            case "const", _ if "type" not in schema:
                types["type"] = _json_type(value)
            case "required", list():
                types[key] = [name for name in value if name in schema.get("properties", {})]
            case "properties" | "$defs" | "definitions", dict():
                types[key] = {name: types_only(part) for name, part in value.items()}
            case "items" | "additionalProperties", _:
                types[key] = types_only(value)
            case "anyOf" | "oneOf" | "allOf" | "prefixItems", list():
                types[key] = [types_only(part) for part in value]
            case "$ref", str():
                types[key] = value
    return types


def _json_type(value: Any) -> str:
    return _JSON_TYPES.get(type(value), "null")


def without_nulls(schema: Json, value: Any) -> Any:
    """The value without nulls for optional arguments, which models write in strict tool calling."""
    if isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        return [without_nulls(items, item) for item in value]
    if not isinstance(value, dict) or not isinstance(properties := schema.get("properties"), dict):
        return value
    required = schema.get("required", ())
    return {
        name: without_nulls(properties.get(name, {}), item)
        for name, item in value.items()
        if item is not None or name in required or name not in properties or _allows_null(properties[name])
    }


def _allows_null(schema: Any) -> bool:
    if not isinstance(schema, dict) or not schema.keys() & _KINDS:
        return True
    kind = schema.get("type", ())
    return (
        kind == "null"
        or (isinstance(kind, list) and "null" in kind)
        or None in schema.get("enum", ())
        or any(_allows_null(option) for key in ("anyOf", "oneOf") for option in schema.get(key, ()))
    )


def problems(schema: Any, value: Any) -> dict[str, str]:
    """A sentence on each argument that breaks the schema, by its path such as `size/width`."""
    found: dict[str, str] = {}
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(value, dict) and isinstance(properties, dict):
        shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
        for name in {**dict.fromkeys(schema.get("required", ())), **value}:
            if name not in value:
                found[name] = "It is required."
            elif name not in properties and schema.get("additionalProperties") is False:
                found[name] = "There is no such argument."
            elif isinstance(part := properties.get(name), dict):
                inner = problems({**shared, **part}, value[name])
                found |= {f"{name}/{path}" if path else name: text for path, text in inner.items()}
    return found or _first_problem(schema, value)


def _first_problem(schema: Json, value: Any) -> dict[str, str]:
    import fastjsonschema

    try:
        _compiled(json.dumps(schema))(value)
    except fastjsonschema.JsonSchemaValueException as error:
        return {"/".join(error.path[1:]): _explained(error, "It").message}
    return {}


def _with_article(kind: str) -> str:
    return kind if kind == "null" else f"{'an' if kind[0] in 'aio' else 'a'} {kind}"


def _explained(error: Any, subject: str = "") -> ToolError:
    rule, wanted, value = error.rule, error.rule_definition, error.value
    field = "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in error.path[1:]).lstrip(".")
    place = subject or (f"`{field}`" if field else "The arguments")
    known = list(error.definition.get("properties", ())) if isinstance(error.definition, dict) else []
    hint = f"Known: {_names(known)}." if known else ""
    match rule:
        case "required":
            missing = [name for name in wanted if name not in value]
            text = f"{place} lack{'s' if field or subject else ''} {_names(missing)}."
        case "additionalProperties" if known:
            text = f"{place} must not have {_names([name for name in value if name not in known])}."
        case "type":
            kinds = wanted if isinstance(wanted, str) else " or ".join(wanted)
            text, hint = f"{place} must be {kinds}, not {_with_article(_json_type(value))}.", ""
        case "enum":
            text, hint = f"{place} must be one of {', '.join(map(repr, wanted))}, not {_short(value)}.", ""
        case _:
            rule_text = error.message.removeprefix(error.name).strip()
            text, hint = f"{place} {rule_text}, not {_short(value)}.", ""
    return ToolError(text, code="SCHEMA", hint=hint)


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _short(value: Any) -> str:
    return shortened(repr(value), 80)


def _refuse(uri: str) -> Json:
    raise ValueError(f"it refers to {uri}, which is not fetched")
