"""What Anthropic's Messages API refuses: the conversation."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

from tests.support.wire.rules.rule import Asked, Fault, Json, Rule


def error_body(error: Json) -> Json:
    kind = error.get("type", "invalid_request_error")
    return {
        "type": "error",
        "error": {"type": kind, "message": error["message"]},
        "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
    }


def messages(asked: Asked) -> Iterator[tuple[int, Json, list[Json]]]:
    """Each message with its number and its content as a list of blocks."""
    for number, message in enumerate(asked.body.get("messages") or ()):
        content = message["content"]
        yield number, message, [{"type": "text", "text": content}] if isinstance(content, str) else content


def blocks(asked: Asked, *kinds: str) -> Iterator[tuple[str, Json]]:
    """The blocks of all messages, those inside tool results too, each with its path."""
    for number, _, content in messages(asked):
        for index, block in enumerate(content):
            path = f"messages.{number}.content.{index}"
            inner = block.get("content") if block.get("type") == "tool_result" else None
            found = [(path, block)]
            if isinstance(inner, list):
                found += [(f"{path}.tool_result.content.{at}", item) for at, item in enumerate(inner)]
            yield from ((at, item) for at, item in found if not kinds or item.get("type") in kinds)


def _no_messages(asked: Asked) -> Iterator[Fault]:
    if not asked.body.get("messages"):
        yield "messages: at least one message is required"


def _first_user(asked: Asked) -> Iterator[Fault]:
    for _, message, _ in messages(asked):
        if message["role"] != "user":
            yield 'messages: first message must use the "user" role'
        return


def _empty_message(asked: Asked) -> Iterator[Fault]:
    last = len(asked.body["messages"]) - 1
    for number, message, content in messages(asked):
        if not content and not (number == last and message["role"] == "assistant"):
            yield (
                f"messages.{number}: all messages must have non-empty content except for the optional "
                "final assistant message"
            )


def _texts(asked: Asked) -> Iterator[str]:
    yield from (block["text"] for _, block in blocks(asked, "text"))
    system = asked.body.get("system") or ()
    yield from () if isinstance(system, str) else (block["text"] for block in system)


def _empty_text(asked: Asked) -> Iterator[Fault]:
    if "" in _texts(asked):
        yield "messages: text content blocks must be non-empty"


def _blank_text(asked: Asked) -> Iterator[Fault]:
    if any(text and not text.strip() for text in _texts(asked)):
        yield "messages: text content blocks must contain non-whitespace text"


def _empty_result(asked: Asked) -> Iterator[Fault]:
    for path, block in blocks(asked, "tool_result"):
        if block.get("content") == []:
            yield f"{path}.tool_result.content: List should have at least 1 item"


def _id_pattern(asked: Asked) -> Iterator[Fault]:
    for path, block in blocks(asked, "tool_use", "tool_result"):
        field = "id" if block["type"] == "tool_use" else "tool_use_id"
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", block[field]):
            yield f"{path}.{block['type']}.{field}: String should match pattern '^[a-zA-Z0-9_-]+$'"


def _unique_ids(asked: Asked) -> Iterator[Fault]:
    seen: set[str] = set()
    for path, block in blocks(asked, "tool_use"):
        if block["id"] in seen:
            yield f"{path}: `tool_use` ids must be unique"
        seen.add(block["id"])


def _ids(content: list[Json], kind: str, field: str) -> list[str]:
    return [block[field] for block in content if block.get("type") == kind]


def _unanswered(asked: Asked) -> Iterator[Fault]:
    """The results must be the first blocks of the next message."""
    conversation = [*messages(asked), (-1, {"role": "user"}, [])]
    for (number, _, content), (_, _, following) in itertools.pairwise(conversation):
        calls = _ids(content, "tool_use", "id")
        first = [block for block in following[: len(calls)] if block.get("type") == "tool_result"]
        if missing := set(calls) - set(_ids(first, "tool_result", "tool_use_id")):
            yield (
                f"messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately "
                f"after: {', '.join(sorted(missing))}. Each `tool_use` block must have a corresponding "
                "`tool_result` block in the next message."
            )


def _orphan(asked: Asked) -> Iterator[Fault]:
    calls: list[str] = []
    for number, _, content in messages(asked):
        for index, block in enumerate(content):
            if block.get("type") == "tool_result" and block["tool_use_id"] not in calls:
                yield (
                    f"messages.{number}.content.{index}: unexpected `tool_use_id` found in `tool_result` "
                    f"blocks: {block['tool_use_id']}. Each `tool_result` block must have a corresponding "
                    "`tool_use` block in the previous message."
                )
        calls = _ids(content, "tool_use", "id")


def _two_results(asked: Asked) -> Iterator[Fault]:
    for number, _, content in messages(asked):
        results = _ids(content, "tool_result", "tool_use_id")
        for index, call_id in enumerate(results):
            if call_id in results[:index]:
                yield (
                    f"messages.{number}.content.{index}: each tool_use must have a single result. "
                    f"Found multiple `tool_result` blocks with id: {call_id}"
                )


def _ends_in_thinking(asked: Asked) -> Iterator[Fault]:
    for number, message, content in messages(asked):
        if message["role"] == "assistant" and content and "thinking" in content[-1].get("type", ""):
            yield f"messages.{number}: The final block in an assistant message cannot be `thinking`."


def _prefill(asked: Asked) -> Iterator[Fault]:
    if asked.body["messages"][-1]["role"] == "assistant":
        yield (
            "This model does not support assistant message prefill. "
            "The conversation must end with a user message."
        )


def example(*after: Json, model: str = "claude-opus-5-5", **changes: Any) -> Asked:
    conversation = [{"role": "user", "content": "Hello?"}, *after]
    return Asked(model, {"model": model, "max_tokens": 1000, "messages": conversation, **changes})


def said(*content: Json) -> Json:
    return {"role": "assistant", "content": list(content)}


def asks(*content: Json) -> Json:
    return {"role": "user", "content": list(content)}


TEXT = {"type": "text", "text": "So."}
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "3 hits"}

RULES = (
    Rule(
        id="an-none",
        protocol="anthropic",
        check=_no_messages,
        source="observed",
        example=example(messages=[]),
    ),
    Rule(
        id="an-first-user",
        protocol="anthropic",
        check=_first_user,
        source="anthropics/skills: error-codes.md",
        example=example(messages=[said(TEXT), asks(TEXT)]),
    ),
    Rule(
        id="an-empty-msg",
        protocol="anthropic",
        check=_empty_message,
        source="chatlabs#35",
        example=example(asks()),
    ),
    Rule(
        id="an-empty-text",
        protocol="anthropic",
        check=_empty_text,
        source="anthropics/claude-code#59812",
        example=example(asks({"type": "text", "text": ""})),
    ),
    Rule(
        id="an-blank-text",
        protocol="anthropic",
        check=_blank_text,
        source="home-assistant/core#175637; anthropics/claude-code#23369",
        example=example(asks({"type": "text", "text": " \n"})),
    ),
    Rule(
        id="an-empty-result",
        protocol="anthropic",
        check=_empty_result,
        source="pydantic-ai, models/anthropic.py",
        example=example(said(CALL), asks({**RESULT, "content": []})),
    ),
    Rule(
        id="an-id",
        protocol="anthropic",
        check=_id_pattern,
        source="ClawRouter#17; forgecode#1142",
        example=example(said({**CALL, "id": "functions.search:0"})),
    ),
    Rule(
        id="an-id-unique",
        protocol="anthropic",
        check=_unique_ids,
        source="PI-Desktop#718",
        example=example(said(CALL), asks(RESULT), said(CALL), asks(RESULT)),
    ),
    Rule(
        id="an-unanswered",
        protocol="anthropic",
        check=_unanswered,
        source="anthropics/claude-code#6242; platform.claude.com: troubleshooting-tool-use",
        example=example(said(CALL), asks(TEXT, RESULT)),
    ),
    Rule(
        id="an-orphan",
        protocol="anthropic",
        check=_orphan,
        source="anthropics/claude-code#13460",
        example=example(asks(RESULT)),
    ),
    Rule(
        id="an-two-results",
        protocol="anthropic",
        check=_two_results,
        source="observed",
        example=example(said(CALL), asks(RESULT, RESULT)),
    ),
    Rule(
        id="an-end-thinking",
        protocol="anthropic",
        check=_ends_in_thinking,
        source="forgecode#2107",
        example=example(said(TEXT, THINKING), asks(TEXT)),
    ),
    Rule(
        id="an-prefill",
        protocol="anthropic",
        family=r"(opus|sonnet)-4-[678]|(opus|sonnet|haiku|fable|mythos)-5",
        check=_prefill,
        source="platform.claude.com/docs/en/api/errors",
        example=example(said(TEXT)),
    ),
)
