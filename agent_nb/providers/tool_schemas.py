"""Turns the JSON schema of any tool into one that a vendor takes: vendors refuse a whole request for one schema.

What a vendor does not take is dropped or rewritten. That is safe, because every call is checked against the tool's
own schema before the tool runs.
"""

import functools
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.errors import ConfigError
from agent_nb.messages import Message, Part, ToolCall, ToolResult, ToolSpec
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
    """Whether it can be sent: half of a surrogate pair cannot."""
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
    "required": lambda value: _is_list(value) and all(isinstance(each, str) for each in value),
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
    """The part of JSON Schema that a protocol takes. Everything else is dropped or rewritten."""

    keywords: frozenset[str] = _KEYWORDS
    formats: frozenset[str] | None = None
    """The values of `format`; None for any."""
    refs: bool = True
    """Whether it takes `$ref`; if not, definitions are written where they are used."""
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
"""Any schema that is valid under draft 2020-12, with these names of properties.
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
"""The subset that google-genai documents at `response_json_schema`. It allows cyclic references only in places that
are not required, so there are none. Empty choices are refused (https://github.com/BerriAI/litellm/pull/14155)."""
CHAT = Dialect(
    keywords=_KEYWORDS - _NOT_IN_GRAMMARS, property_name=ANTHROPIC.property_name, max_tools=OPENAI.max_tools
)
"""What all servers take. A gateway may pass a request on to any vendor, and llama.cpp makes one grammar of all tools,
which fails for some patterns and for long repetitions (https://github.com/ggml-org/llama.cpp/issues/25746)."""


MAX_DEPTH = 16
MAX_NODES = 2000
"""Schemas inside of one. Beyond that, definitions are no longer written where they are used."""
MAX_ORDER = 300
"""Characters that describe the places of a tuple."""
_NOT_AT_THE_TOP = {"anyOf", "oneOf", "enum", "const"}
_OLDER_BOUNDS = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


class UnsendableError(ValueError):
    """A vendor cannot be told of this schema. The message continues "The schema of `name` ..."."""


@dataclass(frozen=True, slots=True)
class Converted:
    schema: Json
    names: dict[str, str]
    """What is sent instead of names of properties that the vendor refuses."""


def converted(schema: Json, dialect: Dialect) -> Converted:
    """The schema in a dialect. The result is shared and must not be changed. Raises `UnsendableError`."""
    try:
        return _converted(json.dumps(schema, allow_nan=False), dialect)
    except UnsendableError:
        raise
    except RecursionError:
        raise UnsendableError("is nested too deeply") from None
    except (TypeError, ValueError):
        raise UnsendableError("is not valid JSON") from None


@functools.lru_cache(maxsize=512)
def _converted(text: str, dialect: Dialect) -> Converted:
    writing = _Writing(json.loads(text), dialect)
    return Converted(writing.root(), writing.names)


def accepted_name(name: str, pattern: re.Pattern[str]) -> str:
    """The name if the pattern matches it, else a similar one that stands for no other name."""
    return name if pattern.fullmatch(name) else _plain_name(name)


def _plain_name(name: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return "_".join(("", *re.findall(r"[a-zA-Z0-9]+", name[:50]), digest))


@dataclass(slots=True)
class _Writing:
    source: Json
    dialect: Dialect
    names: dict[str, str] = field(default_factory=dict)
    definitions: Json = field(default_factory=dict)
    inlined: tuple[str, ...] = ()
    nodes: int = 0
    depth: int = 0

    def root(self) -> Json:
        """An object. Vendors refuse alternatives at the top, so the properties of all of them are offered."""
        schema = self._whole(self.source)
        if "object" not in types(schema.get("type", "object")):
            raise UnsendableError("is not that of an object")
        options = [self._whole(each) for each in _list(schema, "anyOf") + _list(schema, "oneOf")]
        offered: dict[str, Json] = {}
        for name, each in (
            (name, each) for one in (schema, *options) for name, each in _properties(one).items()
        ):
            offered.setdefault(name, {})[json.dumps(each, sort_keys=True)] = each
        properties = {name: _either(list(distinct.values())) for name, distinct in offered.items()}
        top = {key: value for key, value in schema.items() if key not in _NOT_AT_THE_TOP}
        top |= {"type": "object", "properties": properties}
        if not options and "properties" not in schema:
            top.setdefault("additionalProperties", True)
        if options:
            top.pop("additionalProperties", None)
            everywhere = set.intersection(*({*_list(each, "required", str)} for each in options))
            top["required"] = [*_list(schema, "required", str), *sorted(everywhere)]
        written = self._node(top)
        return {**written, "$defs": self.definitions} if self.definitions else written

    def schema(self, schema: Any) -> Json:
        self.nodes += 1
        if not isinstance(schema, dict) or self.depth >= MAX_DEPTH:
            return {}
        self.depth += 1
        ref = schema.get("$ref")
        if isinstance(ref, str) and self._target(ref) is not None:
            written = self._reference(schema, ref)
        else:
            written = self._node(self._whole(schema))
        self.depth -= 1
        return written

    def _reference(self, schema: Json, ref: str) -> Json:
        """A reference is refused beside other keywords, so its target is written in its place then."""
        again = ref in self.inlined or self.nodes > MAX_NODES
        if self.dialect.refs and (again or self.dialect.keywords.isdisjoint(schema)):
            return {"$ref": f"#/$defs/{self._defined(ref)}"}
        whole = self._whole(schema)
        if again:
            return self._node({key: whole[key] for key in ("type", "title", "description") if key in whole})
        before, self.inlined = self.inlined, (*self.inlined, ref)
        written = self._node(whole)
        self.inlined = before
        return written

    def _defined(self, ref: str) -> str:
        name = ref.removeprefix("#/$defs/")
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", name):
            name = _plain_name(ref)
        if name not in self.definitions:
            self.definitions[name] = {}  # known from now on: its target may refer to it
            before, self.inlined, self.depth = (self.inlined, self.depth), (ref,), 1
            self.definitions[name] = self._node(self._whole({"$ref": ref}))
            self.inlined, self.depth = before
        return name

    def _target(self, ref: str) -> Json | None:
        start, *steps = ref.split("/")
        found: Any = self.source if start == "#" else None
        for step in (each.replace("~1", "/").replace("~0", "~") for each in steps):
            if isinstance(found, list) and re.fullmatch(r"[0-9]{1,6}", step):
                found = dict(enumerate(found)).get(int(step))
            else:
                found = found.get(step) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else None

    def _whole(self, schema: Any, seen: tuple[str, ...] = ()) -> Json:
        """The schema, what it refers to and all of its `allOf` as one; its own keywords win."""
        if not isinstance(schema, dict):
            return {}
        self.nodes += 1
        whole = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        parts = _list(schema, "allOf")
        if isinstance(ref := schema.get("$ref"), str) and ref not in seen and self.nodes < 2 * MAX_NODES:
            seen = (*seen, ref)
            parts = [self._target(ref), *parts]
        for part in parts:
            more = self._whole(part, seen)
            properties = {**_properties(more), **_properties(whole)}
            required = [*_list(whole, "required", str), *_list(more, "required", str)]
            whole = {**more, **whole}
            whole |= {"properties": properties} if properties else {}
            whole |= {"required": required} if required else {}
        return whole

    def _node(self, schema: Json) -> Json:
        schema = _modern(schema, self.dialect)
        written: Json = {}
        for keyword, value in schema.items():
            is_taken = keyword in self.dialect.keywords and VALID[keyword](value)
            if is_taken and (found := self._written(schema, keyword, value)) is not None:
                written[keyword] = found
        if "array" in types(written.get("type")) and not {"items", "prefixItems"} & written.keys():
            written["items"] = {}
        if (
            "enum" in written and not {"type", "anyOf"} & written.keys()
        ):  # Gemini refuses an `enum` without a type
            kinds = [
                kind for kind in ("string", "number") if all(is_a(each, (kind,)) for each in written["enum"])
            ]
            written |= {"type": kinds[0]} if kinds else {}
        return written

    def _written(self, schema: Json, keyword: str, value: Any) -> Any:
        """The value of a keyword; None leaves it out."""
        match keyword:
            case "properties":
                return {
                    self._name(name): self._property(name, each) for name, each in _properties(schema).items()
                }
            case "required":
                known = _properties(schema)
                return [self._name(name) for name in dict.fromkeys(value) if name in known]
            case "items":
                return self.schema(value)
            case "prefixItems" | "anyOf":
                return [self.schema(each) for each in value if each is not False] or None
            case "additionalProperties":
                is_open = value is False and "patternProperties" in schema
                return None if is_open else value if isinstance(value, bool) else self.schema(value)
            case "enum":
                return self._enum(schema, value)
            case "format" if self.dialect.formats is not None and value not in self.dialect.formats:
                return None
        return value

    def _property(self, name: str, schema: Any) -> Json:
        written = self.schema(schema)
        if self._name(name) == name or "$ref" in written or not is_text(name):
            return written
        return {**written, "description": f"`{name}` {written.get('description', '')}".rstrip()}

    def _name(self, name: str) -> str:
        sent = accepted_name(name, self.dialect.property_name)
        if sent != name:
            self.names[name] = sent
        return sent

    def _enum(self, schema: Json, value: list[Any]) -> list[Any] | None:
        kinds = types(schema.get("type")) or tuple(TYPES)
        choices = [each for each in value if each != "" or self.dialect.empty_choices]
        fitting = {json.dumps(each, sort_keys=True): each for each in choices if is_a(each, kinds)}
        taken = all(is_a(each, tuple(self.dialect.enum_types)) for each in fitting.values())
        return (list(fitting.values()) or None) if taken else None


def _modern(schema: Json, dialect: Dialect) -> Json:
    """The schema in the terms of draft 2020-12, without keywords that the dialect has other words for."""
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
        rest = [modern["items"]] if "items" in modern else []
        distinct = {json.dumps(each, sort_keys=True): each for each in (*places, *rest)}
        modern["items"] = _either(list(distinct.values()))
        if len(distinct) > 1:
            order = f"In this order: {json.dumps(places)}"[:MAX_ORDER]
            modern["description"] = f"{modern.get('description', '')} {order}".strip()
    return modern


def _either(options: list[Any]) -> Any:
    return {"anyOf": options} if len(options) > 1 else options[0]


def _list(schema: Json, keyword: str, kind: type | tuple[type, ...] = (dict, bool)) -> list[Any]:
    value = schema.get(keyword)
    return [each for each in value if isinstance(each, kind)] if isinstance(value, list) else []


def _properties(schema: Json) -> Json:
    value = schema.get("properties")
    return (
        {name: each for name, each in value.items() if each is not False} if isinstance(value, dict) else {}
    )


@dataclass(frozen=True, slots=True)
class Offered:
    """The tools of a request in a dialect, and the way back: its calls have the tools' own names again."""

    tools: tuple[ToolSpec, ...]
    left_out: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    """What is sent instead of names of tools."""
    properties: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What is sent instead of names of arguments, by tool."""

    @classmethod
    def of(cls, specs: Sequence[ToolSpec], dialect: Dialect, vendor: str) -> "Offered":
        """Raises `ConfigError` if the vendor does not take so many tools."""
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
                found = converted(spec.schema, dialect)
            except UnsendableError as problem:
                left_out.append(f"The model is not offered `{spec.name}`: its schema {problem}.")
                continue
            sent = accepted_name(spec.name, dialect.tool_name)
            names |= {spec.name: sent} if sent != spec.name else {}
            properties |= {spec.name: found.names} if found.names else {}
            tools.append(replace(spec, name=sent, schema=found.schema))
        return cls(tuple(tools), tuple(left_out), names, properties)

    def outgoing(self, request: Request) -> Request:
        """The request with these tools, and with the calls of earlier turns as the vendor has made them."""
        messages = request.messages
        if self.names or self.properties:
            messages = tuple(self._sent_message(message) for message in messages)
        return replace(request, tools=self.tools, messages=messages)

    def incoming(self) -> Callable[[Sequence[Piece]], Sequence[Piece]]:
        """What gives the pieces of an answer the tools' own names, batch by batch."""
        return _Restoring(self).restored if self.names or self.properties else _same

    def own(self, call: ToolCall) -> ToolCall:
        """A call of the vendor with the tool's own names."""
        return _Restoring(self).call(call) if self.names or self.properties else call

    def _sent_message(self, message: Message) -> Message:
        parts = tuple(self._sent_part(part) for part in message.parts)
        return message if parts == message.parts else replace(message, parts=parts)

    def _sent_part(self, part: Part) -> Part:
        if not isinstance(part, ToolCall | ToolResult):
            return part
        sent = replace(part, name=self.names.get(part.name, part.name))
        if isinstance(sent, ToolCall) and (renames := self.properties.get(part.name)):
            return replace(sent, arguments=_renamed(sent.arguments, renames))
        return sent


def _same(pieces: Sequence[Piece]) -> Sequence[Piece]:
    return pieces


class _Restoring:
    """One answer. Arguments with other names are held back until their call is complete."""

    def __init__(self, offered: Offered) -> None:
        self._own_names = {sent: own for own, sent in offered.names.items()}
        self._own_properties = {
            tool: {sent: own for own, sent in renames.items()} for tool, renames in offered.properties.items()
        }
        self._held: set[str] = set()

    def restored(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        restored: list[Piece] = []
        for piece in pieces:
            match piece:
                case CallStarted(call_id, name):
                    own = self._own_names.get(name, name)
                    if own in self._own_properties:
                        self._held.add(call_id)
                    restored.append(replace(piece, name=own))
                case CallPiece(call_id) if call_id in self._held:
                    pass
                case Turn():
                    turn = self._turn(piece)
                    calls = [call for call in turn.message.tool_calls if call.id in self._held]
                    restored += [*(CallPiece(call.id, call.arguments) for call in calls), turn]
                case _:
                    restored.append(piece)
        return restored

    def _turn(self, turn: Turn) -> Turn:
        parts = tuple(self.call(part) if isinstance(part, ToolCall) else part for part in turn.message.parts)
        return replace(turn, message=replace(turn.message, parts=parts))

    def call(self, call: ToolCall) -> ToolCall:
        own = self._own_names.get(call.name, call.name)
        renames = self._own_properties.get(own)
        arguments = _renamed(call.arguments, renames) if renames else call.arguments
        return replace(call, name=own, arguments=arguments)


def _renamed(arguments: str, names: Mapping[str, str]) -> str:
    """The arguments with other keys. Text that is not JSON stays: the tool's call fails for it."""
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
