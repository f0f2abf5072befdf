"""What the rules of Anthropic's Messages API share: walking a body, families of models, examples."""

from collections.abc import Iterator
from typing import Any

from tests.support.wire.rules.rule import Asked, Exchange, Json

DOCS = "platform.claude.com/docs/en/"


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


def example(
    *after: Json, earlier: tuple[Exchange, ...] = (), model: str = "claude-opus-5-5", **changes: Any
) -> Asked:
    conversation = [{"role": "user", "content": "Hello?"}, *after]
    body = {"model": model, "max_tokens": 2000, "messages": conversation, **changes}
    return Asked(model, body, earlier)


def said(*content: Json) -> Json:
    return {"role": "assistant", "content": list(content)}


def asks(*content: Json) -> Json:
    return {"role": "user", "content": list(content)}


TEXT = {"type": "text", "text": "So."}
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "3 hits"}
