"""What the servers of Chat Completions refuse."""

import functools
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

from tests.support.wire.rules.rule import Asked, Fault, Json, Rules

RULES = Rules("chat")


def messages(asked: Asked) -> Iterator[tuple[int, Json]]:
    yield from enumerate(asked.body.get("messages") or ())


def mistral_error_body(error: Json) -> Json:
    """Mistral puts the error's fields at the top."""
    fields = {key: error.get(key) for key in ("message", "type", "param", "code")}
    return {"object": "error", **fields}


def calls(asked: Asked) -> Iterator[Json]:
    for _, message in messages(asked):
        yield from message.get("tool_calls") or ()


def _example(*after: Json, model: str = "some/model", **changes: Any) -> Asked:
    conversation = [{"role": "user", "content": "Hello?"}, *after]
    return Asked(model, {"model": model, "messages": conversation, **changes})


def _call(call_id: str = "call_1", **changes: str) -> Json:
    function = {"name": "search", "arguments": "{}", **changes}
    return {"role": "assistant", "tool_calls": [{"id": call_id, "type": "function", "function": function}]}


def _result(call_id: str = "call_1") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": "3 hits"}


_ASKED = {"role": "user", "content": "Well?"}
_CODE = {"code": "invalid_request_error"}
_BAD_REQUEST = {"type": "BadRequestError", "code": 400}
_MISTRAL = r"^(mistral(?!ai/)|ministral|magistral|devstral|codestral|pixtral)"
_mistral = functools.partial(RULES, family=_MISTRAL, shape=mistral_error_body)
_deepseek = functools.partial(RULES, family=r"^deepseek", error=_CODE)


@RULES("cc-unanswered", "TuriX-CUA#15; bytedance/deer-flow#2809", _example(_call()), error=_CODE)
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


@RULES("cc-orphan-tool", "hermes-agent#58327", _example(_result()), error=_CODE)
def _orphan_result(asked: Asked) -> Iterator[Fault]:
    known: set[str] = set()
    for _, message in messages(asked):
        known |= {call["id"] for call in message.get("tool_calls") or ()}
        if message["role"] == "tool" and message["tool_call_id"] not in known:
            yield "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"


@RULES(
    "cc-empty-calls",
    "hermes-agent#84365",
    _example({"role": "assistant", "content": "So.", "tool_calls": []}),
    error=_CODE,
)
def _empty_calls(asked: Asked) -> Iterator[Fault]:
    for index, message in messages(asked):
        if message.get("tool_calls") == []:
            path = f"messages[{index}].tool_calls"
            yield f"Invalid '{path}': empty array. Expected an array with minimum length 1."


@_deepseek(
    "ds-dup-id",
    "craft-agents-oss#630, #621",
    _example(_call(), _result(), _call(), _result(), model="deepseek-v4-pro"),
)
def _repeated_id(asked: Asked) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, message in messages(asked):
        if message["role"] == "tool":
            if message["tool_call_id"] in seen:
                yield f"Duplicate value for 'tool_call_id' of in message[{index}]"
            seen.add(message["tool_call_id"])


@_deepseek(
    "ds-reasoning",
    "https://api-docs.deepseek.com/guides/thinking_mode; Newelle#404; pi#3636",
    _example(_call(), _result(), model="deepseek-v4-pro", tools=[{"type": "function"}]),
)
def _missing_thinking(asked: Asked) -> Iterator[Fault]:
    """DeepSeek thinks unless told not to, and then wants the thinking of every message with calls."""
    if (asked.body.get("thinking") or {}).get("type") == "disabled" or not asked.body.get("tools"):
        return
    for _, message in messages(asked):
        if message.get("tool_calls") and "reasoning_content" not in message:
            yield "The `reasoning_content` in the thinking mode must be passed back to the API."


@_deepseek(
    "ds-images",
    "DeepSeek's message, from memory; the words may differ",
    _example(
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]},
        model="deepseek-v4-pro",
    ),
)
def _images(asked: Asked) -> Iterator[Fault]:
    for index, message in messages(asked):
        content = message.get("content")
        if isinstance(content, list) and any(block["type"] == "image_url" for block in content):
            yield (
                "Failed to deserialize the JSON body into the target type: "
                f"messages[{index}]: unknown variant `image_url`, expected `text`"
            )


@RULES(
    "cc-arguments",
    "vllm-project/vllm#43995, #47761; OpenHands/software-agent-sdk#2887 (llama.cpp, status 500)",
    _example(_call(arguments='{"q": "ca'), _result()),
    error=_BAD_REQUEST,
)
def _broken_arguments(asked: Asked) -> Iterator[Fault]:
    for call in calls(asked):
        try:
            json.loads(call["function"]["arguments"])
        except ValueError as error:
            yield str(error)


@RULES(
    "cc-system",
    "charmbracelet/crush#279 (templates of Qwen, Gemma and others in vLLM and llama.cpp)",
    _example({"role": "system", "content": "Be brief."}),
    error=_BAD_REQUEST,
)
def _late_system(asked: Asked) -> Iterator[Fault]:
    for index, message in messages(asked):
        if index and message["role"] == "system":
            yield "System message must be at the beginning."


