"""What Gemini's `generate_content` refuses."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.support.wire.rules.listed_models import (
    GEMINI_2_5,
    GEMINI_LEVELS,
    GEMINI_SIGNED,
    GEMINI_WITHOUT_THINKING,
)
from tests.support.wire.rules.rule import Asked, Fault, Json, Rule

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")


def error_body(error: Json) -> Json:
    return {"error": {"code": error["status"], "message": error["message"], "status": "INVALID_ARGUMENT"}}


def field(of: Json, name: str) -> Any:
    """A field by its camelCase name. The SDK writes some in snake_case, and the API takes both."""
    return of.get(name, of.get(re.sub("[A-Z]", lambda found: "_" + found[0].lower(), name)))


def contents(asked: Asked) -> list[tuple[int, Json]]:
    return list(enumerate(asked.body.get("contents") or ()))


def _parts_with(content: Json, name: str) -> list[Json]:
    return [part for part in content.get("parts") or () if field(part, name) is not None]


def _thinking(asked: Asked) -> Json:
    found: Json = field(field(asked.body, "generationConfig") or {}, "thinkingConfig") or {}
    return found


def _level(levels: Sequence[str]) -> Callable[[Asked], Iterator[Fault]]:
    def check(asked: Asked) -> Iterator[Fault]:
        level = str(field(_thinking(asked), "thinkingLevel") or "")
        if level and level.lower() not in levels:
            yield (
                f"Thinking level {level} is not supported for this model. "
                "Please retry with other thinking level."
            )

    return check


def _no_level(asked: Asked) -> Iterator[Fault]:
    if field(_thinking(asked), "thinkingLevel"):
        yield "Thinking level is not supported for this model."


def _level_and_budget(asked: Asked) -> Iterator[Fault]:
    thinking = _thinking(asked)
    if field(thinking, "thinkingLevel") and field(thinking, "thinkingBudget") is not None:
        yield "You can only set only one of thinking budget and thinking level."


def _budget(least: int, most: int, others: Sequence[int]) -> Callable[[Asked], Iterator[Fault]]:
    def check(asked: Asked) -> Iterator[Fault]:
        budget = field(_thinking(asked), "thinkingBudget")
        if budget is None or budget in others or least <= budget <= most:
            return
        if budget == 0:
            yield "Budget 0 is invalid. This model only works in thinking mode."
        yield (
            f"The thinking budget ({budget}) is invalid. Please choose a value between {least} and {most}."
        )

    return check


def _no_budget(asked: Asked) -> Iterator[Fault]:
    if field(_thinking(asked), "thinkingBudget") == 0:
        yield "Budget 0 is invalid. This model only works in thinking mode."


def _no_thinking(asked: Asked) -> Iterator[Fault]:
    if _thinking(asked):
        yield "Thinking is not enabled for this model."


def _unsigned_call(asked: Asked) -> Iterator[Fault]:
    """The first call of each content since the person's last text."""
    conversation = contents(asked)
    texts = [
        index for index, content in conversation if content["role"] == "user" and _parts_with(content, "text")
    ]
    for index, content in conversation[texts[-1] if texts else 0 :]:
        for part in _parts_with(content, "functionCall")[:1]:
            if not field(part, "thoughtSignature"):
                name = field(part, "functionCall")["name"]
                yield (
                    "Function call is missing a thought_signature in functionCall parts. This is required for "
                    "tools to work correctly, and missing thought_signature may lead to degraded model "
                    f"performance. Additional data, function call `default_api:{name}` , position {index + 1}. "
                    "Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
                )


def _count(asked: Asked) -> Iterator[Fault]:
    conversation = [*contents(asked), (0, {"role": "user", "parts": []})]
    for (_, content), (_, following) in itertools.pairwise(conversation):
        calls = _parts_with(content, "functionCall")
        if calls and len(calls) != len(_parts_with(following, "functionResponse")):
            yield (
                "Please ensure that the number of function response parts is equal to the number of function "
                "call parts of the function call turn."
            )


