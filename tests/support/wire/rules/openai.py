"""What OpenAI's Responses API refuses."""

from collections.abc import Iterator
from typing import Any

from tests.support.wire.rules.rule import Asked, Fault, Json, Rule

NOT_REASONING = r"^(gpt-3|gpt-4|chatgpt-4o|gpt-5-chat|ft:gpt-4)"


def error_body(error: Json) -> Json:
    fields = {"message": error["message"], "type": error.get("type", "invalid_request_error")}
    return {"error": {**fields, "param": error.get("param"), "code": error.get("code")}}


def items(asked: Asked, kind: str) -> Iterator[tuple[str, Json]]:
    """The items of one type in `input`, each with its path."""
    for index, item in enumerate(asked.body.get("input") or ()):
        if item.get("type", "message") == kind:
            yield f"input[{index}]", item


def _encrypted_content(asked: Asked) -> Iterator[Fault]:
    if "reasoning.encrypted_content" in (asked.body.get("include") or ()):
        yield "Encrypted content is not supported with this model."


def _effort(asked: Asked) -> Iterator[Fault]:
    if "effort" in (asked.body.get("reasoning") or {}):
        yield "Unsupported parameter: 'reasoning.effort' is not supported with this model."


def _orphan_output(asked: Asked) -> Iterator[Fault]:
    known = {item["call_id"] for _, item in items(asked, "function_call")}
    for _, item in items(asked, "function_call_output"):
        if item["call_id"] not in known:
            yield f"No tool call found for function call output with call_id {item['call_id']}."


def _unanswered(asked: Asked) -> Iterator[Fault]:
    answered = {item["call_id"] for _, item in items(asked, "function_call_output")}
    for _, item in items(asked, "function_call"):
        if item["call_id"] not in answered:
            yield f"No tool output found for function call {item['call_id']}."


def _example(model: str = "gpt-6.1-sol", **changes: Any) -> Asked:
    messages = [{"role": "user", "content": [{"type": "input_text", "text": "Hello?"}]}]
    return Asked(model, {"model": model, "input": messages, "store": False, **changes})


_CALL = {"type": "function_call", "call_id": "call_1", "name": "search", "arguments": "{}"}

RULES = (
    Rule(
        id="oa-include",
        protocol="openai",
        family=NOT_REASONING,
        check=_encrypted_content,
        error={"param": "include"},
        source="pydantic/pydantic-ai#2865, #3326; draive#399",
        example=_example("gpt-4o", include=["reasoning.encrypted_content"]),
    ),
    Rule(
        id="oa-effort",
        protocol="openai",
        family=NOT_REASONING,
        check=_effort,
        error={"param": "reasoning.effort", "code": "unsupported_parameter"},
        source="BoundaryML/baml#2708; songquanpeng/one-api#120; OpenAI-DotNet#500",
        example=_example("gpt-4.1", reasoning={"effort": "low"}),
    ),
    Rule(
        id="oa-orphan-output",
        protocol="openai",
        check=_orphan_output,
        error={"param": "input"},
        source="continuedev/continue#10092; oh-my-pi#106",
        example=_example(input=[{"type": "function_call_output", "call_id": "call_1", "output": "3 hits"}]),
    ),
    Rule(
        id="oa-unanswered",
        protocol="openai",
        check=_unanswered,
        error={"param": "input"},
        source="GhidrAssist#78; openai/openai-support-agent-demo#12",
        example=_example(input=[_CALL]),
    ),
)
