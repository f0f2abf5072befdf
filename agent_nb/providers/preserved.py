"""Which thinking of earlier turns Anthropic takes back.

Newer models bind each thinking block to all that was sent before it: the system text, the tools and the messages.
A block after anything else is refused, so each answer remembers a digest of its request, and its thinking is left
out where the digest no longer matches. https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
"""

import hashlib
import json
from collections.abc import Sequence

from agent_nb._base.wire import Json

_KINDS = ("thinking", "redacted_thinking")
_TOOL = ("name", "description", "input_schema")


class Prefix:
    """The digest of a request up to one of its messages, without cache markers and optional fields of tools."""

    def __init__(self, system: str, tools: Sequence[Json]) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self._messages = 0
        self._add([system, [[tool[key] for key in _TOOL] for tool in tools]])

    @classmethod
    def of(cls, body: Json) -> str:
        """The digest of a whole body, which binds the thinking of its answer."""
        system = "".join(block["text"] for block in body.get("system", ()))
        return cls(system, body.get("tools", ())).digest_after(body["messages"])

    def digest_after(self, messages: Sequence[Json]) -> str:
        """The digest after these messages, of which earlier calls have seen the first ones."""
        for message in messages[self._messages :]:
            self._add(message)
        self._messages = len(messages)
        return self._hash.hexdigest()

    def _add(self, value: object) -> None:
        self._hash.update(json.dumps(value, sort_keys=True).encode())


def is_thinking(block: Json) -> bool:
    return block.get("type") in _KINDS


def without_thinking(blocks: Sequence[Json]) -> list[Json]:
    return [block for block in blocks if not is_thinking(block)]


def began_without_thinking(messages: Sequence[Json]) -> bool:
    """Whether tool results continue a turn that did not begin with thinking.

    Models with a budget refuse to think in the middle of such a turn.
    """
    turn: list[Json] = []
    for message in messages:
        if message["role"] == "assistant":
            turn.append(message)
        elif any(block["type"] != "tool_result" for block in message["content"]):
            turn.clear()
    return bool(turn) and not is_thinking(turn[0]["content"][0])
