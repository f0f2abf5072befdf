"""What OpenAI's Responses API refuses: parameters, by model, and names of tools."""

import re
from collections.abc import Iterator
from typing import Any

from tests.support.wire.rules.listed_models import (
    OPENAI_EFFORTS,
    OPENAI_NOT_REASONING,
    OPENAI_WITHOUT_SUMMARIES,
)
from tests.support.wire.rules.responses import example
from tests.support.wire.rules.rule import Asked, Fault, Json, Rules

RULES = Rules("responses")


def _tool(**changes: Any) -> Json:
    schema: Json = {"type": "object", "properties": {"q": {"type": "string"}}}
    return {"type": "function", "name": "search", "parameters": schema, "strict": False, **changes}


@RULES(
    "oa-include",
    "pydantic/pydantic-ai#2865, #3326; draive#399",
    example("gpt-4o", include=["reasoning.encrypted_content"]),
    models=OPENAI_NOT_REASONING,
    error={"param": "include"},
)
def _encrypted_content(asked: Asked) -> Iterator[Fault]:
    if "reasoning.encrypted_content" in (asked.body.get("include") or ()):
        yield "Encrypted content is not supported with this model."


@RULES(
    "oa-effort",
    "BoundaryML/baml#2708; songquanpeng/one-api#120; OpenAI-DotNet#500",
    example("gpt-4.1", reasoning={"effort": "low"}),
    models=OPENAI_NOT_REASONING,
    error={"param": "reasoning.effort", "code": "unsupported_parameter"},
)
def _effort(asked: Asked) -> Iterator[Fault]:
    if "effort" in (asked.body.get("reasoning") or {}):
        yield "Unsupported parameter: 'reasoning.effort' is not supported with this model."


@RULES(
    "oa-effort-value",
    "openai/openai-agents-python#2089; pydantic/pydantic-ai#7081; sst/models.dev#331",
    example(reasoning={"effort": "none"}),
    error={"param": "reasoning.effort", "code": "unsupported_value"},
)
def _effort_value(asked: Asked) -> Iterator[Fault]:
    effort = (asked.body.get("reasoning") or {}).get("effort")
    accepted = next(
        (words.split() for words, names in OPENAI_EFFORTS.items() if asked.model in names), [effort]
    )
    if effort is not None and effort not in accepted:
        *first, last = (f"'{value}'" for value in accepted)
        values = f"{', '.join(first)}{',' if len(first) > 1 else ''} and {last}" if first else last
        yield (
            f"Unsupported value: '{effort}' is not supported with the '{asked.model}' model. Supported values are: "
            f"{values}."
        )


@RULES(
    "oa-summary-model",
    "openai/openai-python#2194",
    example("o3-mini-2025-01-31", reasoning={"summary": "auto"}),
    models=OPENAI_WITHOUT_SUMMARIES,
    error={"param": "reasoning.summary", "code": "unsupported_parameter"},
)
def _summary(asked: Asked) -> Iterator[Fault]:
    if "summary" in (asked.body.get("reasoning") or {}):
        yield f"Unsupported parameter: 'reasoning.summary' is not supported with the '{asked.model}' model."


@RULES(
    "oa-unknown",
    "openai SDK: ResponseCreateParams",
    example(messages=[]),
    error={"code": "unknown_parameter"},
)
def _unknown(asked: Asked) -> Iterator[Fault]:
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    known = ResponseCreateParamsStreaming.__annotations__.keys()
    for name in asked.body.keys() - known:
        yield f"Unknown parameter: '{name}'.", {"param": name}


@RULES(
    "oa-tool-name",
    "openai SDK: FunctionDefinition.name; github/copilot-cli#3394",
    example(tools=[_tool(name="find it")]),
    error={"code": "invalid_value"},
)
def _tool_name(asked: Asked) -> Iterator[Fault]:
    for index, tool in enumerate(asked.body.get("tools") or ()):
        path = f"tools[{index}].name"
        if "name" not in tool:
            yield (
                f"Missing required parameter: '{path}'.",
                {"param": path, "code": "missing_required_parameter"},
            )
        elif not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["name"]):
            yield (
                f"Invalid '{path}': string does not match pattern. Expected a string that matches the pattern "
                "'^[a-zA-Z0-9_-]+$'.",
                {"param": path},
            )
