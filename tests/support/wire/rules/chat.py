"""What the servers of Chat Completions refuse."""

from collections.abc import Iterator
from typing import Any

from tests.support.wire.rules.rule import Asked, Fault, Json, Rule


def messages(asked: Asked) -> Iterator[tuple[int, Json]]:
    yield from enumerate(asked.body.get("messages") or ())


def mistral_error_body(error: Json) -> Json:
    """Mistral puts the error's fields at the top."""
    fields = {key: error.get(key) for key in ("message", "type", "param", "code")}
    return {"object": "error", **fields}


def _unanswered(asked: Asked) -> Iterator[Fault]:
    """Each call needs a tool message before any other message follows."""
    open_calls: set[str] = set()
    for _, message in [*messages(asked), (0, {"role": "user"})]:
        if message["role"] == "tool":
            open_calls.discard(message["tool_call_id"])
            continue
        if open_calls:
            yield (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                "'tool_call_id'. (insufficient tool messages following tool_calls message)"
            )
        open_calls = {call["id"] for call in message.get("tool_calls") or ()}


def _orphan_result(asked: Asked) -> Iterator[Fault]:
    known: set[str] = set()
    for _, message in messages(asked):
        known |= {call["id"] for call in message.get("tool_calls") or ()}
        if message["role"] == "tool" and message["tool_call_id"] not in known:
            yield "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"


def _empty_calls(asked: Asked) -> Iterator[Fault]:
    for index, message in messages(asked):
        if message.get("tool_calls") == []:
            path = f"messages[{index}].tool_calls"
            yield f"Invalid '{path}': empty array. Expected an array with minimum length 1."


def _repeated_id(asked: Asked) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, message in messages(asked):
        if message["role"] == "tool":
            if message["tool_call_id"] in seen:
                yield f"Duplicate value for 'tool_call_id' of in message[{index}]"
            seen.add(message["tool_call_id"])


def _example(*after: Json, model: str = "some/model", **changes: Any) -> Asked:
    conversation = [{"role": "user", "content": "Hello?"}, *after]
    return Asked(model, {"model": model, "messages": conversation, **changes})


def _call(call_id: str = "call_1") -> Json:
    function = {"name": "search", "arguments": "{}"}
    return {"role": "assistant", "tool_calls": [{"id": call_id, "type": "function", "function": function}]}


def _result(call_id: str = "call_1") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": "3 hits"}


_CODE = {"code": "invalid_request_error"}

RULES = (
    Rule(
        id="cc-unanswered",
        protocol="chat",
        check=_unanswered,
        error=_CODE,
        source="TuriX-CUA#15; bytedance/deer-flow#2809",
        example=_example(_call()),
    ),
    Rule(
        id="cc-orphan-tool",
        protocol="chat",
        check=_orphan_result,
        error=_CODE,
        source="hermes-agent#58327",
        example=_example(_result()),
    ),
    Rule(
        id="cc-empty-calls",
        protocol="chat",
        check=_empty_calls,
        error=_CODE,
        source="hermes-agent#84365",
        example=_example({"role": "assistant", "content": "So.", "tool_calls": []}),
    ),
    Rule(
        id="ds-dup-id",
        protocol="chat",
        family=r"^deepseek",
        check=_repeated_id,
        error=_CODE,
        source="craft-agents-oss#630, #621",
        example=_example(_call(), _result(), _call(), _result(), model="deepseek-v4-pro"),
    ),
)
