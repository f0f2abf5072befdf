"""What streaming costs: our providers against the SDKs' own typed events, in the same run.

    python -m tests.bench.bench_providers [--engine] [--sizes 50 100 200 400]

One `create_file` call streams a page in 20-character fragments. CPU is that of this process alone (the
server is another one); each figure is the least of three rounds. A ratio and a growth exponent travel
between machines, seconds do not.
"""

import argparse
import asyncio
import contextlib
import gc
import json
import math
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from typing import Any

from agent_nb.messages import ToolSpec, user
from agent_nb.providers import model
from agent_nb.providers.base import CallPiece, Request, Turn
from tests.support.wire import Hold, Say, WireServer, reply
from tests.support.wire.cases import CASES, collect

KEY = "key-of-the-bench"
LIMITS = {"anthropic": 0.6, "openai": 0.25, "chat": 0.25}
ROUNDS = 3
TOOL = ToolSpec(
    name="create_file",
    description="Writes a file.",
    schema={
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)
Work = Callable[[int], Awaitable[int]]


@contextlib.contextmanager
def wire_process(*options: str):
    """The loopback server in a process of its own, so that its CPU is not counted."""
    command = [sys.executable, "-m", "tests.support.wire", *options]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(process.stdout.readline())["base_url"]
    finally:
        process.stdin.close()
        process.wait(10)


async def raw_anthropic(base_url: str, size: int) -> int:
    import anthropic

    client = anthropic.AsyncAnthropic(api_key=KEY, base_url=base_url, max_retries=0)
    messages = [{"role": "user", "content": "A page."}]
    total = 0
    async with client:
        stream = await client.messages.create(
            model=f"page-{size}", max_tokens=1000, messages=messages, stream=True
        )
        async for event in stream:
            if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                total += len(event.delta.partial_json)
    return total


async def raw_openai(base_url: str, size: int) -> int:
    import openai

    total = 0
    async with openai.AsyncOpenAI(api_key=KEY, base_url=base_url, max_retries=0) as client:
        stream = await client.responses.create(model=f"page-{size}", input="A page.", stream=True)
        async for event in stream:
            if event.type == "response.function_call_arguments.delta":
                total += len(event.delta)
    return total


async def raw_chat(base_url: str, size: int) -> int:
    import openai

    total = 0
    messages = [{"role": "user", "content": "A page."}]
    async with openai.AsyncOpenAI(api_key=KEY, base_url=base_url, max_retries=0) as client:
        stream = await client.chat.completions.create(model=f"page-{size}", messages=messages, stream=True)
        async for chunk in stream:
            for choice in chunk.choices:
                for call in choice.delta.tool_calls or ():
                    total += len(call.function.arguments or "")
    return total


RAW = {"anthropic": raw_anthropic, "openai": raw_openai, "chat": raw_chat}
NAMES = {
    "anthropic": "anthropic:page-{}",
    "openai": "openai:page-{}",
    "chat": "chat:page-{}",
    "gemini": "gemini:page-{}",
}


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


async def our_engine(protocol: str, base_url: str, size: int) -> int:
    from agent_nb import Agent
    from agent_nb.events import FileDelta

    provider = model(NAMES[protocol].format(size), base_url=base_url, api_key=KEY)
    total = 0
    async for event in Agent(provider).stream("A page."):
        if type(event) is FileDelta:
            total += len(event.text)
    await provider.close()
    return total


def cpu_of(work: Work, size: int) -> float:
    """The least CPU seconds of a few rounds."""
    best = math.inf
    for _ in range(ROUNDS):
        gc.collect()
        started = time.process_time()
        length = asyncio.run(work(size))
        best = min(best, time.process_time() - started)
        assert length > size * 900, f"only {length} characters came"
    return best


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The slope of log(seconds) over log(size): 1 is linear, 2 quadratic. One size has none."""
    if len(set(sizes)) < 2:
        return math.nan
    xs, ys = [math.log(size) for size in sizes], [math.log(second) for second in seconds]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return slope / sum((x - x_mean) ** 2 for x in xs)


def peak_memory(work: Work, size: int) -> float:
    """The most bytes Python held at once for one stream, per character of the page."""
    gc.collect()
    tracemalloc.start()
    asyncio.run(work(size))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / (size * 1000)


async def cancel_milliseconds() -> dict[str, float]:
    """From `task.cancel()` to the moment the server sees the socket closed."""
    found: dict[str, float] = {}
    async with WireServer() as server:
        for number, case in enumerate(CASES):
            server.plan(reply(Say("Hello."), Hold()))
            task = asyncio.ensure_future(collect(case.provider(server)))
            request = await server.arrival(number)
            await request.holding.wait()
            started = time.perf_counter()
            task.cancel()
            await request.closed.wait()
            found[case.protocol] = (time.perf_counter() - started) * 1000
            await asyncio.gather(task, return_exceptions=True)
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200, 400])
    options.add_argument("--protocols", nargs="+", default=list(RAW))
    options.add_argument("--engine", action="store_true", help="measure a whole agent run too")
    chosen = options.parse_args()
    with wire_process() as addresses:
        for protocol in chosen.protocols:
            compare(protocol, addresses[protocol], chosen.sizes, chosen.engine)
    for protocol, milliseconds in asyncio.run(cancel_milliseconds()).items():
        print(f"{protocol:<16} cancel to closed socket {milliseconds:8.2f} ms   (limit 100)")


def compare(protocol: str, base_url: str, sizes: list[int], engine: bool) -> None:
    """Prints one protocol's table."""
    works: dict[str, Work] = {}
    if protocol in RAW:
        works["raw SDK"] = lambda size: RAW[protocol](base_url, size)
    works["provider"] = lambda size: our_provider(protocol, base_url, size)
    if engine:
        works["engine"] = lambda size: our_engine(protocol, base_url, size)
    seconds: dict[str, list[float]] = {}
    for label, work in works.items():
        asyncio.run(work(1))  # imports and first use are not streaming
        seconds[label] = [cpu_of(work, size) for size in sizes]
    print(f"\n{protocol:<12}" + "".join(f"{size:>9} KB" for size in sizes) + "   exponent")
    for label, figures in seconds.items():
        cells = "".join(f"{figure:>10.3f} s" for figure in figures)
        print(f"{label:<12}{cells}   {exponent(sizes, figures):.2f}")
    for label in set(seconds) - {"raw SDK"} if "raw SDK" in seconds else ():
        ratios = [ours / raw for ours, raw in zip(seconds[label], seconds["raw SDK"], strict=True)]
        cells = "".join(f"{ratio:>11.2f}x" for ratio in ratios)
        print(f"{label + ' / raw':<12}{cells}   (limit {LIMITS.get(protocol, math.nan)})")
    work: Any = works["engine" if engine else "provider"]
    print(f"peak memory {peak_memory(work, sizes[-1]):.1f} bytes per character at {sizes[-1]} KB")


if __name__ == "__main__":
    main()
