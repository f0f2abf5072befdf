"""What Gemini's Interactions API refuses."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.support.wire.rules.listed_models import GEMINI_2_5, GEMINI_LEVELS, GEMINI_WITHOUT_THINKING
from tests.support.wire.rules.rule import Asked, Fault, Json, Rules

RULES = Rules("interactions")


def error_body(error: Json) -> Json:
    return {"error": {"code": error.get("code", "invalid_request"), "message": error["message"]}}


def steps(asked: Asked, *kinds: str) -> Iterator[tuple[int, Json]]:
    """The steps of the input, each with its number."""
    given = asked.body.get("input")
    for number, step in enumerate(given if isinstance(given, list) else ()):
        if not kinds or step.get("type") in kinds:
            yield number, step


def _config(asked: Asked) -> Json:
    found: Json = asked.body.get("generation_config") or {}
    return found


def _level(levels: Sequence[str]) -> Callable[[Asked], Iterator[Fault]]:
    def check(asked: Asked) -> Iterator[Fault]:
        level = _config(asked).get("thinking_level")
        if level and level not in levels:
            allowed = ", ".join(levels)
            yield (
                f"'{level}' is not a supported thinking level for this model. Allowed values are: {allowed}."
            )

    return check


def _example(*after: Json, model: str = "gemini-4-argon", **changes: Any) -> Asked:
    first = {"type": "user_input", "content": [{"type": "text", "text": "Hello?"}]}
    return Asked(model, {"model": model, "input": [first, *after], **changes})


_CALL = {"type": "function_call", "id": "c", "name": "search", "arguments": {}}
_RESULT = {"type": "function_result", "call_id": "c", "result": [{"type": "text", "text": "3 hits"}]}


for levels, names in GEMINI_LEVELS.items():
    RULES(
        f"gi-level-{names[0]}",
        "kiss-translator#1048; livekit/agents#7080; ai.google.dev/gemini-api/docs/thinking",
        _example(model=names[0], generation_config={"thinking_level": "max"}),
        models=names,
    )(_level(levels.split()))


@RULES(
    "gi-level25",
    "as ge-level25",
    _example(model="gemini-2.5-flash", generation_config={"thinking_level": "low"}),
    models=GEMINI_2_5,
)
def _no_level(asked: Asked) -> Iterator[Fault]:
    if "thinking_level" in _config(asked):
        yield "Thinking level is not supported for this model."


@RULES(
    "gi-think20",
    "as ge-think20",
    _example(model="gemini-2.0-flash", generation_config={"thinking_summaries": "auto"}),
    models=GEMINI_WITHOUT_THINKING,
)
def _no_summaries(asked: Asked) -> Iterator[Fault]:
    if {"thinking_level", "thinking_summaries"} & set(_config(asked)):
        yield "Thinking is not enabled for this model."


@RULES(
    "gi-unknown",
    "google-genai, GenerationConfigParam; ai.google.dev/gemini-api/docs/api-errors",
    _example(generation_config={"thinking_budget": 1024}),
    error={"code": "parameter_unknown"},
)
def _unknown_config(asked: Asked) -> Iterator[Fault]:
    known = {"max_output_tokens", "thinking_level", "thinking_summaries", "tool_choice", "seed"}
    known |= {"stop_sequences", "temperature", "top_p"}
    for name in set(_config(asked)) - known:
        yield f"Unknown parameter 'generation_config.{name}'."


@RULES(
    "gi-signature", "googleapis/js-genai#1735", _example({"type": "thought", "summary": []}, _CALL, _RESULT)
)
def _unsigned_thought(asked: Asked) -> Iterator[Fault]:
    if any(not step.get("signature") for _, step in steps(asked, "thought")):
        yield "Request contains an invalid argument."


@RULES("gi-orphan", "google-genai, FunctionResultStep.call_id; as ge-order-resp", _example(_RESULT))
def _orphan_result(asked: Asked) -> Iterator[Fault]:
    calls: set[str] = set()
    for number, step in steps(asked, "function_call", "function_result"):
        if step["type"] == "function_call":
            calls.add(step["id"])
        elif step["call_id"] not in calls:
            yield f"input[{number}]: no function_call with the id '{step['call_id']}' comes before its result."


@RULES("gi-unanswered", "as ge-count", _example(_CALL))
def _unanswered(asked: Asked) -> Iterator[Fault]:
    """Every call needs its result before the next input of the user or output of the model."""
    open_calls: set[str] = set()
    for _, step in [*steps(asked), (0, {"type": "user_input"})]:
        match step["type"]:
            case "function_call":
                open_calls.add(step["id"])
            case "function_result":
                open_calls.discard(step["call_id"])
            case "user_input" if open_calls:
                yield f"No function_result was given for the function_call '{min(open_calls)}'."


@RULES("gi-two-results", "as ge-count", _example(_CALL, _RESULT, _RESULT))
def _two_results(asked: Asked) -> Iterator[Fault]:
    """An id may come back in a later step, as gateways count from zero each time, but not unanswered."""
    answered: set[str] = set()
    for number, step in steps(asked, "function_call", "function_result"):
        if step["type"] == "function_call":
            answered.discard(step["id"])
        elif step["call_id"] in answered:
            yield f"input[{number}]: a second function_result for '{step['call_id']}'."
        else:
            answered.add(step["call_id"])


@RULES("gi-result-name", "as ge-response-name", _example(_CALL, {**_RESULT, "name": "find"}))
def _result_name(asked: Asked) -> Iterator[Fault]:
    names: dict[str, str] = {}
    for number, step in steps(asked, "function_call", "function_result"):
        if step["type"] == "function_call":
            names[step["id"]] = step["name"]
        elif step.get("name", names.get(step["call_id"])) != names.get(step["call_id"]):
            yield f"input[{number}]: the function_call '{step['call_id']}' has another name."


@RULES(
    "gi-empty-result",
    "as gi-empty; not verified",
    _example(_CALL, {**_RESULT, "result": [{"type": "text", "text": ""}]}),
)
def _empty_result(asked: Asked) -> Iterator[Fault]:
    for number, step in steps(asked, "function_result"):
        if any(block.get("text") == "" for block in step["result"]):
            yield f"The result of 'input[{number}]' must not be empty."


@RULES("gi-empty", "as ge-empty-part", _example({"type": "user_input", "content": []}))
def _empty_content(asked: Asked) -> Iterator[Fault]:
    for number, step in steps(asked, "user_input", "model_output"):
        if not step.get("content") or any(block.get("text") == "" for block in step["content"]):
            yield f"The content of 'input[{number}]' must not be empty."
