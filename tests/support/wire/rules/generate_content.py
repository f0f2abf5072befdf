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
from tests.support.wire.rules.rule import Asked, Fault, Json, Rules

RULES = Rules("generate_content")

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


def _declarations(asked: Asked) -> list[Json]:
    tools = asked.body.get("tools") or ()
    return [one for tool in tools for one in field(tool, "functionDeclarations") or ()]


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


for levels, names in GEMINI_LEVELS.items():
    RULES(
        f"ge-level-{names[0]}",
        "pi#9455 (3.8); vellum#32687 (3.1-pro); proxypal#170 (3-pro); livekit/agents#7080 (gemma)",
        _example(model=names[0], thinking={"thinkingLevel": "MAX"}),
        models=names,
    )(_level(levels.split()))


@RULES(
    "ge-level25",
    "RooCodeInc/Roo-Code#10700; Kilo-Org/kilocode#4490",
    _example(model="gemini-2.5-flash", thinking={"thinking_level": "LOW"}),
    models=GEMINI_2_5,
)
def _no_level(asked: Asked) -> Iterator[Fault]:
    if field(_thinking(asked), "thinkingLevel"):
        yield "Thinking level is not supported for this model."


@RULES("ge-both", "eclipse-peon-ai#115", _example(thinking={"thinkingLevel": "LOW", "thinkingBudget": 1024}))
def _level_and_budget(asked: Asked) -> Iterator[Fault]:
    thinking = _thinking(asked)
    if field(thinking, "thinkingLevel") and field(thinking, "thinkingBudget") is not None:
        yield "You can only set only one of thinking budget and thinking level."


for model, (least, most, others) in GEMINI_2_5.items():
    RULES(
        f"ge-budget-{model}",
        "RooCodeInc/Roo-Code#4399; gemini-balance#206; ai.google.dev/gemini-api/docs/thinking",
        _example(model=model, thinking={"thinking_budget": most + 1}),
        models=(model,),
    )(_budget(least, most, others))


@RULES(
    "ge-budget0",
    "gemini-balance#206; vercel/ai#8027",
    _example(model="gemini-3.1-pro-preview", thinking={"thinkingBudget": 0}),
    models=("gemini-2.5-pro", "gemini-3-pro-preview", "gemini-3.1-pro-preview"),
)
def _no_budget(asked: Asked) -> Iterator[Fault]:
    if field(_thinking(asked), "thinkingBudget") == 0:
        yield "Budget 0 is invalid. This model only works in thinking mode."


@RULES(
    "ge-think20",
    "Veloera#41",
    _example(model="gemini-2.0-flash", thinking={"includeThoughts": True}),
    models=GEMINI_WITHOUT_THINKING,
)
def _no_thinking(asked: Asked) -> Iterator[Fault]:
    if _thinking(asked):
        yield "Thinking is not enabled for this model."


@RULES("ge-no-contents", "widely reported", _example(contents=[]))
def _no_contents(asked: Asked) -> Iterator[Fault]:
    if not contents(asked):
        yield "* GenerateContentRequest.contents: contents is not specified\n"


@RULES("ge-role", "widely reported", _example(_content("tool", _RESPONSE)))
def _role(asked: Asked) -> Iterator[Fault]:
    if any(content.get("role") not in ("user", "model") for _, content in contents(asked)):
        yield "Please use a valid role: user, model."


@RULES("ge-empty-parts", "chatwise#250; vercel/ai#3775", _example(_content("user")))
def _empty_parts(asked: Asked) -> Iterator[Fault]:
    for index, content in contents(asked):
        if not content.get("parts"):
            yield f"* GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty.\n"


@RULES("ge-empty-part", "CLIProxyAPI#1292", _example(_content("user", {"text": ""})))
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


@RULES(
    "ge-signature",
    "Antigravity-Manager#3202; 5ire#405; ai.google.dev/gemini-api/docs/thought-signatures",
    _example(_content("model", _UNSIGNED), _content("user", _RESPONSE)),
    models=GEMINI_SIGNED,
)
def _unsigned_call(asked: Asked) -> Iterator[Fault]:
    """The first call of each content since the user's last text."""
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


