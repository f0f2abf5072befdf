"""`agent.map` on real clusters of this machine: Dask and ipyparallel, and the page of the docs in a kernel."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator

import pytest

from agent_nb import Agent, ConfigError, model, tool
from tests.kernel.test_docs import _AT_ONCE, blocks
from tests.support import ROOT
from tests.support.kernels import start_kernel
from tests.support.wire import Hold, Reply, Say, WireServer, reply
from tests.support.wire.cases import CASE

distributed = pytest.importorskip("distributed")
ipyparallel = pytest.importorskip("ipyparallel")

PROMPTS = [f"A bakery page, number {number}" for number in range(6)]
MISSING = r"A worker cannot import agent_nb\. Install agent_nb .* there"


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    async with WireServer() as server:
        yield server


def holding(request: object) -> Reply:
    return reply(Hold(), Say("Done."))


def local_tool():
    """A tool that is in no module, as in a notebook."""
    offset = os.getpid()

    @tool
    def distance() -> str:
        """Says how far this process is from the one that made the tool."""
        return str(os.getpid() - offset)

    return distance


def forget_package() -> None:
    """Makes a worker one in which the package is not installed."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "agent_nb"]:
        del sys.modules[name]
    sys.modules["agent_nb"] = None  # type: ignore[assignment]


def remember_package() -> None:
    """Undoes `forget_package`."""
    del sys.modules["agent_nb"]


async def check_runs(executor, server: WireServer) -> None:
    agent = Agent(model("demo:", pace=0), tools=[local_tool()])
    runs = await agent.map([*PROMPTS, PROMPTS[0]], executor=executor)
    assert {run.reason for run in runs} == {"end_turn"}
    assert len({run.id for run in runs}) == 7, "the same prompt twice is two runs"
    found = [use.result.text for run in runs for use in run.tool_uses if use.call.name == "distance"]
    assert len(found) == 7
    assert "0" not in found
    server.otherwise = lambda request: reply(Say("Done."))
    runs = await Agent(CASE["chat"].provider(server)).map(PROMPTS, executor=executor)
    assert [run.text for run in runs] == ["Done."] * 6


async def check_stop(executor, server: WireServer) -> None:
    """Two workers hold a run each, which they end; what waits behind them is never sent."""
    begun = len(server.requests)
    server.otherwise = holding
    work = Agent(CASE["chat"].provider(server)).map(PROMPTS, executor=executor)
    held = [await server.arrival(begun + number) for number in range(2)]
    for request in held:
        await request.holding.wait()
    work.stop()
    assert [run.reason for run in await work] == ["stopped"] * 6
    for request in held:
        await asyncio.wait_for(request.closed.wait(), 60)
    runs = await Agent(model("demo:", pace=0)).map(PROMPTS[:2], executor=executor)
    assert [run.reason for run in runs] == ["end_turn"] * 2
    assert len(server.requests) == begun + 2


async def check_lost_worker(executor, server: WireServer, worker: int) -> None:
    """A worker is killed in the middle of its run; every job still ends well."""
    begun = len(server.requests)
    server.otherwise = holding
    work = Agent(CASE["chat"].provider(server)).map(PROMPTS[:4], executor=executor)
    held = [await server.arrival(begun + number) for number in range(2)]
    for request in held:
        await request.holding.wait()
    os.kill(worker, signal.SIGKILL)
    await asyncio.wait(
        [asyncio.create_task(request.closed.wait()) for request in held], return_when="FIRST_COMPLETED"
    )
    server.otherwise = lambda request: reply(Say("Done."))
    for request in held:
        request.let_go.set()
    runs = await asyncio.wait_for(work, 120)
    assert [(run.reason, run.text) for run in runs] == [("end_turn", "Done.")] * 4
    assert len(server.requests) == begun + 5, "only the run of that worker was made again"


async def test_dask(server):
    settings = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        executor = client.get_executor()
        await check_runs(executor, server)
        await check_stop(executor, server)
        client.run(forget_package)
        with pytest.raises(ConfigError, match=MISSING):
            await Agent(model("demo:", pace=0)).map(PROMPTS, executor=executor)
        client.run(remember_package)
        await check_lost_worker(executor, server, next(iter(client.run(os.getpid).values())))
    with pytest.raises(ConfigError, match="The executor accepts no jobs: Client is closed"):
        await Agent(model("demo:", pace=0)).map(PROMPTS, executor=executor)


async def test_ipyparallel(server, tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    cluster = ipyparallel.Cluster(n=2, controller_ip="127.0.0.1", log_level=40)
    client = await cluster.start_and_connect(n=2)
    try:
        executor = client.load_balanced_view().executor
        await check_runs(executor, server)
        await check_stop(executor, server)
        client[:].apply_sync(forget_package)
        with pytest.raises(ConfigError, match=MISSING):
            await Agent(model("demo:", pace=0)).map(PROMPTS, executor=executor)
    finally:
        client.close()
        await cluster.stop_cluster()


def test_the_page_runs_as_written(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    with start_kernel(tmp_path) as kernel:
        kernel.run(_AT_ONCE)
        for block in blocks(ROOT / "docs/how-to/many.md"):
            cell = kernel.run(block)
            assert cell.status == "ok", (block, cell.errors)
            assert kernel.value("[run.reason for run in runs]") == "['end_turn', 'end_turn']"
