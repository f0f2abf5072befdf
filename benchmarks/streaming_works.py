"""The page through the SDK's bytes (the floor), its typed events, our providers and a whole run of ours."""

import contextlib
from typing import Any

from jiter import from_json

from agent_nb import Agent
from agent_nb.core.events import FileDelta
from agent_nb.core.messages import ToolSpec, user
from agent_nb.providers import model
from agent_nb.providers.base import CallPiece, Request, Turn
from agent_nb.providers.sse import SseReader
from benchmarks.streaming_worker import KEY, serve

NAMES = {
    "anthropic_messages": "anthropic:page-{}",
    "responses": "openai:page-{}",
    "chat": "chat:page-{}",
    "interactions": "gemini:page-{}",
}
TOOL = ToolSpec(
    name="create_file",
    description="Writes a file.",
    schema={
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)
MESSAGES = [{"role": "user", "content": "A page."}]
BODIES: dict[str, dict[str, Any]] = {
    "anthropic_messages": {"max_tokens": 1000, "messages": MESSAGES},
    "responses": {"input": "A page."},
    "chat": {"messages": MESSAGES},
}


def resource(protocol: str, client: Any) -> Any:
    """The part of the SDK's client that opens streams."""
    parts = {"anthropic_messages": "messages", "responses": "responses", "chat": "chat.completions"}[protocol]
    for part in parts.split("."):
        client = getattr(client, part)
    return client


def sdk_client(protocol: str, base_url: str) -> Any:
    if protocol == "anthropic_messages":
        import anthropic

        return anthropic.AsyncAnthropic(api_key=KEY, base_url=base_url, max_retries=0)
    import openai

    return openai.AsyncOpenAI(api_key=KEY, base_url=base_url, max_retries=0)


async def floor(protocol: str, base_url: str, size: int) -> int:
    """Every event of the stream as a dict, and nothing done with it: no client can do with less."""
    total, feed = 0, SseReader().feed
    async with sdk_client(protocol, base_url) as client:
        opened = resource(protocol, client).with_streaming_response.create(
            model=f"page-{size}", stream=True, **BODIES[protocol]
        )
        async with opened as response:
            async for chunk in response.http_response.aiter_raw():
                for _, data in feed(chunk):
                    if data != b"[DONE]":
                        total += len(_fragment(protocol, from_json(data)))
    return total


def _fragment(protocol: str, data: Any) -> str:
    """The piece of the call's arguments in an event, if it has one."""
    if protocol == "anthropic_messages":
        found = data["delta"].get("partial_json") if data["type"] == "content_block_delta" else ""
    elif protocol == "responses":
        found = data["delta"] if data["type"] == "response.function_call_arguments.delta" else ""
    else:
        calls = [call for choice in data["choices"] for call in choice["delta"].get("tool_calls") or ()]
        found = calls[0]["function"].get("arguments") if calls else ""
    return found or ""


async def raw_sdk(protocol: str, base_url: str, size: int) -> int:
    total = 0
    async with sdk_client(protocol, base_url) as client:
        stream = await resource(protocol, client).create(
            model=f"page-{size}", stream=True, **BODIES[protocol]
        )
        async for event in stream:
            if protocol == "chat":
                for choice in event.choices:
                    for call in choice.delta.tool_calls or ():
                        total += len(call.function.arguments or "")
            elif event.type == "response.function_call_arguments.delta":
                total += len(event.delta)
            elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                total += len(event.delta.partial_json)
    return total


async def our_provider(protocol: str, base_url: str, size: int) -> int:
    provider = model(NAMES[protocol].format(size), base_url=base_url, api_key=KEY)
    total = 0
    request = Request(system="", messages=(user("A page."),), tools=(TOOL,))
    async with contextlib.aclosing(provider.stream(request)) as pieces:
        async for piece in pieces:
            if type(piece) is CallPiece:
                total += len(piece.text)
    assert isinstance(piece, Turn)
    await provider.close()
    return total


async def our_run(protocol: str, base_url: str, size: int) -> int:
    provider = model(NAMES[protocol].format(size), base_url=base_url, api_key=KEY)
    total = 0
    async for event in Agent(provider).stream("A page."):
        if type(event) is FileDelta:
            total += len(event.text)
    await provider.close()
    return total


if __name__ == "__main__":
    serve({"SDK": raw_sdk, "floor": floor, "provider": our_provider, "agent_nb": our_run})