def _call_order(asked: Asked) -> Iterator[Fault]:
    before = ""
    for _, content in contents(asked):
        if _parts_with(content, "functionCall") and before != "user":
            yield (
                "Please ensure that function call turn comes immediately after a user turn or after a "
                "function response turn."
            )
        before = content["role"]


def _response_order(asked: Asked) -> Iterator[Fault]:
    conversation = [(0, {"role": "user", "parts": []}), *contents(asked)]
    for (_, before), (_, content) in itertools.pairwise(conversation):
        if _parts_with(content, "functionResponse") and not _parts_with(before, "functionCall"):
            yield "Please ensure that function response turn comes immediately after a function call turn."


def _role(asked: Asked) -> Iterator[Fault]:
    if any(content.get("role") not in ("user", "model") for _, content in contents(asked)):
        yield "Please use a valid role: user, model."


def _no_contents(asked: Asked) -> Iterator[Fault]:
    if not contents(asked):
        yield "* GenerateContentRequest.contents: contents is not specified\n"


def _empty_parts(asked: Asked) -> Iterator[Fault]:
    for index, content in contents(asked):
        if not content.get("parts"):
            yield f"* GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty.\n"


def _empty_part(asked: Asked) -> Iterator[Fault]:
    """An empty text is refused too, unless it carries a signature."""
    for index, content in contents(asked):
        for number, part in enumerate(content.get("parts") or ()):
            data = set(part) - {"thought", "thoughtSignature", "thought_signature"}
            if data == {"text"} and part["text"] == "" and not field(part, "thoughtSignature"):
                data = set()
            if not data:
                yield (
                    f"* GenerateContentRequest.contents[{index}].parts[{number}].data: required oneof field "
                    "'data' must have one initialized field\n"
                )


def _declarations(asked: Asked) -> list[Json]:
    tools = asked.body.get("tools") or ()
    return [one for tool in tools for one in field(tool, "functionDeclarations") or ()]


def _name(asked: Asked) -> Iterator[Fault]:
    for number, one in enumerate(_declarations(asked)):
        if not _NAME.fullmatch(one["name"]):
            yield (
                f"* GenerateContentRequest.tools[0].function_declarations[{number}].name: Invalid function "
                "name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), "
                "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
            )


def _same_name(asked: Asked) -> Iterator[Fault]:
    names = [one["name"] for one in _declarations(asked)]
    for name in names:
        if names.count(name) > 1:
            yield f"Duplicate function declaration found: {name}"


def _two_schemas(asked: Asked) -> Iterator[Fault]:
    for one in _declarations(asked):
        if field(one, "parameters") and field(one, "parametersJsonSchema"):
            yield "parameters and parameters_json_schema are mutually exclusive."


def _example(
    *after: Json, model: str = "gemini-4-argon", thinking: Json | None = None, **changes: Any
) -> Asked:
    conversation = [_content("user", {"text": "Hello?"}), *after]
    config = {"generationConfig": {"thinkingConfig": thinking}} if thinking else {}
    return Asked(model, {"contents": conversation, **config, **changes})


def _content(role: str, *parts: Json) -> Json:
    return {"role": role, "parts": list(parts)}


def _tools(*names: str, **more: Any) -> list[Json]:
    return [{"functionDeclarations": [{"name": name, **more} for name in names]}]


_CALL = {"functionCall": {"name": "search", "args": {}}, "thoughtSignature": "c2lnbmVk"}
_UNSIGNED = {"functionCall": {"name": "search", "args": {}}}
_RESPONSE = {"functionResponse": {"name": "search", "response": {"output": "3 hits"}}}