@RULES(
    "cc-call-name",
    "mcp-use/mcp-use#90",
    _example(_call(name="functions.search"), _result()),
    error={"code": "invalid_value"},
)
def _call_name(asked: Asked) -> Iterator[Fault]:
    for index, message in messages(asked):
        for number, call in enumerate(message.get("tool_calls") or ()):
            if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"]):
                path = f"messages[{index}].tool_calls[{number}].function.name"
                yield (
                    f"Invalid '{path}': string does not match pattern. Expected a string that matches the pattern "
                    "'^[a-zA-Z0-9_-]+$'.",
                    {"param": path},
                )


@RULES(
    "cc-description",
    "OpenHands/OpenHands#4838; getsentry/sentry-mcp#106; aaif-goose/goose#739",
    _example(tools=[{"type": "function", "function": {"name": "search", "description": "x" * 1025}}]),
    error={"code": "string_above_max_length"},
)
def _long_description(asked: Asked) -> Iterator[Fault]:
    for number, tool in enumerate(asked.body.get("tools") or ()):
        path, text = f"tools[{number}].function.description", tool.get("function", {}).get("description", "")
        if len(text) > 1024:
            yield (
                f"Invalid '{path}': string too long. Expected a string with maximum length 1024, but got a string "
                f"with length {len(text)} instead.",
                {"param": path},
            )


@RULES(
    "cc-max-tokens",
    "openhab/openhab-addons#21459; router-for-me/CLIProxyAPI#983",
    _example(model="gpt-6-sol", max_tokens=500),
    family=r"^(openai/)?(gpt-[5-9]|o\d)",
    error={"param": "max_tokens", "code": "unsupported_parameter"},
)
def _old_limit(asked: Asked) -> Iterator[Fault]:
    if "max_tokens" in asked.body:
        yield (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
            "instead."
        )


@RULES(
    "cc-alternate",
    "vllm-project/vllm#6862; suitenumerique/conversations#197; microsoft/autogen#3597",
    _example(_ASKED),
    error=_BAD_REQUEST,
)
def _two_users(asked: Asked) -> Iterator[Fault]:
    roles = [message["role"] for _, message in messages(asked)]
    if ("user", "user") in itertools.pairwise(roles):
        yield (
            "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
        )


@_mistral(
    "mi-id",
    "nearai/ironclaw#1241; editor-code-assistant/eca#233",
    _example(_call(), _result(), model="mistral-large-latest"),
    error={"type": "invalid_function_call", "code": "3280"},
)
def _not_nine(asked: Asked) -> Iterator[Fault]:
    for call in calls(asked):
        if not re.fullmatch(r"[a-zA-Z0-9]{9}", call["id"]):
            yield f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9."


@_mistral(
    "mi-order",
    "pipecat-ai/pipecat-flows#178; charmbracelet/crush#279",
    _example(_call("123456789"), _result("123456789"), _ASKED, model="mistral-large-latest"),
    error={"type": "invalid_request_message_order", "code": "3230"},
)
def _order(asked: Asked) -> Iterator[Fault]:
    roles = [message["role"] for _, message in messages(asked)]
    for role, following in itertools.pairwise(roles):
        if (role, following) in (("tool", "user"), ("user", "tool")):
            yield f"Unexpected role '{following}' after role '{role}'"
    if roles[-1] == "assistant":
        yield (
            "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
            {"type": "invalid_request_error", "code": None},
        )


@_mistral(
    "mi-empty",
    "pydantic-ai's models/mistral.py; the words from memory",
    _example({"role": "assistant", "content": ""}, _ASKED, model="mistral-large-latest"),
    error={"type": "invalid_request_error", "code": "3240"},
)
def _empty_answer(asked: Asked) -> Iterator[Fault]:
    for _, message in messages(asked):
        if message["role"] == "assistant" and not message.get("content") and not message.get("tool_calls"):
            yield "Assistant message must have either content or tool_calls, but not none."


@_mistral(
    "mi-extra",
    "Mistral's validation of request bodies, from memory",
    _example(model="mistral-large-latest", reasoning={"effort": "high"}),
    status=422,
    error={"type": "invalid_request_error"},
)
def _extra_fields(asked: Asked) -> Iterator[Fault]:
    for name in {"reasoning", "chat_template_kwargs", "thinking"} & asked.body.keys():
        yield f"Extra inputs are not permitted: body.{name}"


@_mistral(
    "mi-effort",
    "https://docs.mistral.ai/capabilities/reasoning/adjustable; the words from memory",
    _example(model="mistral-medium-latest", reasoning_effort="low"),
    status=422,
    error={"type": "invalid_request_error"},
)
def _mistral_effort(asked: Asked) -> Iterator[Fault]:
    effort = asked.body.get("reasoning_effort")
    if effort not in (None, "none", "high"):
        yield f"Input should be 'none' or 'high', not '{effort}': body.reasoning_effort"
