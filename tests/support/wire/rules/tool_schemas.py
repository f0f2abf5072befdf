"""What the vendors refuse about the schemas of tools, whether or not a model calls the tool."""

import functools
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema

from tests.support.wire.rules.generate_content import field
from tests.support.wire.rules.rule import Asked, Fault, Json, Rule

Path = tuple[str, ...]
Found = Iterator[tuple[Path, Json]]


def tools(protocol: str, asked: Asked) -> Iterator[tuple[int, str, Json]]:
    """The number, name and schema of each tool."""
    sent = asked.body.get("tools") or ()
    if protocol == "generate_content":
        sent = [one for tool in sent for one in field(tool, "functionDeclarations") or ()]
    for number, tool in enumerate(one.get("function", one) for one in sent):
        for name in ("parameters", "input_schema", "parametersJsonSchema"):
            if (schema := field(tool, name)) is not None:
                yield number, tool.get("name", ""), schema


def schemas(schema: Any, path: Path = ()) -> Found:
    """A schema and all schemas in it, each with its path as OpenAI writes it."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for keyword in ("properties", "$defs", "definitions", "patternProperties"):
        inner = schema.get(keyword)
        for name, each in inner.items() if isinstance(inner, dict) else ():
            yield from schemas(each, (*path, keyword, name))
    for keyword in ("items", "additionalProperties", "not", "if", "then", "else"):
        yield from schemas(schema.get(keyword), (*path, keyword))
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        inner = schema.get(keyword)
        for number, each in enumerate(inner if isinstance(inner, list) else ()):
            yield from schemas(each, (*path, keyword, str(number)))


def _is_array(schema: Json) -> bool:
    kind = schema.get("type")
    return "array" in kind if isinstance(kind, list) else kind == "array"


def _items(path: Path, schema: Json) -> Iterator[str]:
    if _is_array(schema) and "items" not in schema:
        yield f"In context={path}, array schema missing items."


def _lookaround(path: Path, schema: Json) -> Iterator[str]:
    if "\\p{" in str(schema.get("pattern", "")):
        yield f"{schema['pattern']!r} is not a 'regex'."
    if any(mark in str(schema.get("pattern", "")) for mark in ("(?=", "(?!", "(?<=", "(?<!")):
        yield f"regex lookaround is not supported. Found at $.{'.'.join(path)}.pattern."


def _top(path: Path, schema: Json) -> Iterator[str]:
    if not path and (
        schema.get("type") != "object" or {"oneOf", "anyOf", "allOf", "enum", "not"} & schema.keys()
    ):
        yield "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."


def _grammar(path: Path, schema: Json) -> Iterator[str]:
    repeated = max(
        (schema.get(key, 0) for key in ("minLength", "maxLength", "minItems", "maxItems")), default=0
    )
    pattern = schema.get("pattern", "^$")
    if repeated >= 2000 or not (pattern.startswith("^") and pattern.endswith("$")) or "(?" in pattern:
        yield "Failed to initialize samplers: failed to parse grammar"


def _key(path: Path, schema: Json) -> Iterator[str]:
    for name in schema.get("properties") or ():
        if not re.match(r"^[a-zA-Z0-9_.-]{1,64}\Z", name):
            yield "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"


def _draft(path: Path, schema: Json) -> Iterator[str]:
    try:
        if not path:
            jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError:
        yield "JSON schema is invalid. It must match JSON Schema draft 2020-12."


_GEMINI_FIELDS = frozenset(
    {"$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items"}
    | {"minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties"}
    | {"required", "propertyOrdering"}
)


def _gemini_field(path: Path, schema: Json) -> Iterator[str]:
    for name in schema.keys() - _GEMINI_FIELDS:
        yield f'Unknown name "{name}" at {path}: Cannot find field.'
    if "$ref" in schema and any(not name.startswith("$") for name in schema):
        yield f"{path}: $ref was set alongside unsupported fields."
    if any(
        isinstance(each, bool) or not isinstance(each, str | int | float) for each in schema.get("enum", ())
    ):
        yield f"{path}: enum is supported for strings and numbers."
    if "" in schema.get("enum", ()):
        yield f"{'.'.join(path)}.enum[{schema['enum'].index('')}]: cannot be empty"
    if "enum" in schema and not {"type", "anyOf"} & schema.keys():
        yield f"{'.'.join(path)}.enum: only allowed for STRING type"


def _gemini_names(path: Path, schema: Json) -> Iterator[str]:
    for number, name in enumerate(schema.get("required", ())):
        if name not in schema.get("properties", {}):
            yield f"{'.'.join(path)}.required[{number}]: property is not defined"
    if _is_array(schema) and "items" not in schema:
        yield f"{'.'.join(path)}.items: missing field."


def _gemini_cycle(root: Json) -> Iterator[str]:
    """A reference that leads to itself over required properties alone could not be unrolled."""

    def needed(schema: Any, seen: tuple[str, ...]) -> bool:
        if not isinstance(schema, dict):
            return False
        if isinstance(ref := schema.get("$ref"), str):
            target = root.get("$defs", {}).get(ref.rsplit("/", 1)[-1])
            return ref in seen or needed(target, (*seen, ref))
        inner = [schema.get("properties", {}).get(name) for name in schema.get("required", ())]
        return any(needed(each, seen) for each in (*inner, schema.get("items")))

    if needed(root, ()):
        yield "Cyclic references may only be used within non-required properties."


def _unresolved(root: Json) -> Iterator[str]:
    for path, schema in schemas(root):
        ref = schema.get("$ref", "#")
        found: Any = root
        for step in ref.split("/")[1:]:
            found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        if not ref.startswith("#") or found is None:
            yield f"In context={path}, reference to component '{ref}' which was not found in the schema."


def _deep(root: Json) -> Iterator[str]:
    if any(len(path) > 60 for path, _ in schemas(root)):
        yield "Message nesting is too deep."


def _each(check: Callable[[Path, Json], Iterator[str]]) -> Callable[[Json], Iterator[str]]:
    """A check of every schema inside of a tool's."""
    return lambda root: (fault for path, schema in schemas(root) for fault in check(path, schema))