_CONFIG = (
    *(
        Rule(
            id=f"ge-level-{names[0]}",
            protocol="generate_content",
            models=names,
            check=_level(levels.split()),
            source="pi#9455 (3.8); vellum#32687 (3.1-pro); proxypal#170 (3-pro); livekit/agents#7080 (gemma)",
            example=_example(model=names[0], thinking={"thinkingLevel": "MAX"}),
        )
        for levels, names in GEMINI_LEVELS.items()
    ),
    Rule(
        id="ge-level25",
        protocol="generate_content",
        models=GEMINI_2_5,
        check=_no_level,
        source="RooCodeInc/Roo-Code#10700; Kilo-Org/kilocode#4490",
        example=_example(model="gemini-2.5-flash", thinking={"thinking_level": "LOW"}),
    ),
    Rule(
        id="ge-both",
        protocol="generate_content",
        check=_level_and_budget,
        source="eclipse-peon-ai#115",
        example=_example(thinking={"thinkingLevel": "LOW", "thinkingBudget": 1024}),
    ),
    *(
        Rule(
            id=f"ge-budget-{model}",
            protocol="generate_content",
            models=(model,),
            check=_budget(least, most, others),
            source="RooCodeInc/Roo-Code#4399; gemini-balance#206; ai.google.dev/gemini-api/docs/thinking",
            example=_example(model=model, thinking={"thinking_budget": most + 1}),
        )
        for model, (least, most, others) in GEMINI_2_5.items()
    ),
    Rule(
        id="ge-budget0",
        protocol="generate_content",
        models=("gemini-2.5-pro", "gemini-3-pro-preview", "gemini-3.1-pro-preview"),
        check=_no_budget,
        source="gemini-balance#206; vercel/ai#8027",
        example=_example(model="gemini-3.1-pro-preview", thinking={"thinkingBudget": 0}),
    ),
    Rule(
        id="ge-think20",
        protocol="generate_content",
        models=GEMINI_WITHOUT_THINKING,
        check=_no_thinking,
        source="Veloera#41",
        example=_example(model="gemini-2.0-flash", thinking={"includeThoughts": True}),
    ),
)
_CONVERSATION = (
    Rule(
        id="ge-no-contents",
        protocol="generate_content",
        check=_no_contents,
        source="widely reported",
        example=_example(contents=[]),
    ),
    Rule(
        id="ge-role",
        protocol="generate_content",
        check=_role,
        source="widely reported",
        example=_example(_content("tool", _RESPONSE)),
    ),
    Rule(
        id="ge-empty-parts",
        protocol="generate_content",
        check=_empty_parts,
        source="chatwise#250; vercel/ai#3775",
        example=_example(_content("user")),
    ),
    Rule(
        id="ge-empty-part",
        protocol="generate_content",
        check=_empty_part,
        source="CLIProxyAPI#1292",
        example=_example(_content("user", {"text": ""})),
    ),
    Rule(
        id="ge-signature",
        protocol="generate_content",
        models=GEMINI_SIGNED,
        check=_unsigned_call,
        source="Antigravity-Manager#3202; 5ire#405; ai.google.dev/gemini-api/docs/thought-signatures",
        example=_example(_content("model", _UNSIGNED), _content("user", _RESPONSE)),
    ),
    Rule(
        id="ge-count",
        protocol="generate_content",
        check=_count,
        source="google-gemini/gemini-cli#5443, #16216; microsoft/vscode#299295",
        example=_example(_content("model", _CALL, _UNSIGNED), _content("user", _RESPONSE)),
    ),
    Rule(
        id="ge-order-call",
        protocol="generate_content",
        check=_call_order,
        source="widely reported",
        example=_example(_content("model", {"text": "So."}), _content("model", _CALL)),
    ),
    Rule(
        id="ge-order-resp",
        protocol="generate_content",
        check=_response_order,
        source="home-assistant/core#161502",
        example=_example(_content("user", _RESPONSE)),
    ),
)
_TOOLS = (
    Rule(
        id="ge-name",
        protocol="generate_content",
        check=_name,
        source="google-gemini/gemini-cli#9535; google-genai, FunctionDeclaration.name",
        example=_example(tools=_tools("2do")),
    ),
    Rule(
        id="ge-name-dup",
        protocol="generate_content",
        check=_same_name,
        source="widely reported",
        example=_example(tools=_tools("search", "search")),
    ),
    Rule(
        id="ge-schema-json",
        protocol="generate_content",
        check=_two_schemas,
        source="google-genai, FunctionDeclaration.parameters_json_schema",
        example=_example(
            tools=_tools("search", parameters={"type": "OBJECT"}, parametersJsonSchema={"type": "object"})
        ),
    ),
)

RULES = (*_CONFIG, *_CONVERSATION, *_TOOLS)
