"""What streaming costs: a run of ours and of other libraries against the SDKs' own typed events, in the same run.

    python -m benchmarks.bench_providers [--sizes 100 200 400] [--protocols responses] [--rounds 5]

One `create_file` call streams a page in 20-character fragments from one loopback server. Each library has a process
of its own, and only its CPU counts; each figure is the median of the rounds, which take turns so that a busy moment
of the machine hits all alike. Other libraries take long, so they have one round, without the largest size.
A ratio and a growth exponent travel between machines, seconds do not.

The floor is the SDK's bytes parsed as JSON. Other libraries need `make bench-peers` once.
"""

import argparse
import asyncio
import contextlib
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.quality import GOALS, write_figures
from tests.support.wire import Hold, Say, WireServer, reply
from tests.support.wire.cases import CASES, collect

PROTOCOLS = {"anthropic_messages": "Anthropic", "responses": "OpenAI Responses", "chat": "Chat Completions"}
PEERS_PYTHON = Path(__file__).parents[1] / ".venv-peers" / "bin" / "python"
SDK, OURS = "SDK", "agent_nb"
LACKING = {("openai-agents", "anthropic_messages")}
"""Libraries without a client of their own for a protocol."""


@contextlib.contextmanager
def wire_process(*options: str) -> Iterator[dict[str, str]]:
    """The loopback server in a process of its own, so that its CPU is not counted."""
    with talking(sys.executable, "benchmarks.wire_server", *options) as process:
        yield json.loads(process.stdout.readline())["base_url"]


@contextlib.contextmanager
def talking(python: str, module: str, *options: str) -> Iterator[Any]:
    """A module as a process that ends when its standard input does."""
    command = [python, "-m", module, *options]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait(10)


class Worker:
    """A process that streams pages in one library."""

    def __init__(self, process: Any, addresses: dict[str, str]) -> None:
        self._process, self._addresses = process, addresses
        self.works: list[str] = json.loads(process.stdout.readline())

    def measure(self, work: str, protocol: str, size: int, *, memory: bool = False) -> float:
        """CPU seconds, or the peak of bytes per character."""
        order = {"work": work, "protocol": protocol, "size": size, "memory": memory}
        print(
            json.dumps(order | {"base_url": self._addresses[protocol]}), file=self._process.stdin, flush=True
        )
        if not (answer := self._process.stdout.readline()):
            raise RuntimeError(f"{work} failed on {protocol}.")
        return float(json.loads(answer))


@contextlib.contextmanager
def workers() -> Iterator[dict[str, Worker]]:
    """By work: ours, and one process for each of the other libraries."""
    with contextlib.ExitStack() as stack:
        addresses = stack.enter_context(wire_process())

        def start(python: str, module: str) -> Worker:
            return Worker(stack.enter_context(talking(python, module)), addresses)

        own = start(sys.executable, "benchmarks.streaming_works")
        found = dict.fromkeys(own.works, own)
        if PEERS_PYTHON.exists():
            first = start(str(PEERS_PYTHON), "benchmarks.streaming_peers")
            for number, peer in enumerate(first.works):
                found[peer] = start(str(PEERS_PYTHON), "benchmarks.streaming_peers") if number else first
        yield found


Seconds = dict[str, dict[int, float]]
"""By work and size."""


def measure(by_work: dict[str, Worker], protocol: str, sizes: list[int], rounds: int) -> Seconds:
    """The median CPU of the rounds."""
    rivals = {work: worker for work, worker in by_work.items() if (work, protocol) not in LACKING}
    seconds: dict[str, dict[int, list[float]]] = {work: {} for work in rivals}
    for work, worker in rivals.items():
        worker.measure(work, protocol, 1)  # imports and first use are not streaming
    for number in range(rounds):
        for size in sizes:
            for work, worker in rivals.items():
                is_own = worker is by_work[SDK]
                if is_own or (number == 0 and size < max(sizes)):
                    seconds[work].setdefault(size, []).append(worker.measure(work, protocol, size))
    return {
        work: {size: statistics.median(measured) for size, measured in sizes.items()}
        for work, sizes in seconds.items()
    }


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The slope of log(seconds) over log(size): 1 is linear, 2 quadratic. One size has none."""
    if len(set(sizes)) < 2:
        return math.nan
    xs, ys = [math.log(size) for size in sizes], [math.log(second) for second in seconds]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return slope / sum((x - x_mean) ** 2 for x in xs)


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
            found[case.protocol] = round((time.perf_counter() - started) * 1000, 2)
            await asyncio.gather(task, return_exceptions=True)
    return found


def summary(seconds: Seconds) -> dict[str, Any]:
    """Each library's CPU at its largest size, as a multiple of the SDK's, and how it grows."""
    return {
        work: {
            "cpu_seconds": {str(size): round(figure, 4) for size, figure in figures.items()},
            "times_sdk": round(figures[max(figures)] / seconds[SDK][max(figures)], 3),
            "exponent": round(exponent(list(figures), list(figures.values())), 2),
        }
        for work, figures in seconds.items()
    }


def print_head(works: list[str], largest: int) -> None:
    print(f"\nClient CPU of a run that streams {largest} KB, as a multiple of the SDK's typed events")
    print("(other libraries at half the size; in brackets the growth exponent: 1 is linear)\n")
    print(" " * 18 + "".join(f"{work:>17}" for work in works) + "     goal")


def print_row(protocol: str, by_work: dict[str, Any], works: list[str]) -> None:
    cells = ""
    for work in works:
        row = by_work.get(work)
        cells += f"{row['times_sdk']:>10.2f} ({row['exponent']:.2f})" if row else f"{'-':>17}"
    goal, _ = GOALS[f"providers/cpu/{protocol}/{OURS}/times_sdk"]
    print(f"{PROTOCOLS[protocol]:<18}{cells}{goal:>9}")


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--sizes", type=int, nargs="+", default=[100, 200, 400])
    options.add_argument("--protocols", nargs="+", choices=PROTOCOLS, default=list(PROTOCOLS))
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--works", nargs="+", help="only these columns, and the SDK's")
    chosen = options.parse_args()
    with workers() as found:
        wanted = [work for work in found if work in (chosen.works or found) or work == SDK]
        by_work = {work: found[work] for work in wanted}
        print_head(wanted, max(chosen.sizes))
        figures = {}
        for protocol in chosen.protocols:
            seconds = measure(by_work, protocol, chosen.sizes, chosen.rounds)
            figures[protocol] = summary(seconds)
            print_row(protocol, figures[protocol], wanted)
        memory = {
            protocol: round(found[OURS].measure(OURS, protocol, max(chosen.sizes), memory=True), 1)
            for protocol in chosen.protocols
        }
    cancel = asyncio.run(cancel_milliseconds())
    print("\nPeak memory of a run, bytes per character:", listed(memory))
    print("Cancel to closed socket, ms (limit 100):  ", listed(cancel))
    write_figures("providers", {"cpu": figures, "peak_bytes_per_character": memory, "cancel_ms": cancel})


def listed(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {figure}" for name, figure in figures.items())


if __name__ == "__main__":
    main()
