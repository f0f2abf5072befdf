"""What each wire protocol takes of JSON Schema in tools: a table, so that no provider rewrites schemas itself."""

import re
from dataclasses import dataclass

from agent_nb.providers.schema_keywords import VALID

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
    tool_name: re.Pattern[str] = re.compile(r"[a-zA-Z0-9_-]{1,64}")
    property_name: re.Pattern[str] = re.compile(r"[^\x00-\x1f\ud800-\udfff]+")
    max_tools: int | None = None


OPENAI = Dialect(max_tools=128)
"""Arrays need `items`, and patterns have no lookaround; `strict.py` has the rules of strict mode.
https://developers.openai.com/api/docs/guides/function-calling, https://github.com/vercel/ai/pull/21037"""
STRICT = Dialect(
    keywords=_KEYWORDS
    - {"default", "minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties"},
    formats=frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}),
)
"""https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas"""
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
    tool_name=re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}"),
    max_tools=512,
)
"""The subset that google-genai documents at `response_json_schema`. It allows cyclic references only in places that
are not required, so there are none."""
CHAT = Dialect(
    keywords=_KEYWORDS - _NOT_IN_GRAMMARS, property_name=ANTHROPIC.property_name, max_tools=OPENAI.max_tools
)
"""What all servers take. A gateway may pass a request on to any vendor, and llama.cpp makes one grammar of all tools,
which fails for some patterns and for long repetitions (https://github.com/ggml-org/llama.cpp/issues/25746)."""