def _of_tools(protocol: str, check: Callable[[Json], Iterator[str]]) -> Callable[[Asked], Iterator[Fault]]:
    @functools.cache  # nearly every request has the same tools
    def found(schema: str) -> tuple[str, ...]:
        return tuple(check(json.loads(schema)))

    def faults(asked: Asked) -> Iterator[Fault]:
        for number, name, root in tools(protocol, asked):
            for fault in found(json.dumps(root)):
                yield (
                    f"tools.{number}.custom.input_schema: {fault}"
                    if protocol == "anthropic_messages"
                    else f"Invalid schema for function '{name}': {fault}"
                )

    return faults


def _count(limit: int) -> Callable[[Asked], Iterator[Fault]]:
    def faults(asked: Asked) -> Iterator[Fault]:
        if (found := len(asked.body.get("tools") or ())) > limit:
            yield (
                f"Invalid 'tools': array too long. Expected an array with maximum length {limit}, but got an array "
                f"with length {found} instead."
            )

    return faults


_EXAMPLE_MODELS = {
    "responses": "gpt-6.1-sol",
    "chat": "some/model",
    "anthropic_messages": "claude-opus-5-5",
    "interactions": "gemini-4-argon",
    "generate_content": "gemini-4-argon",
}


def asked_with(protocol: str, schema: Json, times: int = 1) -> Asked:
    """A request with a tool of this schema."""
    tool: Json = {"name": "search", "description": "Finds things."}
    match protocol:
        case "responses" | "interactions":
            tool = {"type": "function", **tool, "parameters": schema}
        case "chat":
            tool = {"type": "function", "function": {**tool, "parameters": schema}}
        case "anthropic_messages":
            tool = {**tool, "input_schema": schema}
        case "generate_content":
            tool = {"functionDeclarations": [{**tool, "parametersJsonSchema": schema}]}
    model = _EXAMPLE_MODELS[protocol]
    return Asked(model, {"model": model, "tools": [tool] * times})


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


_ARRAY = _object(tags={"type": "array"})
_EMAIL = _object(to={"type": "string", "pattern": "^(?!\\.)[a-z.]+@[a-z.]+$"})
_CHOICES = _object(mode={"enum": ["", "a"]})
_TUPLE = _object(at={"type": "array", "prefixItems": [{"type": "number"}] * 2, "items": {}})
_KEYS = "anthropics/claude-code#79418; ComposioHQ/composio#3500"
_GENAI = "google-genai, GenerateContentConfig.response_json_schema"
_CYCLE = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/Node"}},
    "required": ["node"],
    "$defs": {"Node": {**_object(next={"$ref": "#/$defs/Node"}), "required": ["next"]}},
}
_NESTED: Json = {}
for _ in range(40):
    _NESTED = _object(inner=_NESTED)
