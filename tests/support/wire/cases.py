"""The five providers under test, connected to the loopback server."""

import base64
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent_nb.messages import Image, Message, ToolResult, ToolSpec, user
from agent_nb.providers import model
from agent_nb.providers.base import Piece, Request, Turn
from agent_nb.providers.streaming import VendorProvider
from tests.support.wire.faults import KEY
from tests.support.wire.server import WireServer

RED_PNG = Image(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg=="
    )
)
"""Two by two red pixels."""
SEARCH = ToolSpec(
    name="search",
    description="Finds things.",
    schema={"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
)


@dataclass(frozen=True)
class Case:
    protocol: str
    name: str
    api: str = ""
    streams_arguments: bool = True
    counts_cache_writes: bool = False

    def __str__(self) -> str:
        return self.protocol

    def provider(self, server: WireServer, **settings: Any) -> VendorProvider:
        if self.api:
            settings["api"] = self.api
        settings = {"api_key": KEY, "base_url": server.base_url(self.protocol), **settings}
        made = model(self.name, **settings)
        assert isinstance(made, VendorProvider)
        return made


CASES = (
    Case("openai", "openai:gpt-6.1-sol", counts_cache_writes=True),
    Case("chat", "openrouter:some/model"),
    Case("anthropic", "anthropic:claude-opus-5-5", counts_cache_writes=True),
    Case("gemini", "gemini:gemini-4-argon"),
    Case("gemini_generate", "gemini:gemini-4-argon", api="generate_content", streams_arguments=False),
)
CASE = {case.protocol: case for case in CASES}


def ask(*messages: Message, tools: tuple[ToolSpec, ...] = (SEARCH,), system: str = "Be brief.") -> Request:
    return Request(system=system, messages=messages or (user("Hello?"),), tools=tools)


async def collect(provider: VendorProvider, request: Request | None = None) -> list[Piece]:
    """Every piece of one turn, the stream closed as the engine closes it."""
    async with contextlib.aclosing(provider.stream(request or ask())) as pieces:
        return [piece async for piece in pieces]


async def turn_of(provider: VendorProvider, request: Request | None = None) -> Turn:
    last = (await collect(provider, request))[-1]
    assert isinstance(last, Turn)
    return last


def results_of(turn: Turn, text: str = "3 hits", **more: Any) -> Message:
    """The tool message that answers every call of a turn."""
    results = tuple(
        ToolResult(call_id=call.id, name=call.name, text=text, **more) for call in turn.message.tool_calls
    )
    return Message(role="tool", parts=results)


def strings_in(value: Any) -> Iterator[str]:
    """Every string anywhere in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_in(item)
