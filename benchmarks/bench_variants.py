"""How long eight variants take at once, against one alone: real SDKs over real sockets.

    python -m benchmarks.bench_variants

The server is a process of its own and paces each answer like a fast model: 20 characters every 10 ms.
"""

import asyncio
import time

from agent_nb import Agent
from agent_nb.providers import model
from benchmarks.bench_providers import wire_process
from benchmarks.quality import write_figures
from benchmarks.streaming_worker import KEY
from benchmarks.streaming_works import NAMES
from benchmarks.wire_server import page_of

KILOBYTES = 4
MOST = 8
ROUNDS = 2


async def race(addresses: dict[str, str], protocols: tuple[str, ...], variants: int) -> tuple[float, float]:
    """Seconds on the clock, and seconds of this process's CPU."""
    providers = [
        model(NAMES[protocol].format(KILOBYTES), base_url=addresses[protocol], api_key=KEY)
        for protocol in protocols
    ]
    start, cpu = time.perf_counter(), time.process_time()
    run = await Agent(providers[0]).start_variants("A page", models=providers, variants=variants)
    taken = time.perf_counter() - start, time.process_time() - cpu
    assert all(one.html == page_of(KILOBYTES * 1000) for one in run.variants or (run,)), run.compare()
    for provider in providers:
        await provider.close()
    return taken


async def seconds(
    addresses: dict[str, str], protocols: tuple[str, ...], variants: int
) -> tuple[float, float]:
    """The least of a few rounds: what else the machine does only ever adds."""
    return min([await race(addresses, protocols, variants) for _ in range(ROUNDS)])


async def measure(addresses: dict[str, str]) -> dict[str, dict[str, float]]:
    slowest, figures = 0.0, {}
    print(f"  {'':<26}{'one alone':>12}{'at once':>12}{'ratio':>9}{'CPU at once':>15}")
    for protocol in NAMES:
        await race(addresses, (protocol,), 1)  # imports and first use
        alone, _ = await seconds(addresses, (protocol,), 1)
        together, cpu = await seconds(addresses, (protocol,), MOST)
        slowest = max(slowest, alone)
        figures[protocol] = tell(f"{protocol}, {MOST} variants", alone, together, cpu)
    together, cpu = await seconds(addresses, tuple(NAMES), MOST // len(NAMES))
    figures["all"] = tell(f"{len(NAMES)} protocols, {MOST // len(NAMES)} each", slowest, together, cpu)
    return figures


def tell(label: str, alone: float, together: float, cpu: float) -> dict[str, float]:
    print(f"  {label:<26}{alone:>10.2f} s{together:>10.2f} s{together / alone:>9.2f}{cpu / together:>14.0%}")
    return {"times_one_alone": round(together / alone, 3), "cpu_share": round(cpu / together, 3)}


def main() -> None:
    print(f"Variants at once, {KILOBYTES} KB each: total time against the slowest alone (close to 1)")
    with wire_process("--gap", "0.01") as addresses:
        write_figures("variants", asyncio.run(measure(addresses)))


if __name__ == "__main__":
    main()
