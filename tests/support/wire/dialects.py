"""The table of the protocols by their keys in `APIS`, and how a request's path tells which one it speaks."""

from typing import Any

from tests.support.wire.anthropic_messages import AnthropicMessages
from tests.support.wire.chat import Chat
from tests.support.wire.dialect import Dialect
from tests.support.wire.generate_content import GenerateContent
from tests.support.wire.interactions import Interactions
from tests.support.wire.responses import Responses

DIALECTS: dict[str, type[Dialect]] = {
    "responses": Responses,
    "chat": Chat,
    "anthropic_messages": AnthropicMessages,
    "interactions": Interactions,
    "generate_content": GenerateContent,
}


def protocol_of(path: str) -> str:
    """Which protocol a request's path speaks; empty for none."""
    return next((key for key, dialect in DIALECTS.items() if dialect.path in path), "")


def model_of(path: str, body: dict[str, Any]) -> str:
    return str(body.get("model") or path.rpartition("/models/")[2].partition(":")[0])
