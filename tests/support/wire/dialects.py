"""The table of the five protocols, and how a request's path tells which one it speaks."""

from collections.abc import Callable
from typing import Any

from tests.support.wire.anthropic import Anthropic
from tests.support.wire.dialect import Dialect, sse
from tests.support.wire.gemini import GenerateContent, Interactions
from tests.support.wire.openai import Chat, Responses
from tests.support.wire.steps import Reply

__all__ = ["DIALECTS", "model_of", "protocol_of", "sse"]

DIALECTS: dict[str, Callable[[Reply, str], Dialect]] = {
    "openai": Responses,
    "chat": Chat,
    "anthropic": Anthropic,
    "gemini": Interactions,
    "gemini_generate": GenerateContent,
}


def protocol_of(path: str) -> str:
    """Which protocol a request's path speaks."""
    path = path.partition("?")[0]
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/responses"):
        return "openai"
    if path.endswith("/messages"):
        return "anthropic"
    if path.endswith("/interactions"):
        return "gemini"
    return "gemini_generate" if ":streamGenerateContent" in path else ""


def model_of(path: str, body: dict[str, Any]) -> str:
    return str(body.get("model") or path.rpartition("/models/")[2].partition(":")[0])
