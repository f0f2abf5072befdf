"""Converts tool schemas to the subset that a vendor accepts: one unsupported schema fails the whole request.

Unsupported keywords are dropped or rewritten. That is safe, because every call is validated against the original
schema before the tool runs.
"""

import functools
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import Message, Part, ToolCall, ToolResult, ToolSpec
from agent_nb.providers.base import CallPiece, CallStarted, Piece, Request, Turn

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
    """Whether it can be encoded as UTF-8, unlike a lone surrogate."""
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
    "required": lambda value: _is_list(value) and all(isinstance(name, str) for name in value),
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
    """The subset of JSON Schema that a protocol accepts. Everything else is dropped or rewritten."""

    keywords: frozenset[str] = _KEYWORDS
    formats: frozenset[str] | None = None
    """Accepted values of `format`; None for any."""
    refs: bool = True
    """Whether it accepts `$ref`; if not, definitions are inlined."""
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
"""Any valid draft 2020-12 schema whose property names match this pattern.
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
"""The subset documented for `response_json_schema` in google-genai. Cyclic references are allowed only in optional
properties, so none are sent. Empty choices are refused (https://github.com/BerriAI/litellm/pull/14155)."""
CHAT = Dialect(
    keywords=_KEYWORDS - _NOT_IN_GRAMMARS, property_name=ANTHROPIC.property_name, max_tools=OPENAI.max_tools
)
"""The subset that all servers accept. A gateway may forward a request to any vendor, and llama.cpp compiles all tools
into one grammar, which fails for some patterns and for long repetitions (https://github.com/ggml-org/llama.cpp/issues/25746)."""


MAX_DEPTH = 16
MAX_NODES = 2000
"""Nested schemas in one schema. Beyond that, definitions are no longer inlined."""
MAX_ORDER = 300
"""Maximum characters for the description of a tuple's items."""
_NOT_AT_THE_TOP = {"anyOf", "oneOf", "enum", "const"}
_OLDER_BOUNDS = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


class UnsendableError(ValueError):
    """The schema cannot be sent to a vendor. The message completes "The schema of `name` ..."."""


@dataclass(frozen=True, slots=True)
class DialectSchema:
    schema: Json
    names: dict[str, str]
    """Replacements for property names that the vendor refuses."""


def convert_schema(schema: Json, dialect: Dialect) -> DialectSchema:
    """Convert the schema to a dialect. The result is cached and must not be mutated. Raises `UnsendableError`."""
    try:
        return _convert_text(json.dumps(schema, allow_nan=False), dialect)
    except UnsendableError:
        raise
    except RecursionError:
        raise UnsendableError("is nested too deeply") from None
    except (TypeError, ValueError):
        raise UnsendableError("is not valid JSON") from None


@functools.lru_cache(maxsize=512)
def _convert_text(text: str, dialect: Dialect) -> DialectSchema:
    writing = _SchemaWriter(json.loads(text), dialect)
    return DialectSchema(writing.root(), writing.names)


def accepted_name(name: str, pattern: re.Pattern[str]) -> str:
    """The name if it matches the pattern, else a similar, unique one."""
    return name if pattern.fullmatch(name) else _plain_name(name)


def _plain_name(name: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return "_".join(("", *re.findall(r"[a-zA-Z0-9]+", name[:50]), digest))


@dataclass(slots=True)
class _SchemaWriter:
    source: Json
    dialect: Dialect
    names: dict[str, str] = field(default_factory=dict)
    definitions: Json = field(default_factory=dict)
    inlined: tuple[str, ...] = ()
    nodes: int = 0
    depth: int = 0

    def root(self) -> Json:
        """The top-level object schema, with the properties of all alternatives: vendors refuse `anyOf` at the top."""
        schema = self._merged(self.source)
        if "object" not in types(schema.get("type", "object")):
            raise UnsendableError("is not that of an object")
        options = [self._merged(option) for option in _list(schema, "anyOf") + _list(schema, "oneOf")]
        schemas_by_name: dict[str, Json] = {}
        for node in (schema, *options):
            for name, value in _properties(node).items():
                schemas_by_name.setdefault(name, {})[json.dumps(value, sort_keys=True)] = value
        properties = {name: _any_of(list(distinct.values())) for name, distinct in schemas_by_name.items()}
        top = {key: value for key, value in schema.items() if key not in _NOT_AT_THE_TOP}
        top |= {"type": "object", "properties": properties}
        if not options and "properties" not in schema:
            top.setdefault("additionalProperties", True)
        if options:
            top.pop("additionalProperties", None)
            everywhere = set.intersection(*({*_list(option, "required", str)} for option in options))
            top["required"] = [*_list(schema, "required", str), *sorted(everywhere)]
        converted_root = self._node(top)
        return {**converted_root, "$defs": self.definitions} if self.definitions else converted_root

    def schema(self, schema: Any) -> Json:
        self.nodes += 1
        if not isinstance(schema, dict) or self.depth >= MAX_DEPTH:
            return {}
        self.depth += 1
        ref = schema.get("$ref")
        if isinstance(ref, str) and self._target(ref) is not None:
            result = self._reference(schema, ref)
        else:
            result = self._node(self._merged(schema))
        self.depth -= 1
        return result

    def _reference(self, schema: Json, ref: str) -> Json:
        """A `$ref`, or its target inlined, because a `$ref` beside other keywords is refused."""
        is_repeated = ref in self.inlined or self.nodes > MAX_NODES
        if self.dialect.refs and (is_repeated or self.dialect.keywords.isdisjoint(schema)):
            return {"$ref": f"#/$defs/{self._definition_name(ref)}"}
        whole = self._merged(schema)
        if is_repeated:
            return self._node({key: whole[key] for key in ("type", "title", "description") if key in whole})
        before, self.inlined = self.inlined, (*self.inlined, ref)
        result = self._node(whole)
        self.inlined = before
        return result

    def _definition_name(self, ref: str) -> str:
        name = ref.removeprefix("#/$defs/")
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", name):
            name = _plain_name(ref)
        if name not in self.definitions:
            self.definitions[name] = {}  # set first, because the target may refer to itself
            before, self.inlined, self.depth = (self.inlined, self.depth), (ref,), 1
            self.definitions[name] = self._node(self._merged({"$ref": ref}))
            self.inlined, self.depth = before
        return name

    def _target(self, ref: str) -> Json | None:
        start, *steps = ref.split("/")
        node: Any = self.source if start == "#" else None
        for step in (part.replace("~1", "/").replace("~0", "~") for part in steps):
            if isinstance(node, list) and re.fullmatch(r"[0-9]{1,6}", step):
                node = dict(enumerate(node)).get(int(step))
            else:
                node = node.get(step) if isinstance(node, dict) else None
        return node if isinstance(node, dict) else None

    def _merged(self, schema: Any, visited: tuple[str, ...] = ()) -> Json:
        """The schema merged with its `$ref` target and its `allOf`; keywords of the schema itself win."""
        if not isinstance(schema, dict):
            return {}
        self.nodes += 1
        whole = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        parts = _list(schema, "allOf")
        if isinstance(ref := schema.get("$ref"), str) and ref not in visited and self.nodes < 2 * MAX_NODES:
            visited = (*visited, ref)
            parts = [self._target(ref), *parts]
        for part in parts:
            other = self._merged(part, visited)
            properties = {**_properties(other), **_properties(whole)}
            required = [*_list(whole, "required", str), *_list(other, "required", str)]
            whole = {**other, **whole}
            whole |= {"properties": properties} if properties else {}
            whole |= {"required": required} if required else {}
        return whole

    def _node(self, schema: Json) -> Json:
        schema = _modern(schema, self.dialect)
        result: Json = {}
        for keyword, value in schema.items():
            is_accepted = keyword in self.dialect.keywords and VALID[keyword](value)
            if is_accepted and (converted_value := self._convert_value(schema, keyword, value)) is not None:
                result[keyword] = converted_value
        if "array" in types(result.get("type")) and not {"items", "prefixItems"} & result.keys():
            result["items"] = {}
        if "enum" in result and not {"type", "anyOf"} & result.keys():
            for kind in ("string", "number"):  # Gemini refuses an `enum` without a type
                if all(is_a(choice, (kind,)) for choice in result["enum"]):
                    result["type"] = kind
        return result

    def _convert_value(self, schema: Json, keyword: str, value: Any) -> Any:
        """The converted value of a keyword; None to omit it."""
        match keyword:
            case "properties":
                return {
                    self._name(name): self._property(name, inner)
                    for name, inner in _properties(schema).items()
                }
            case "required":
                properties = _properties(schema)
                return [self._name(name) for name in dict.fromkeys(value) if name in properties]
            case "items":
                return self.schema(value)
            case "prefixItems" | "anyOf":
                return [self.schema(inner) for inner in value if inner is not False] or None
            case "additionalProperties":
                is_open = value is False and "patternProperties" in schema
                return None if is_open else value if isinstance(value, bool) else self.schema(value)
            case "enum":
                return self._enum(schema, value)
            case "format" if self.dialect.formats is not None and value not in self.dialect.formats:
                return None
        return value

    def _property(self, name: str, schema: Any) -> Json:
        result = self.schema(schema)
        if self._name(name) == name or "$ref" in result or not is_text(name):
            return result
        return {**result, "description": f"`{name}` {result.get('description', '')}".rstrip()}

    def _name(self, name: str) -> str:
        accepted = accepted_name(name, self.dialect.property_name)
        if accepted != name:
            self.names[name] = accepted
        return accepted

    def _enum(self, schema: Json, value: list[Any]) -> list[Any] | None:
        kinds = types(schema.get("type")) or tuple(TYPES)
        choices = [choice for choice in value if choice != "" or self.dialect.empty_choices]
        distinct = {json.dumps(choice, sort_keys=True): choice for choice in choices if is_a(choice, kinds)}
        is_accepted = all(is_a(choice, tuple(self.dialect.enum_types)) for choice in distinct.values())
        return (list(distinct.values()) or None) if is_accepted else None


def _modern(schema: Json, dialect: Dialect) -> Json:
    """The schema in draft 2020-12, with keywords that the dialect lacks replaced by equivalents."""
    modern = dict(schema)
    for exclusive, bound in _OLDER_BOUNDS:
        if modern.get(exclusive) is True and bound in modern:
            modern[exclusive] = modern.pop(bound)
    if isinstance(modern.get("items"), list):
        modern["prefixItems"] = modern.pop("items")
        modern |= {"items": modern["additionalItems"]} if "additionalItems" in modern else {}
    if "anyOf" not in modern and "oneOf" in modern:
        modern["anyOf"] = modern["oneOf"]
    if "const" in modern and "const" not in dialect.keywords:
        modern.setdefault("enum", [modern["const"]])
    if modern.get("items") is False and isinstance(modern.get("prefixItems"), list):
        modern.setdefault("maxItems", len(modern["prefixItems"]))
    if isinstance(modern.get("items"), bool):
        del modern["items"]
    if "prefixItems" not in dialect.keywords and (places := _list(modern, "prefixItems")):
        further = [modern["items"]] if "items" in modern else []
        distinct = {json.dumps(item, sort_keys=True): item for item in (*places, *further)}
        modern["items"] = _any_of(list(distinct.values()))
        if len(distinct) > 1:
            order = f"In this order: {json.dumps(places)}"[:MAX_ORDER]
            modern["description"] = f"{modern.get('description', '')} {order}".strip()
    return modern


def _any_of(options: list[Any]) -> Any:
    return {"anyOf": options} if len(options) > 1 else options[0]


def _list(schema: Json, keyword: str, kind: type | tuple[type, ...] = (dict, bool)) -> list[Any]:
    value = schema.get(keyword)
    return [item for item in value if isinstance(item, kind)] if isinstance(value, list) else []


def _properties(schema: Json) -> Json:
    value = schema.get("properties")
    items = value.items() if isinstance(value, dict) else ()
    return {name: inner for name, inner in items if inner is not False}


@dataclass(frozen=True, slots=True)
class ToolTranslation:
    """The tools of a request in a dialect, and the renames to undo in the calls of its answer."""

    tools: tuple[ToolSpec, ...]
    left_out: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    """Names sent instead of tool names."""
    properties: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Names sent instead of argument names, by tool."""

    @classmethod
    def of(cls, specs: Sequence[ToolSpec], dialect: Dialect, vendor: str) -> "ToolTranslation":
        """Convert these tools. Raises `ConfigError` if there are more than the vendor accepts."""
        if dialect.max_tools is not None and len(specs) > dialect.max_tools:
            raise ConfigError(
                f"This run has {len(specs)} tools, and {vendor} takes at most {dialect.max_tools}. Name those that"
                " it needs, such as `-t mcp:SERVER/TOOL` or `Agent(tools=[...])`."
            )
        tools, left_out = [], []
        names: dict[str, str] = {}
        properties: dict[str, Mapping[str, str]] = {}
        for spec in specs:
            try:
                result = convert_schema(spec.schema, dialect)
            except UnsendableError as problem:
                left_out.append(f"The model is not offered `{spec.name}`: its schema {problem}.")
                continue
            accepted = accepted_name(spec.name, dialect.tool_name)
            names |= {spec.name: accepted} if accepted != spec.name else {}
            properties |= {spec.name: result.names} if result.names else {}
            tools.append(replace(spec, name=accepted, schema=result.schema))
        return cls(tuple(tools), tuple(left_out), names, properties)

    def outgoing(self, request: Request) -> Request:
        """The request with these tools, and with the vendor's names in the calls of earlier turns."""
        messages = request.messages
        if self.names or self.properties:
            messages = tuple(self._rename_message(message) for message in messages)
        return replace(request, tools=self.tools, messages=messages)

    def incoming(self) -> Callable[[Sequence[Piece]], Sequence[Piece]]:
        """A filter that restores the original names in each batch of pieces of an answer."""
        return _NameRestorer(self).restore if self.names or self.properties else _unchanged

    def original_call(self, call: ToolCall) -> ToolCall:
        """The vendor's call with the original names."""
        return _NameRestorer(self).call(call) if self.names or self.properties else call

    def _rename_message(self, message: Message) -> Message:
        parts = tuple(self._rename_part(part) for part in message.parts)
        return message if parts == message.parts else replace(message, parts=parts)

    def _rename_part(self, part: Part) -> Part:
        if not isinstance(part, ToolCall | ToolResult):
            return part
        renamed = replace(part, name=self.names.get(part.name, part.name))
        if isinstance(renamed, ToolCall) and (renames := self.properties.get(part.name)):
            return replace(renamed, arguments=_renamed(renamed.arguments, renames))
        return renamed


def _unchanged(pieces: Sequence[Piece]) -> Sequence[Piece]:
    return pieces


class _NameRestorer:
    """Restores the names in one answer. Renamed arguments are buffered until their call is complete."""

    def __init__(self, translation: ToolTranslation) -> None:
        self._original_names = {sent: original for original, sent in translation.names.items()}
        self._original_properties = {
            tool: {sent: original for original, sent in renames.items()}
            for tool, renames in translation.properties.items()
        }
        self._buffered_calls: set[str] = set()

    def restore(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        restored: list[Piece] = []
        for piece in pieces:
            match piece:
                case CallStarted(call_id, name):
                    original = self._original_names.get(name, name)
                    if original in self._original_properties:
                        self._buffered_calls.add(call_id)
                    restored.append(replace(piece, name=original))
                case CallPiece(call_id) if call_id in self._buffered_calls:
                    pass
                case Turn():
                    turn = self._turn(piece)
                    calls = [call for call in turn.message.tool_calls if call.id in self._buffered_calls]
                    restored += [*(CallPiece(call.id, call.arguments) for call in calls), turn]
                case _:
                    restored.append(piece)
        return restored

    def _turn(self, turn: Turn) -> Turn:
        parts = tuple(self.call(part) if isinstance(part, ToolCall) else part for part in turn.message.parts)
        return replace(turn, message=replace(turn.message, parts=parts))

    def call(self, call: ToolCall) -> ToolCall:
        original = self._original_names.get(call.name, call.name)
        renames = self._original_properties.get(original)
        arguments = _renamed(call.arguments, renames) if renames else call.arguments
        return replace(call, name=original, arguments=arguments)


def _renamed(arguments: str, names: Mapping[str, str]) -> str:
    """The arguments with renamed keys. Invalid JSON stays unchanged: the call fails later."""
    try:
        return json.dumps(_with_keys(json.loads(arguments), names), ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


def _with_keys(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case dict():
            return {names.get(key, key): _with_keys(item, names) for key, item in value.items()}
        case list():
            return [_with_keys(item, names) for item in value]
    return value
