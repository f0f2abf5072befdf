"""What OpenAI refuses about the schemas of strict tools."""

from collections.abc import Iterator
from typing import Any

from tests.support.wire.rules.responses import example
from tests.support.wire.rules.rule import Asked, Fault, Json, Rule
from tests.support.wire.rules.tool_schemas import schemas

_NOT_STRICT = frozenset(
    {
        "$schema",
        "allOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "patternProperties",
        "propertyNames",
        "default",
    }
    | {"minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties", "prefixItems"}
    | {"unevaluatedProperties", "dependentRequired", "dependentSchemas", "contains"}
)
_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")


def _faults(root: Json) -> Iterator[str]:
    found = list(schemas(root))
    if sum(len(schema.get("properties") or ()) for _, schema in found) > 5000:
        yield "Expected at most 5000 object properties."
    if any(path.count("properties") + path.count("items") > 10 for path, _ in found):
        yield "Expected at most 10 levels of nesting."
    for path, schema in found:
        for fault in _faults_of(schema):
            yield f"In context={path}, {fault}"


def _faults_of(schema: Json) -> Iterator[str]:
    for keyword in _NOT_STRICT & schema.keys():
        yield f"'{keyword}' is not permitted."
    if "$ref" in schema:
        if beside := schema.keys() - {"$ref"}:
            yield f"$ref cannot have keywords {beside}."
        return
    if not {"type", "anyOf"} & schema.keys():
        yield "schema must have a 'type' key."
    if schema.get("format", "date") not in _FORMATS:
        yield f"'{schema['format']}' is not a valid format."
    kind = schema.get("type")
    if kind == "object" or (isinstance(kind, list) and "object" in kind):
        yield from _object_faults(schema)


def _object_faults(schema: Json) -> Iterator[str]:
    if schema.get("additionalProperties") is not False:
        yield "'additionalProperties' is required to be supplied and to be false."
    properties, required = set(schema.get("properties") or ()), set(schema.get("required") or ())
    for name in properties - required:
        yield (
            "'required' is required to be supplied and to be an array including every key in properties. "
            f"Missing '{name}'."
        )
    for name in required - properties:
        yield f"Extra required key '{name}' supplied."


def _strict_schema(asked: Asked) -> Iterator[Fault]:
    for index, tool in enumerate(asked.body.get("tools") or ()):
        for fault in _faults(tool["parameters"]) if tool.get("strict") else ():
            where = {"param": f"tools[{index}].parameters"}
            yield f"Invalid schema for function '{tool['name']}': {fault}", where


def _tool(**changes: Any) -> Json:
    schema: Json = {"type": "object", "properties": {"q": {"type": "string"}}, **changes}
    return {"type": "function", "name": "search", "parameters": schema, "strict": True}


_REF = {"$ref": "#/$defs/Q", "description": "What to find."}
_WITH_REF = _tool(
    properties={"q": _REF}, required=["q"], additionalProperties=False, **{"$defs": {"Q": {"type": "string"}}}
)

RULES = tuple(
    Rule(
        id=name,
        protocol="responses",
        check=_strict_schema,
        error={"code": "invalid_function_parameters"},
        source=source,
        example=example(tools=[tool]),
    )
    for name, source, tool in (
        ("oa-strict", "openai-agents-mcp#2; bytedance/trae-agent#173; sst/opencode#13737", _tool()),
        ("oa-strict-ref", "camel-ai/camel#3001; defog-ai/defog#244", _WITH_REF),
        ("oa-strict-keyword", "dotnet/extensions#6302; TanStack/ai#976", _tool(propertyNames={})),
    )
)
