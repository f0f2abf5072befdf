"""A batch on a cluster that loses its workers."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_nb import Agent, model
from agent_nb.batch import executor, tally
from agent_nb.events import RunFinished

PROMPTS = [f"A bakery page, number {number}" for number in range(5)]


class Cluster(ThreadPoolExecutor):
    """A cluster that knows its engines, as ipyparallel's does. After its first job they run nothing for a while."""

    def __init__(self) -> None:
        super().__init__(1)
        self.view = self.client = self
        self.engines, self.counted = [0], threading.Event()
        self.submitted = 0
        self.back = threading.Event()

    @property
    def ids(self) -> list[int]:
        self.counted.set()
        return self.engines

    def submit(self, function, /, *args):
        self.submitted += 1
        if self.submitted > 1:
            super().submit(self.back.wait)
        return super().submit(function, *args)


@pytest.mark.parametrize("recovers", [True, False])
async def test_a_cluster_without_workers_is_reported(recovers, monkeypatch, tmp_path):
    tallies, waited = [], []

    class Screen(tally.Watcher):
        def changed(self):
            if tallies[0].waiting:
                waited.append(tallies[0].waiting)
                if recovers:
                    cluster.engines = [1]
                    cluster.back.set()

    monkeypatch.setattr(tally, "_watch", lambda counts, stop: tallies.append(counts) or Screen())
    monkeypatch.setattr(executor, "LOOK", 0.01)
    monkeypatch.setattr(executor, "PATIENCE", 600 if recovers else 0.05)
    agent, ended = Agent(model("demo:", pace=0)), asyncio.Event()
    agent.on_event(lambda event: ended.set() if isinstance(event, RunFinished) else None)
    with Cluster() as cluster:
        work = agent.map(PROMPTS, executor=cluster, concurrency=1, save=tmp_path)
        await ended.wait()
        await asyncio.to_thread(cluster.counted.wait)
        cluster.engines = []
        try:
            runs = await asyncio.wait_for(work, 60)
        finally:
            cluster.back.set()
    assert set(waited) == {"The cluster has no worker. Start one, or stop."}
    assert tallies[0].waiting == ""
    if recovers:
        assert [run.reason for run in runs] == ["end_turn"] * 5
        return
    assert [run.reason for run in runs] == ["end_turn"] + ["failed"] * 4
    assert runs[4].error == "The cluster has had no worker for 0 minutes."
    assert tallies[0].note == (f"{runs[4].error} The same call resumes from here.")
