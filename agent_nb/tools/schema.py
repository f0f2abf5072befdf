"""JSON schemas of tool arguments: building them and validating calls."""

import functools
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from agent_nb._base.secrets import shortened
from agent_nb._base.wire import Json
from agent_nb.core.errors import ToolError
from agent_nb.core.messages import ToolSpec

_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
_KINDS = {"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"}
"""Keywords that restrict values; a schema without any of them allows everything."""
_FETCHED = ("http", "https", "ftp", "file", "data")
"""URL schemes that the compiler would fetch for a `$ref`. Schemas may be untrusted."""


def tool_spec(name: str, description: str, properties: Json, required: Sequence[str] = ()) -> ToolSpec:
    """Build the spec that is sent to the model; `properties` are the argument schemas by name."""
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
    """Return a function that raises a `ToolError` with the code `SCHEMA` for invalid arguments."""
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
    """Cached: compiling takes milliseconds, and every run has a new toolbox with the same tools."""
    import fastjsonschema

    try:
        # Defaults are not filled in, so that arguments stay as the model wrote them.
        check: Callable[[Any], Any] = fastjsonschema.compile(
            json.loads(schema, object_hook=_without_foreign_patterns),
            handlers=dict.fromkeys(_FETCHED, _refuse),
            use_default=False,
        )
    except Exception as error:  # a third-party schema can break the compiler in any way
        raise ToolError(
            f"The tool's schema is invalid: {error}.", code="SCHEMA", hint="Use another tool."
        ) from error
    return check


def _without_foreign_patterns(schema: Json) -> Json:
    """Drop patterns that Python cannot compile, such as `\\p{L}`. Servers validate their arguments themselves."""
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
    """Reduce a schema to names and types: no defaults, choices, examples, patterns or descriptions."""
    if not isinstance(schema, dict):
        return schema if isinstance(schema, bool) else {}
    types: Json = {}
    for key, value in schema.items():
        match key, value:
            case "type", str() | list():
                kinds = value if isinstance(value, list) else [value]
                valid_kinds = [kind for kind in kinds if kind in (*_JSON_TYPES.values(), "null")]
                types[key] = valid_kinds[0] if len(valid_kinds) == 1 else valid_kinds
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
    """Remove nulls of optional arguments, which models send in strict tool calling."""
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
    """Return one sentence per invalid argument, by path such as `size/width`."""
    messages: dict[str, str] = {}
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(value, dict) and isinstance(properties, dict):
        shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
        for name in {**dict.fromkeys(schema.get("required", ())), **value}:
            if name not in value:
                messages[name] = "It is required."
            elif name not in properties and schema.get("additionalProperties") is False:
                messages[name] = "There is no such argument."
            elif isinstance(part := properties.get(name), dict):
                inner = problems({**shared, **part}, value[name])
                messages |= {f"{name}/{path}" if path else name: text for path, text in inner.items()}
    return messages or _first_problem(schema, value)


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
    rule, definition, value = error.rule, error.rule_definition, error.value
    field = "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in error.path[1:]).lstrip(".")
    place = subject or (f"`{field}`" if field else "The arguments")
    properties = list(error.definition.get("properties", ())) if isinstance(error.definition, dict) else []
    hint = f"Known: {_names(properties)}." if properties else ""
    match rule:
        case "required":
            missing_names = [name for name in definition if name not in value]
            text = f"{place} lack{'s' if field or subject else ''} {_names(missing_names)}."
        case "additionalProperties" if properties:
            text = f"{place} must not have {_names([name for name in value if name not in properties])}."
        case "type":
            kinds = definition if isinstance(definition, str) else " or ".join(definition)
            text, hint = f"{place} must be {kinds}, not {_with_article(_json_type(value))}.", ""
        case "enum":
            choices = ", ".join(map(repr, definition))
            text, hint = f"{place} must be one of {choices}, not {_short(value)}.", ""
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
