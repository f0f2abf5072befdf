"""What `agent.map(executor=...)` costs and gives: short runs against a loopback server in a process of its own.

The runs are saved, so that memory stays flat.

python -m benchmarks.bench_executor --jobs 10000
"""

import argparse
import asyncio
import logging
import multiprocessing
import os
import resource
import signal
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from agent_nb import Agent, model
from agent_nb.core.events import RunFinished
from benchmarks.quality import write_figures
from tests.support.wire import Say, WireServer, reply
from tests.support.wire.cases import KEY

WORKERS = 2
Figures = dict[str, float]
_TICKS = os.sysconf("SC_CLK_TCK")


def serve(address: Any) -> None:
    """Answers every request with a short text, until the process is terminated."""

    async def answer() -> None:
        async with WireServer(strict=False) as server:

            def short(request: object) -> Any:
                server.requests.clear()
                return reply(Say("Done."))

            server.otherwise = short
            address.send(server.base_url("chat"))
            await asyncio.Event().wait()

    asyncio.run(answer())


def cpu_of(process: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def resident() -> float:
    """MB of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


class Watch:
    """Notes the memory of this process after every tenth of the runs, and does something halfway."""

    def __init__(self, jobs: int, halfway: Any = None) -> None:
        self.jobs, self.halfway, self.ended, self.memory = jobs, halfway, 0, [resident()]

    def __call__(self, event: object) -> None:
        if not isinstance(event, RunFinished):
            return
        self.ended += 1
        if self.ended % max(1, self.jobs // 10) == 0:
            self.memory.append(resident())
        if self.ended == self.jobs // 2 and self.halfway:
            self.halfway()

    @property
    def growth(self) -> float:
        """MB per 1,000 jobs, from the first tenth of the runs to the last."""
        return (self.memory[-1] - self.memory[1]) / (0.9 * self.jobs / 1000)


async def measure(
    name: str,
    url: str,
    jobs: int,
    *,
    executor: Executor | None = None,
    workers: Sequence[int] = (),
    halfway: Any = None,
) -> Figures:
    """Makes the runs; prints and returns what they took."""
    agent = Agent(model("chat:short", base_url=url, api_key=KEY))
    watch = Watch(jobs, halfway)
    agent.on_event(watch)
    prompts = [f"Page {number}" for number in range(jobs)]
    start, cpu, workers_cpu = time.perf_counter(), time.process_time(), sum(map(cpu_of, workers))
    with tempfile.TemporaryDirectory() as folder:
        runs = await agent.map(prompts, executor=executor, concurrency=4 * WORKERS, save=folder)
        spent, cpu = time.perf_counter() - start, time.process_time() - cpu
    await agent.close()
    figures = {
        "jobs": jobs,
        "ended_well": sum(row["reason"] == "end_turn" for row in runs.rows()),
        "per_second": round(jobs / spent, 1),
        "cpu_ms_here": round(1000 * cpu / jobs, 2),
        "mb_at_start": round(watch.memory[0]),
        "mb_halfway": round(watch.memory[len(watch.memory) // 2]),
        "mb_at_end": round(watch.memory[-1]),
        "mb_per_1000_jobs": round(watch.growth, 2),
    }
    if workers and not halfway:  # a killed worker takes its count with it
        workers_cpu = sum(map(cpu_of, workers)) - workers_cpu
        figures["cpu_ms_in_workers"] = round(1000 * workers_cpu / jobs, 2)
        figures["per_second_and_core"] = round(jobs / workers_cpu, 1)
    print(f"{name}: {', '.join(f'{figure} {value:,}' for figure, value in figures.items())}", flush=True)
    return figures


async def on_dask(url: str, jobs: int, kill: bool) -> Figures:
    import distributed

    settings = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    settings["silence_logs"] = logging.ERROR
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        workers = list(client.run(os.getpid).values())
        name = "Dask, a worker killed halfway" if kill else "Dask"
        halfway = partial(os.kill, workers[0], signal.SIGKILL) if kill else None
        return await measure(
            name, url, jobs, executor=client.get_executor(), workers=workers, halfway=halfway
        )


async def in_a_pool(url: str, jobs: int) -> Figures:
    with ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("spawn")) as pool:
        await Agent(model("demo:", pace=0)).map(["A page"] * 8, executor=pool)
        workers = list(pool._processes)
        return await measure("process pool", url, jobs, executor=pool, workers=workers)


async def main(jobs: int, dask_jobs: int) -> None:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    server = context.Process(target=serve, args=(there,), daemon=True)
    server.start()
    try:
        url = here.recv()
        await measure("warm-up", url, 20)
        figures = {
            "in_process": await measure("in this process", url, max(200, jobs // 10)),
            "process_pool": await in_a_pool(url, jobs),
            "dask": await on_dask(url, dask_jobs, kill=False),
            "dask_worker_killed": await on_dask(url, max(200, dask_jobs // 10), kill=True),
        }
    finally:
        server.terminate()
        server.join()
    alone = figures["in_process"]["per_second"]
    times = {name: round(each["per_second"] / alone, 2) for name, each in figures.items()}
    print("Throughput as a multiple of this process alone:", times)
    write_figures("executor", {**figures, "throughput_times_in_process": times})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--dask-jobs", type=int, help="by default as many")
    given = parser.parse_args()
    asyncio.run(main(given.jobs, given.dask_jobs or given.jobs))
