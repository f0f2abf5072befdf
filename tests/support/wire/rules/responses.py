"""What OpenAI's Responses API refuses: the items of `input`. Parameters and tools are in `responses_parameters`."""

import re
from collections.abc import Iterator
from typing import Any

from tests.support.wire.rules.listed_models import OPENAI_NOT_REASONING
from tests.support.wire.rules.rule import Asked, Fault, Json, Rules

RULES = Rules("responses")


def error_body(error: Json) -> Json:
    fields = {"message": error["message"], "type": error.get("type", "invalid_request_error")}
    return {"error": {**fields, "param": error.get("param"), "code": error.get("code")}}


def items(asked: Asked, *kinds: str) -> Iterator[tuple[str, Json]]:
    """The items of some types in `input`, each with its path; of all types if none is given."""
    given = asked.body.get("input") or ()
    if isinstance(given, str):  # a lone prompt
        return
    for index, item in enumerate(given):
        if not kinds or item.get("type", "message") in kinds:
            yield f"input[{index}]", item


def example(model: str = "gpt-6.1-sol", **changes: Any) -> Asked:
    messages = [{"role": "user", "content": [{"type": "input_text", "text": "Hello?"}]}]
    return Asked(model, {"model": model, "input": messages, "store": False, **changes})


_CALL = {"type": "function_call", "call_id": "call_1", "name": "search", "arguments": "{}"}
_OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "3 hits"}
_REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
_LONG = "call_" + "x" * 60


@RULES(
    "oa-orphan-output",
    "continuedev/continue#10092; oh-my-pi#106",
    example(input=[{"type": "function_call_output", "call_id": "call_1", "output": "3 hits"}]),
    error={"param": "input"},
)
def _orphan_output(asked: Asked) -> Iterator[Fault]:
    known = {item["call_id"] for _, item in items(asked, "function_call")}
    for _, item in items(asked, "function_call_output"):
        if item["call_id"] not in known:
            yield f"No tool call found for function call output with call_id {item['call_id']}."


@RULES(
    "oa-unanswered",
    "GhidrAssist#78; openai/openai-support-agent-demo#12",
    example(input=[_CALL]),
    error={"param": "input"},
)
def _unanswered(asked: Asked) -> Iterator[Fault]:
    answered = {item["call_id"] for _, item in items(asked, "function_call_output")}
    for _, item in items(asked, "function_call"):
        if item["call_id"] not in answered:
            yield f"No tool output found for function call {item['call_id']}."


@RULES(
    "oa-lone-reasoning",
    "continuedev/continue#8933; vercel/ai#7099; openai/openai-node#1567",
    example(input=[_REASONING]),
    error={"param": "input"},
)
def _lone_reasoning(asked: Asked) -> Iterator[Fault]:
    found = [item for _, item in items(asked)]
    for item, following in zip(found, [*found[1:], {"role": "user"}], strict=False):
        is_own = (
            following.get("type") in ("reasoning", "function_call") or following.get("role") == "assistant"
        )
        if item.get("type") == "reasoning" and not is_own:
            yield f"Item '{item['id']}' of type 'reasoning' was provided without its required following item."


@RULES(
    "oa-missing-reasoning",
    "continuedev/continue#11994; 0xPlaygrounds/rig#751",
    example(input=[{**_CALL, "id": "fc_2_rs_1"}, _OUTPUT]),
    error={"param": "input"},
)
def _missing_reasoning(asked: Asked) -> Iterator[Fault]:
    """The wire server's ids end with the id of the reasoning that the item came after."""
    known: set[str] = set()
    for _, item in items(asked):
        item_id = item.get("id", "")
        known.add(item_id)
        needed = re.search(r"(?<=\d_)rs_\d+$", item_id)
        if needed and needed[0] not in known:
            kind = item.get("type", "message")
            yield (
                f"Item '{item_id}' of type '{kind}' was provided without its required 'reasoning' item: "
                f"'{needed[0]}'."
            )


@RULES(
    "oa-reasoning-nr",
    "OpenAI's message for these models, from memory; the words may differ",
    example("gpt-4.1", input=[_REASONING, _CALL, _OUTPUT]),
    models=OPENAI_NOT_REASONING,
    error={"param": "input"},
)
def _reasoning(asked: Asked) -> Iterator[Fault]:
    for _ in items(asked, "reasoning"):
        yield (
            "Reasoning input items can only be provided to a reasoning or computer use model. Remove reasoning "
            "items from your input and try again."
        )


@RULES(
    "oa-not-persisted",
    "https://developers.openai.com/api/docs/guides/reasoning (encrypted reasoning items)",
    example(input=[{**_REASONING, "encrypted_content": None}, _CALL, _OUTPUT]),
    status=404,
    error={"param": "input"},
)
def _not_persisted(asked: Asked) -> Iterator[Fault]:
    for _, item in items(asked, "reasoning"):
        if not asked.body.get("store", True) and not item.get("encrypted_content"):
            yield (
                f"Item with id '{item['id']}' not found. Items are not persisted when `store` is set to false. "
                "Try again with `store` set to true, or remove this item from your input."
            )


