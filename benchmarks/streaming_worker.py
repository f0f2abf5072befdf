"""Streams pages in a process of its own and answers with what each cost: one JSON line in, one out.

The CPU is that of this process alone, as the operating system counts it.
"""

import asyncio
import gc
import json
import resource
import sys
import tracemalloc
from collections.abc import Awaitable, Callable, Mapping

KEY = "key-of-the-bench"
Work = Callable[[str, str, int], Awaitable[int]]
"""Streams a page over `protocol` from `base_url`, `size` thousand characters long; gives the characters seen."""


def serve(works: Mapping[str, Work]) -> None:
    """Prints the names of the works, then does each that standard input asks for."""
    print(json.dumps(list(works)), flush=True)
    with asyncio.Runner() as runner:  # one loop for all: LangChain keeps its connections in a global cache
        for line in sys.stdin:
            order = json.loads(line)
            measure = peak_memory if order["memory"] else cpu_seconds
            streamed = works[order["work"]](order["protocol"], order["base_url"], order["size"])
            print(json.dumps(runner.run(measure(streamed, order["size"]))), flush=True)


async def cpu_seconds(streamed: Awaitable[int], size: int) -> float:
    gc.collect()
    before = _used()
    length = await streamed
    seconds = _used() - before
    assert length > size * 900, f"only {length} characters came"
    return seconds


async def peak_memory(streamed: Awaitable[int], size: int) -> float:
    """The most bytes Python held at once for one stream, per character of the page."""
    gc.collect()
    tracemalloc.start()
    await streamed
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / (size * 1000)


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
