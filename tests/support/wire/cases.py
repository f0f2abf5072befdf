"""The providers under test, one for each wire protocol, connected to the loopback server."""

import base64
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from agent_nb.core.messages import Image, Message, ToolResult, ToolSpec, user
from agent_nb.providers import model
from agent_nb.providers.base import Piece, Request, Turn, VirtualClock
from agent_nb.providers.streaming import VendorProvider
from agent_nb.providers.vendors import VENDORS
from tests.support.wire.faults import KEY
from tests.support.wire.server import Request as SentRequest
from tests.support.wire.server import WireServer
from tests.support.wire.steps import Say, Step, reply

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
    """A model behind a protocol, and what differs between the protocols, so that tests need not know their names."""

    protocol: str
    """A key of `APIS`."""
    name: str
    messages: str = "messages"
    """Where a body has the conversation."""
    streams_arguments: bool = True
    uncounted: tuple[str, ...] = ("cached_write",)
    """Fields of `Usage` that its usage does not have."""
    signs: Literal["", "as it came", "url-safe"] = ""
    """How the signature of thinking is sent back."""
    refuses: bool = True
    """Whether an answer can end with a refusal."""
    comments: bool = True
    """Whether the stream may have comments."""
    shows_pages: bool = True
    """Whether a web page that claims to be a stream can be told from one."""
    renames_arguments: bool = False
    """Whether some names of arguments are refused, so that others are sent."""

    def __str__(self) -> str:
        vendor = self.name.partition(":")[0]
        return vendor if vendor in CLIENT_OPTIONS else self.protocol

    def provider(self, server: WireServer, name: str = "", **settings: Any) -> VendorProvider:
        own = {"api": self.protocol, "api_key": KEY, "base_url": server.base_url(self.protocol)}
        settings = {**own, **CLIENT_OPTIONS.get((name or self.name).partition(":")[0], {}), **settings}
        made = model(name or self.name, **settings)
        assert isinstance(made, VendorProvider)
        return made


CASES = (
    Case("responses", "openai:gpt-6.1-sol", messages="input", uncounted=(), signs="as it came"),
    Case("chat", "openrouter:some/model", renames_arguments=True),
    Case(
        "anthropic_messages",
        "anthropic:claude-opus-5-5",
        uncounted=(),
        signs="as it came",
        renames_arguments=True,
    ),
    Case("interactions", "gemini:gemini-4-argon", messages="input", signs="as it came", refuses=False),
    Case(
        "generate_content",
        "gemini:gemini-4-argon",
        messages="contents",
        streams_arguments=False,
        signs="url-safe",
        comments=False,
        shows_pages=False,
    ),
)
CASE = {case.protocol: case for case in CASES}
CLIENT_OPTIONS = {
    "azure": {"api_version": "2025-04-01-preview"},
    "vertex": {"project": "lab", "location": "europe-west1"},
    "bedrock": {"aws_region": "eu-central-1"},
}
"""Arguments of the clouds' clients, besides `base_url`."""
CLOUD_CASES = (
    replace(CASE["responses"], name="azure:my-deployment"),
    replace(CASE["generate_content"], name="vertex:gemini-4-argon"),
    replace(CASE["anthropic_messages"], name="bedrock:anthropic.claude-opus-5-5"),
)


def without_waits(provider: VendorProvider) -> VendorProvider:
    """The provider with a clock on which the wait before a retry takes no time."""
    provider.new_clock = lambda: VirtualClock(pace=0)
    return provider


def case_of(vendor: str) -> Case:
    """The case of the protocol that is used for a vendor."""
    return CASE[VENDORS[vendor].apis[0]]


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


async def two_turns(provider: VendorProvider, **results: Any) -> Turn:
    """The first turn, after a second request that answers its calls."""
    turn = await turn_of(provider)
    await turn_of(provider, ask(user("Hello?"), turn.message, results_of(turn, **results)))
    return turn


async def sent_by(
    provider: VendorProvider, server: WireServer, request: Request | None = None
) -> SentRequest:
    """What arrives at the server for this request."""
    server.plan(reply(Say("Hello.")))
    assert (await turn_of(provider, request)).message.text == "Hello."
    return server.requests[-1]


async def sent_back(provider: VendorProvider, server: WireServer, *steps: Step, **results: Any) -> Any:
    """The body of the second request, after an answer with these steps whose calls have these results."""
    server.plan(reply(*steps), reply(Say("Done.")))
    await two_turns(provider, **results)
    return server.requests[-1].body


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
