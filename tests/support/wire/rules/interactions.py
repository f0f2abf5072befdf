"""What Gemini's Interactions API refuses."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.support.wire.rules.listed_models import GEMINI_2_5, GEMINI_LEVELS, GEMINI_WITHOUT_THINKING
from tests.support.wire.rules.rule import Asked, Fault, Json, Rule


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


def _no_level(asked: Asked) -> Iterator[Fault]:
    if "thinking_level" in _config(asked):
        yield "Thinking level is not supported for this model."


def _no_summaries(asked: Asked) -> Iterator[Fault]:
    if {"thinking_level", "thinking_summaries"} & set(_config(asked)):
        yield "Thinking is not enabled for this model."


def _unknown_config(asked: Asked) -> Iterator[Fault]:
    known = {"max_output_tokens", "thinking_level", "thinking_summaries", "tool_choice", "seed"}
    known |= {"stop_sequences", "temperature", "top_p"}
    for name in set(_config(asked)) - known:
        yield f"Unknown parameter 'generation_config.{name}'."


def _unsigned_thought(asked: Asked) -> Iterator[Fault]:
    if any(not step.get("signature") for _, step in steps(asked, "thought")):
        yield "Request contains an invalid argument."


def _orphan_result(asked: Asked) -> Iterator[Fault]:
    calls: set[str] = set()
    for number, step in steps(asked, "function_call", "function_result"):
        if step["type"] == "function_call":
            calls.add(step["id"])
        elif step["call_id"] not in calls:
            yield f"input[{number}]: no function_call with the id '{step['call_id']}' comes before its result."


def _unanswered(asked: Asked) -> Iterator[Fault]:
    """Every call needs its result before the next input of the person or output of the model."""
    open_calls: set[str] = set()
    for _, step in [*steps(asked), (0, {"type": "user_input"})]:
        match step["type"]:
            case "function_call":
                open_calls.add(step["id"])
            case "function_result":
                open_calls.discard(step["call_id"])
            case "user_input" if open_calls:
                yield f"No function_result was given for the function_call '{min(open_calls)}'."


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


def _empty_content(asked: Asked) -> Iterator[Fault]:
    for number, step in steps(asked, "user_input", "model_output"):
        if not step.get("content") or any(block.get("text") == "" for block in step["content"]):
            yield f"The content of 'input[{number}]' must not be empty."


def _example(*after: Json, model: str = "gemini-4-argon", **changes: Any) -> Asked:
    first = {"type": "user_input", "content": [{"type": "text", "text": "Hello?"}]}
    return Asked(model, {"model": model, "input": [first, *after], **changes})


_CALL = {"type": "function_call", "id": "c", "name": "search", "arguments": {}}
_RESULT = {"type": "function_result", "call_id": "c", "result": [{"type": "text", "text": "3 hits"}]}

RULES = (
    *(
        Rule(
            id=f"gi-level-{names[0]}",
            protocol="interactions",
            models=names,
            check=_level(levels.split()),
            source="kiss-translator#1048; livekit/agents#7080; ai.google.dev/gemini-api/docs/thinking",
            example=_example(model=names[0], generation_config={"thinking_level": "max"}),
        )
        for levels, names in GEMINI_LEVELS.items()
    ),
    Rule(
        id="gi-level25",
        protocol="interactions",
        models=GEMINI_2_5,
        check=_no_level,
        source="as ge-level25",
        example=_example(model="gemini-2.5-flash", generation_config={"thinking_level": "low"}),
    ),
    Rule(
        id="gi-think20",
        protocol="interactions",
        models=GEMINI_WITHOUT_THINKING,
        check=_no_summaries,
        source="as ge-think20",
        example=_example(model="gemini-2.0-flash", generation_config={"thinking_summaries": "auto"}),
    ),
    Rule(
        id="gi-unknown",
        protocol="interactions",
        check=_unknown_config,
        error={"code": "parameter_unknown"},
        source="google-genai, GenerationConfigParam; ai.google.dev/gemini-api/docs/api-errors",
        example=_example(generation_config={"thinking_budget": 1024}),
    ),
    Rule(
        id="gi-signature",
        protocol="interactions",
        check=_unsigned_thought,
        source="googleapis/js-genai#1735",
        example=_example({"type": "thought", "summary": []}, _CALL, _RESULT),
    ),
    Rule(
        id="gi-orphan",
        protocol="interactions",
        check=_orphan_result,
        source="google-genai, FunctionResultStep.call_id; as ge-order-resp",
        example=_example(_RESULT),
    ),
    Rule(
        id="gi-unanswered",
        protocol="interactions",
        check=_unanswered,
        source="as ge-count",
        example=_example(_CALL),
    ),
    Rule(
        id="gi-two-results",
        protocol="interactions",
        check=_two_results,
        source="as ge-count",
        example=_example(_CALL, _RESULT, _RESULT),
    ),
    Rule(
        id="gi-empty",
        protocol="interactions",
        check=_empty_content,
        source="as ge-empty-part",
        example=_example({"type": "user_input", "content": []}),
    ),
)
