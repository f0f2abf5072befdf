"""Converts tool schemas to the subset that a vendor accepts: one unsupported schema fails the whole request.

Unsupported keywords are dropped or rewritten, and definitions are inlined. That is safe, because every call is
validated against the original schema before the tool runs.
"""

import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any

from agent_nb._base.secrets import shortened
from agent_nb._base.text import whole_text
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import Part, ToolCall, ToolResult, ToolSpec
from agent_nb.providers.base import CallPiece, CallStarted, Piece, Request, Turn

MAX_DEPTH = 16
MAX_NODES = 1000
"""Nested schemas in one schema. Beyond that, only the type and description of a definition are sent."""
MAX_ORDER = 300
"""Maximum characters for the description of a tuple's items."""
_TYPES: dict[str, tuple[Any, str]] = {
    "string": (str, "$ref type title description format pattern"),
    "number": (int | float, "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
    "integer": (int, "minLength maxLength minItems maxItems minProperties maxProperties"),
    "boolean": (bool, "uniqueItems additionalProperties"),
    "array": (list, "type enum required anyOf oneOf allOf prefixItems items"),
    "object": (dict, "properties items additionalProperties patternProperties"),
    "null": (NoneType, ""),
}
"""For each type of JSON: its Python type, and the keywords that have values of this type in some draft."""
_KEYWORDS = frozenset(" ".join(["const default", *(words for _, words in _TYPES.values())]).split())
_REWRITTEN = {"$ref", "allOf", "oneOf", "const", "prefixItems", "patternProperties"}
_NOT_REGULAR = re.compile(r"\(\?<?[=!]|\\[1-9]|\\k<|\(\?P=")
"""Lookaround and back references."""
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_CLAUDE_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The subset of JSON Schema that a protocol accepts. Everything else is dropped or rewritten."""

    keywords: frozenset[str] = _KEYWORDS - _REWRITTEN
    formats: frozenset[str] | None = None
    """Accepted values of `format`; None for any."""
    choice: Callable[[Any], bool] = lambda choice: True
    """Whether it accepts this choice of an `enum`; if not, the others are sent."""
    tool_name: re.Pattern[str] = _NAME
    property_name: re.Pattern[str] = re.compile(r"[^\x00-\x1f]+")
    max_tools: int | None = None
    max_description: int | None = None
    """Maximum characters of a tool's description; longer ones are truncated."""


OPENAI = Dialect(max_tools=128)
"""Arrays need `items`, and patterns have no lookaround.
https://developers.openai.com/api/docs/guides/function-calling, https://github.com/vercel/ai/pull/21037"""
ANTHROPIC = Dialect(property_name=_CLAUDE_PROPERTY)
"""Any valid draft 2020-12 schema whose property names match this pattern.
https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools
https://github.com/anthropics/claude-code/issues/79418"""
GEMINI = Dialect(
    keywords=frozenset(
        {"type", "title", "description", "enum", "properties", "required", "additionalProperties", "items"}
        | {"anyOf", "format", "minimum", "maximum", "minItems", "maxItems"}
    ),
    formats=frozenset({"date-time", "date", "time"}),
    choice=lambda choice: choice != "" and _is_a(choice, ("string", "number")),
    tool_name=re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}"),
    max_tools=512,
)
"""The subset documented for `response_json_schema` in google-genai. `prefixItems` does not replace `items` in tools
(https://github.com/BerriAI/litellm/pull/25718), and cyclic references are allowed only in optional properties.
Empty choices are refused (https://github.com/BerriAI/litellm/pull/14155)."""
CHAT = Dialect(
    keywords=OPENAI.keywords
    - {"multipleOf", "pattern", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems"},
    property_name=_CLAUDE_PROPERTY,
    max_tools=128,
    max_description=1024,
)
"""The subset that all servers accept. A gateway may forward a request to any vendor, and llama.cpp compiles all tools
into one grammar, which fails for some patterns and for long repetitions (https://github.com/ggml-org/llama.cpp/issues/25746)."""


class UnsendableError(Exception):
    """The schema cannot be sent to a vendor. The message completes "The schema of `name` ..."."""


def convert_schema(schema: Json, dialect: Dialect) -> "Conversion":
    """Convert the schema to a dialect. The result is cached and must not be mutated. Raises `UnsendableError`."""
    try:
        return Conversion.of(whole_text(json.dumps(schema, allow_nan=False, ensure_ascii=False)), dialect)
    except RecursionError:
        raise UnsendableError("is nested too deeply") from None
    except (TypeError, ValueError):
        raise UnsendableError("is not valid JSON") from None


@dataclass(slots=True)
class Conversion:
    source: Any
    dialect: Dialect
    schema: Json = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """Replacements for property names that the vendor refuses."""
    nodes: int = 0

    @classmethod
    @functools.lru_cache(maxsize=512)
    def of(cls, text: str, dialect: Dialect) -> "Conversion":
        conversion = cls(json.loads(text), dialect)
        conversion.schema = conversion._root()
        return conversion

    def _root(self) -> Json:
        """The top-level object schema, with the properties of all alternatives: vendors refuse `anyOf` at the top."""
        schema = self._merged(self.source)
        if "object" not in _types(schema.get("type", "object")):
            raise UnsendableError("is not that of an object")
        options = [self._merged(option) for option in schema.pop("anyOf", ())]
        if options:
            schema.pop("additionalProperties", None)
            everywhere = set.intersection(*({*option.get("required", ())} for option in options))
            schema["required"] = [*schema.get("required", ()), *sorted(everywhere)]
        elif "properties" not in schema:
            schema.setdefault("additionalProperties", True)
        schemas_by_name: dict[str, list[Any]] = {}
        for node in (schema, *options):
            for name, inner in node.get("properties", {}).items():
                schemas_by_name.setdefault(name, []).append(inner)
        properties = {name: _any_of(schemas) for name, schemas in schemas_by_name.items()}
        schema.pop("enum", None)
        return self._node({**schema, "type": "object", "properties": properties}, ())

    def _schema(self, schema: Any, trail: tuple[str, ...]) -> Json:
        """Convert a nested schema. `trail` has the `$ref` of each schema around it, or an empty string."""
        if not isinstance(schema, dict) or len(trail) >= MAX_DEPTH:
            return {}
        ref = str(schema.get("$ref", ""))
        merged = self._merged(schema)
        if ref and (ref in trail or self.nodes > MAX_NODES):
            merged = {key: merged[key] for key in ("type", "title", "description") if key in merged}
        return self._node(merged, (*trail, ref))

    def _target(self, ref: Any) -> Json | None:
        start, *steps = str(ref).split("/")
        node: Any = self.source if start == "#" else None
        for step in (part.replace("~1", "/").replace("~0", "~") for part in steps):
            if isinstance(node, list):
                node = {str(index): item for index, item in enumerate(node)}
            node = node.get(step) if isinstance(node, dict) else None
        return node if isinstance(node, dict) else None

    def _merged(self, schema: Any, visited: tuple[str, ...] = ()) -> Json:
        """The schema merged with its `$ref` target and its `allOf`; keywords of the schema itself win."""
        if not isinstance(schema, dict):
            return {}
        self.nodes += 1
        merged = _modern(schema)
        ref, parts = merged.pop("$ref", ""), merged.pop("allOf", [])
        if ref and ref not in visited and self.nodes < 2 * MAX_NODES:
            visited = (*visited, ref)
            parts = [self._target(ref), *parts]
        for other in (self._merged(part, visited) for part in parts):
            if "properties" in other:
                merged["properties"] = other["properties"] | merged.get("properties", {})
            if "required" in other:
                merged["required"] = [*merged.get("required", ()), *other["required"]]
            merged = other | merged
        return merged

    def _node(self, schema: Json, trail: tuple[str, ...]) -> Json:
        keywords = [keyword for keyword in schema if keyword in self.dialect.keywords]
        values = {keyword: self._value(schema, keyword, trail) for keyword in keywords}
        result = {keyword: value for keyword, value in values.items() if value is not None}
        if "enum" in result and not {"type", "anyOf"} & result.keys():
            # Gemini refuses an `enum` without a type.
            names = _TYPES.keys() - {"integer"}
            types = sorted(name for name in names if any(_is_a(choice, (name,)) for choice in result["enum"]))
            result["type"] = types[0] if len(types) == 1 else types
        if "array" in _types(result.get("type")):
            result.setdefault("items", {})
        return result

    def _value(self, schema: Json, keyword: str, trail: tuple[str, ...]) -> Any:
        """The converted value of a keyword; None to omit it."""
        value = schema[keyword]
        match keyword:
            case "properties":
                return dict(self._property(name, inner, trail) for name, inner in value.items())
            case "required":
                properties = schema.get("properties", {})
                return [self._name(name) for name in dict.fromkeys(value) if name in properties]
            case "anyOf":
                return [self._schema(inner, trail) for inner in value if inner is not False] or None
            case "items" | "additionalProperties" if isinstance(value, dict):
                return self._schema(value, trail)
            case "additionalProperties" if "patternProperties" in schema:
                return None
            case "enum":
                types = _types(schema["type"]) if "type" in schema else _TYPES
                choices = (choice for choice in value if _is_a(choice, types) and self.dialect.choice(choice))
                return _distinct(choices) or None
            case "format" if self.dialect.formats is not None and value not in self.dialect.formats:
                return None
        return value

    def _property(self, name: str, schema: Any, trail: tuple[str, ...]) -> tuple[str, Json]:
        accepted, result = self._name(name), self._schema(schema, trail)
        if accepted != name:
            result["description"] = f"`{name}` {result.get('description', '')}".rstrip()
        return accepted, result

    def _name(self, name: str) -> str:
        accepted = _accepted_name(name, self.dialect.property_name)
        if accepted != name:
            self.names[name] = accepted
        return accepted


def _modern(schema: Json) -> Json:
    """The valid keywords of a schema in draft 2020-12, with equivalents for those that a vendor may refuse."""
    modern = {keyword: value for keyword, value in schema.items() if _is_valid(keyword, value)}
    if "properties" in modern:
        modern["properties"] = {n: inner for n, inner in modern["properties"].items() if inner is not False}
    if "oneOf" in modern:
        modern.setdefault("anyOf", modern.pop("oneOf"))
    if "const" in modern:
        modern.setdefault("enum", [modern["const"]])
    if isinstance(modern.get("items"), list):
        modern["prefixItems"] = modern.pop("items")
    if places := modern.get("prefixItems"):
        modern["items"] = _any_of([*places, *([modern["items"]] if "items" in modern else [])])
        order = f"In this order: {json.dumps(places)}"[:MAX_ORDER]
        modern["description"] = f"{modern.get('description', '')} {order}".strip()
    return modern


def _is_valid(keyword: str, value: Any) -> bool:
    """Whether the keyword is known, and its value is valid in some draft."""
    if not _is_a(value, [name for name, (_, words) in _TYPES.items() if keyword in words.split()]):
        return keyword in ("const", "default")
    match keyword:
        case "type":
            names = _types(value)
            return all(name in [*_TYPES] for name in names) and len({*names}) == len(names) > 0
        case "required":
            return all(isinstance(name, str) for name in value)
        case "prefixItems" | "items" if isinstance(value, list):
            return all(isinstance(inner, dict | bool) for inner in value)
        case "multipleOf":
            return bool(value > 0)
        case "pattern":
            try:
                return bool(re.compile(value)) and not _NOT_REGULAR.search(value)
            except (re.error, OverflowError, RecursionError):
                return False
    return keyword not in _TYPES["integer"][1].split() or value >= 0


def _is_a(value: Any, types: Iterable[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in types
    return any(isinstance(value, _TYPES[name][0]) for name in types)


def _types(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _accepted_name(name: str, pattern: re.Pattern[str]) -> str:
    """The name if it matches the pattern, else a similar, unique one."""
    if pattern.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return "_".join(("", *re.findall(r"[a-zA-Z0-9]+", name[:50]), digest))


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list({json.dumps(value, sort_keys=True): value for value in values}.values())


def _any_of(schemas: list[Any]) -> Any:
    distinct = _distinct(schemas)
    return {"anyOf": distinct} if len(distinct) > 1 else distinct[0]


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
        tools, left_out = list[ToolSpec](), list[str]()
        names, properties = dict[str, str](), dict[str, Mapping[str, str]]()
        for spec in specs:
            try:
                result = convert_schema(spec.schema, dialect)
            except UnsendableError as problem:
                left_out.append(f"The model is not offered `{spec.name}`: its schema {problem}.")
                continue
            accepted = _accepted_name(spec.name, dialect.tool_name)
            names |= {spec.name: accepted} if accepted != spec.name else {}
            properties |= {spec.name: result.names} if result.names else {}
            description = shortened(spec.description, dialect.max_description or len(spec.description))
            tools.append(replace(spec, name=accepted, description=description, schema=result.schema))
        return cls(tuple(tools), tuple(left_out), names, properties)

    def outgoing(self, request: Request) -> Request:
        """The request with these tools, and with the vendor's names in the calls of earlier turns."""
        messages = request.messages
        if self.names or self.properties:
            messages = tuple(replace(m, parts=tuple(map(self._sent_part, m.parts))) for m in messages)
        return replace(request, tools=self.tools, messages=messages)

    def _sent_part(self, part: Part) -> Part:
        if not isinstance(part, ToolCall | ToolResult):
            return part
        sent = replace(part, name=self.names.get(part.name, part.name))
        if isinstance(sent, ToolCall):
            return replace(sent, arguments=_renamed(sent.arguments, self.properties.get(part.name)))
        return sent

    def original_call(self, call: ToolCall) -> ToolCall:
        """The vendor's call with the original names."""
        name = _inverted(self.names).get(call.name, call.name)
        arguments = _renamed(call.arguments, _inverted(self.properties.get(name, {})))
        return replace(call, name=name, arguments=arguments)

    def incoming(self) -> Callable[[Sequence[Piece]], Sequence[Piece]]:
        """A filter that restores the original names in each batch of pieces of an answer.

        Renamed arguments are buffered until their call is complete.
        """
        original_names, buffered_calls = _inverted(self.names), set[str]()

        def restored(piece: Piece) -> list[Piece]:
            match piece:
                case CallStarted(call_id, name):
                    original = original_names.get(name, name)
                    if original in self.properties:
                        buffered_calls.add(call_id)
                    return [replace(piece, name=original)]
                case CallPiece(call_id) if call_id in buffered_calls:
                    return []
                case Turn(message=message):
                    parts = [self.original_call(p) if isinstance(p, ToolCall) else p for p in message.parts]
                    calls = [p for p in parts if isinstance(p, ToolCall) and p.id in buffered_calls]
                    turn = replace(piece, message=replace(message, parts=tuple(parts)))
                    return [*(CallPiece(call.id, call.arguments) for call in calls), turn]
            return [piece]

        if not self.names and not self.properties:
            return lambda pieces: pieces
        return lambda pieces: [new for piece in pieces for new in restored(piece)]


def _inverted(names: Mapping[str, str]) -> dict[str, str]:
    return {sent: original for original, sent in names.items()}


def _renamed(arguments: str, names: Mapping[str, str] | None) -> str:
    """The arguments with renamed keys. Invalid JSON stays unchanged: the call fails later."""
    if not names:
        return arguments
    try:
        value = json.loads(
            arguments, object_pairs_hook=lambda pairs: {names.get(key, key): value for key, value in pairs}
        )
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments
