"""What `agent.map` adds to the runs themselves, and what is won by asking several at once.

python -m benchmarks.bench_many
"""

import asyncio
import tempfile
import time

from agent_nb import Agent, model
from benchmarks.quality import write_figures
from tests.support.wire import Pause, Say, WireServer, reply
from tests.support.wire.cases import CASE

PROMPTS = [f"A bakery page, number {number}" for number in range(40)]


async def cpu_of(work) -> float:
    start = time.process_time()
    await work()
    return time.process_time() - start


async def overhead() -> dict[str, float]:
    async def alone() -> None:
        for prompt in PROMPTS:
            await Agent(model("demo:", pace=0)).run(prompt)

    async def mapped(**options) -> None:
        await Agent(model("demo:", pace=0)).map(PROMPTS, **options)

    await alone()
    base = min([await cpu_of(alone) for _ in range(3)])
    plain = min([await cpu_of(mapped) for _ in range(3)])
    folder = tempfile.mkdtemp()
    kept = await cpu_of(lambda: mapped(save=folder))
    again = await cpu_of(lambda: mapped(save=folder))
    print(f"CPU of 40 demo runs, as a multiple of running them one by one: map {plain / base:.2f},")
    print(f"  with `save` {kept / base:.2f}, brought back {again / base:.2f}")
    times = {"map": plain / base, "with_save": kept / base, "brought_back": again / base}
    return {name: round(figure, 3) for name, figure in times.items()}


async def together() -> dict[int, float]:
    async with WireServer() as server:
        server.otherwise = lambda request: reply(Pause(0.5), Say("Done. " * 200), fragment=20)
        agent = Agent(CASE["anthropic_messages"].provider(server))
        await agent.run("Hello")
        times = {}
        for number in (1, 8, 32):
            start = time.perf_counter()
            await agent.map(PROMPTS[:number], concurrency=8)
            times[number] = time.perf_counter() - start
    print("Time of a call on loopback, 8 at once, as a multiple of one run:", end=" ")
    print(", ".join(f"{number} runs {spent / times[1]:.2f}" for number, spent in times.items()))
    return {number: round(spent / times[1], 3) for number, spent in times.items()}


async def main() -> None:
    figures = {"cpu_times_one_by_one": await overhead(), "time_of_8_at_once_times_one_run": await together()}
    write_figures("many", figures)


if __name__ == "__main__":
    asyncio.run(main())