@RULES(
    "ge-count",
    "google-gemini/gemini-cli#5443, #16216; microsoft/vscode#299295",
    _example(_content("model", _CALL, _UNSIGNED), _content("user", _RESPONSE)),
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


@RULES(
    "ge-response-name",
    "google-genai, FunctionResponse.name; not verified that it is refused",
    _example(
        _content("model", _CALL), _content("user", {"functionResponse": {"name": "find", "response": {}}})
    ),
)
def _response_name(asked: Asked) -> Iterator[Fault]:
    names: set[str] = set()
    for index, content in contents(asked):
        names |= {field(part, "functionCall")["name"] for part in _parts_with(content, "functionCall")}
        for part in _parts_with(content, "functionResponse"):
            if (name := field(part, "functionResponse")["name"]) not in names:
                yield f"* GenerateContentRequest.contents[{index}]: no function call has the name {name!r}.\n"


@RULES(
    "ge-response-id",
    "google-genai, FunctionResponse.id; not verified that it is refused",
    _example(
        _content("model", _UNSIGNED),
        _content("user", {"functionResponse": {**_RESPONSE["functionResponse"], "id": "call_0"}}),
        model="gemini-2.5-flash",
    ),
)
def _response_id(asked: Asked) -> Iterator[Fault]:
    ids: set[str | None] = set()
    for index, content in contents(asked):
        ids |= {field(part, "functionCall").get("id") for part in _parts_with(content, "functionCall")}
        for part in _parts_with(content, "functionResponse"):
            if (response_id := field(part, "functionResponse").get("id")) not in {*ids, None}:
                yield f"* GenerateContentRequest.contents[{index}]: no function call has the id {response_id!r}.\n"


@RULES(
    "ge-image-results",
    "maximhq/bifrost#4202; google-gemini/gemini-cli#16137; the words may differ",
    _example(
        _content("model", _UNSIGNED),
        _content(
            "user", {"functionResponse": {**_RESPONSE["functionResponse"], "parts": [{"inlineData": {}}]}}
        ),
        model="gemini-2.5-flash",
    ),
    models=tuple(GEMINI_2_5),
)
def _image_results(asked: Asked) -> Iterator[Fault]:
    for _, content in contents(asked):
        for part in _parts_with(content, "functionResponse"):
            if field(part, "functionResponse").get("parts"):
                yield "Multimodal function responses are not supported for this model."


@RULES(
    "ge-order-call", "widely reported", _example(_content("model", {"text": "So."}), _content("model", _CALL))
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


@RULES("ge-order-resp", "home-assistant/core#161502", _example(_content("user", _RESPONSE)))
def _response_order(asked: Asked) -> Iterator[Fault]:
    conversation = [(0, {"role": "user", "parts": []}), *contents(asked)]
    for (_, before), (_, content) in itertools.pairwise(conversation):
        if _parts_with(content, "functionResponse") and not _parts_with(before, "functionCall"):
            yield "Please ensure that function response turn comes immediately after a function call turn."


@RULES(
    "ge-name",
    "google-gemini/gemini-cli#9535; google-genai, FunctionDeclaration.name",
    _example(tools=_tools("2do")),
)
def _name(asked: Asked) -> Iterator[Fault]:
    for number, one in enumerate(_declarations(asked)):
        if not _NAME.fullmatch(one["name"]):
            yield (
                f"* GenerateContentRequest.tools[0].function_declarations[{number}].name: Invalid function "
                "name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), "
                "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
            )


@RULES("ge-name-dup", "widely reported", _example(tools=_tools("search", "search")))
def _same_name(asked: Asked) -> Iterator[Fault]:
    names = [one["name"] for one in _declarations(asked)]
    for name in names:
        if names.count(name) > 1:
            yield f"Duplicate function declaration found: {name}"


@RULES(
    "ge-schema-json",
    "google-genai, FunctionDeclaration.parameters_json_schema",
    _example(tools=_tools("search", parameters={"type": "OBJECT"}, parametersJsonSchema={"type": "object"})),
)
def _two_schemas(asked: Asked) -> Iterator[Fault]:
    for one in _declarations(asked):
        if field(one, "parameters") and field(one, "parametersJsonSchema"):
            yield "parameters and parameters_json_schema are mutually exclusive."