@RULES(
    "oa-dup-item",
    "continuedev/continue#10200; badlogic/pi-mono#5151",
    example(input=[{**_CALL, "id": "fc_1"}, _OUTPUT, {**_CALL, "id": "fc_1"}]),
    error={"param": "input"},
)
def _repeated_item(asked: Asked) -> Iterator[Fault]:
    seen: set[str] = set()
    for _, item in items(asked):
        if item.get("id") in seen:
            yield f"Duplicate item found with id {item['id']}. Remove duplicate items from your input and try again."
        seen |= {item["id"]} if "id" in item else set()


@RULES(
    "oa-id-prefix",
    "continuedev/continue#11689; langchain-ai/langchainjs#11044",
    example(input=[{**_CALL, "id": "call_1"}, _OUTPUT]),
    error={"code": "invalid_value"},
)
def _item_id(asked: Asked) -> Iterator[Fault]:
    prefixes = {"function_call": "fc", "message": "msg", "reasoning": "rs"}
    for path, item in items(asked, *prefixes):
        prefix, item_id = prefixes[item.get("type", "message")], item.get("id")
        if item_id is None:
            continue
        more = {"param": f"{path}.id"}
        if not item_id.startswith(prefix):
            yield f"Invalid '{path}.id': '{item_id}'. Expected an ID that begins with '{prefix}'.", more
        if not re.fullmatch(r"[A-Za-z0-9_-]+", item_id):
            yield (
                f"Invalid '{path}.id': '{item_id}'. Expected an ID that contains letters, numbers, underscores, "
                "or dashes, but this value contained additional characters.",
                more,
            )


@RULES(
    "oa-callid-long",
    "fastllm#45; CLIProxyAPIPlus#430",
    example(input=[{**_CALL, "call_id": _LONG}, {**_OUTPUT, "call_id": _LONG}]),
    error={"code": "string_above_max_length"},
)
def _long_call_id(asked: Asked) -> Iterator[Fault]:
    for path, item in items(asked, "function_call", "function_call_output"):
        if (length := len(item["call_id"])) > 64:
            yield (
                f"Invalid '{path}.call_id': string too long. Expected a string with maximum length 64, but got a "
                f"string with length {length} instead.",
                {"param": f"{path}.call_id"},
            )


@RULES(
    "oa-callid-empty",
    "fastllm#45; the lower limit by the same check",
    example(input=[{**_CALL, "call_id": ""}, {**_OUTPUT, "call_id": ""}]),
    error={"code": "empty_string"},
)
def _empty_call_id(asked: Asked) -> Iterator[Fault]:
    for path, item in items(asked, "function_call", "function_call_output"):
        if not item["call_id"]:
            yield (
                f"Invalid '{path}.call_id': empty string. Expected a string with minimum length 1, but got an "
                "empty string instead.",
                {"param": f"{path}.call_id"},
            )


@RULES(
    "oa-call-name",
    "mcp-use/mcp-use#90, for the same check in Chat Completions",
    example(input=[{**_CALL, "name": "functions.search"}, _OUTPUT]),
    error={"code": "invalid_value"},
)
def _call_name(asked: Asked) -> Iterator[Fault]:
    for path, item in items(asked, "function_call"):
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", item["name"]):
            yield (
                f"Invalid '{path}.name': string does not match pattern. Expected a string that matches the pattern "
                "'^[a-zA-Z0-9_-]+$'.",
                {"param": f"{path}.name"},
            )


@RULES(
    "oa-content-type",
    "openai SDK: ResponseInputContentParam, ResponseOutputMessageParam",
    example(input=[{"role": "user", "content": [{"type": "output_text", "text": "Hello?"}]}]),
    error={"code": "invalid_value"},
)
def _content_type(asked: Asked) -> Iterator[Fault]:
    accepted = {"assistant": ("output_text", "refusal")}
    for path, item in items(asked, "message"):
        content = item["content"]
        for index, block in enumerate(content if isinstance(content, list) else ()):
            known = accepted.get(item["role"], ("input_text", "input_image", "input_file"))
            if block["type"] not in known:
                names = ", ".join(f"'{name}'" for name in known)
                where = {"param": f"{path}.content[{index}]"}
                yield f"Invalid value: '{block['type']}'. Supported values are: {names}.", where


@RULES(
    "oa-role",
    "openai SDK: EasyInputMessageParam.role",
    example(input=[{"role": "tool", "content": "3 hits"}]),
    error={"code": "invalid_value"},
)
def _role(asked: Asked) -> Iterator[Fault]:
    for path, item in items(asked, "message"):
        if item.get("role") not in ("user", "assistant", "system", "developer"):
            yield (
                f"Invalid value: '{item.get('role')}'. Supported values are: 'assistant', 'system', 'developer', "
                "and 'user'.",
                {"param": f"{path}.role"},
            )