_SCHEMA = {"code": "invalid_function_parameters"}

_EACH: tuple[tuple[str, str, Callable[[Path, Json], Iterator[str]], str, Json], ...] = (
    ("oa-items", "responses", _items, "sigoden/aichat#1049; campfirein/byterover-cli#42", _ARRAY),
    ("oa-lookaround", "responses", _lookaround, "vercel/ai#21037; anomalyco/opencode#32073 (Figma)", _EMAIL),
    (
        "oa-top",
        "responses",
        _top,
        "nspady/google-calendar-mcp#39; langchain-ai/langchainjs#9804",
        {"anyOf": []},
    ),
    ("cc-items", "chat", _items, "mark3labs/mcphost#35", _ARRAY),
    ("cc-top", "chat", _top, "nspady/google-calendar-mcp#39", {"type": "object", "oneOf": []}),
    ("cc-grammar", "chat", _grammar, "ggml-org/llama.cpp#25746, #17473; codefuturist/email-mcp#72", _EMAIL),
    ("cc-keys", "chat", _key, f"a gateway to Claude: {_KEYS}", _object(**{"$filter": {}})),
    (
        "an-keys",
        "anthropic_messages",
        _key,
        _KEYS,
        _object(where=_object(**{"filter[id]": {"type": "string"}})),
    ),
    (
        "an-draft",
        "anthropic_messages",
        _draft,
        "Dokploy/mcp#74; anthropics/claude-code#86665",
        _object(ttl={"type": "integer", "minimum": 0, "exclusiveMinimum": True}),
    ),
    ("gi-fields", "interactions", _gemini_field, _GENAI, _object(q={"type": "string", "const": "x"})),
    ("ge-fields", "generate_content", _gemini_field, _GENAI, _object(q={"not": {}})),
    *(
        (f"{prefix}-{name}", protocol, _gemini_field, source, schema)
        for prefix, protocol in (("gi", "interactions"), ("ge", "generate_content"))
        for name, source, schema in (
            ("choices", "litellm#14155; 9router#359; gemini-cli#4400", _CHOICES),
            ("tuples", "litellm#25718; google/adk-python#5446; diegosouzapw/OmniRoute#12871", _TUPLE),
        )
    ),
    ("gi-names", "interactions", _gemini_names, "probelabs/probe#569", {"type": "object", "required": ["q"]}),
    ("ge-names", "generate_content", _gemini_names, "cline/cline#7339; DEEIX-AI/DEEIX-Chat#546", _ARRAY),
)
_WHOLE: tuple[tuple[str, str, Callable[[Json], Iterator[str]], str, Json], ...] = (
    ("gi-cycle", "interactions", _gemini_cycle, _GENAI, _CYCLE),
    ("ge-cycle", "generate_content", _gemini_cycle, _GENAI, _CYCLE),
    ("ge-deep", "generate_content", _deep, "protobuf: JSON is at most 100 levels deep", _NESTED),
    *(
        (
            f"{prefix}-ref",
            protocol,
            _unresolved,
            "JSON Schema 2020-12, 8.2.3",
            _object(q={"$ref": "#/$defs/Q"}),
        )
        for prefix, protocol in (
            ("oa", "responses"),
            ("cc", "chat"),
            ("an", "anthropic_messages"),
            ("gi", "interactions"),
        )
    ),
)
_ALL = (*((name, protocol, _each(check), *rest) for name, protocol, check, *rest in _EACH), *_WHOLE)
RULES = (
    *(
        Rule(
            id=name,
            protocol=protocol,
            check=_of_tools(protocol, check),
            error=_SCHEMA if protocol in ("responses", "chat") else {},
            source=source,
            example=asked_with(protocol, schema),
        )
        for name, protocol, check, source, schema in _ALL
    ),
    *(
        Rule(
            id=f"{prefix}-tools",
            protocol=protocol,
            check=_count(128),
            error={"param": "tools", "code": "array_above_max_length"},
            source="vishalmysore/Tools4AI#16; zed-industries/zed#32946",
            example=asked_with(protocol, _object(), times=129),
        )
        for prefix, protocol in (("oa", "responses"), ("cc", "chat"))
    ),
)
