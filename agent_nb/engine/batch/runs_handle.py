"""Runs the jobs of `agent.map`: a few at a time, stored in a folder, shown as one table."""

import asyncio
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

from agent_nb._base.log import log
from agent_nb._base.threads import off_loop
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import Event, Reason, TurnStarted, UsageUpdated
from agent_nb.engine.batch import tally
from agent_nb.engine.batch.executor import RemoteRun, Workers
from agent_nb.engine.batch.runs import Job, Results, Runs, Store, UnavailableModel
from agent_nb.engine.handle import Handle
from agent_nb.run.run import Run


class RunsHandle:
    """A batch in progress: `await` it for the `Runs`, `stop()` it to end them all.

    After a stop or an interrupt, `result` contains all runs: the finished ones, and the others with that reason.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        *,
        concurrency: int,
        store: Store | None = None,
        budget: float | None = None,
        executor: Executor | None = None,
    ) -> None:
        _check_arguments(jobs, concurrency, budget)
        folder = store.folder if store else None
        self._workers = Workers(executor, jobs, folder) if executor is not None else None
        self.result: Runs | None = None
        self._jobs, self._concurrency, self._store, self._budget = tuple(jobs), concurrency, store, budget
        self._results = Results(jobs, store)
        self._running: dict[int, Handle | RemoteRun] = {}
        self._costs = [0.0] * len(jobs)
        self._stop_reason: Reason | None = None
        self._tally = tally.Tally(len(jobs))
        self._watcher = tally.Watcher()
        self._task = asyncio.get_running_loop().create_task(self._main(), name="agent_nb map")

    def stop(self, reason: Reason = "stopped") -> None:
        """Stop all runs immediately and start no more; finished runs are kept.

        With an `executor`, queued jobs are cancelled. A run that a worker has started is not awaited, and its result is
        dropped. A worker on this machine, or with the same `save` folder, ends it within a second; elsewhere it
        continues until it ends or reaches a limit of the agent.
        """
        if self._stop_reason is None and self.result is None:
            self._stop_reason = reason
            for handle in self._running.values():
                handle.stop(reason)

    @property
    def done(self) -> bool:
        return self._task.done()

    def __await__(self) -> Generator[Any, None, Runs]:
        return self._wait().__await__()

    async def _wait(self) -> Runs:
        try:
            await asyncio.wait([self._task])
        except asyncio.CancelledError:
            self.stop("interrupted")
            await asyncio.wait([self._task])
            raise
        return self._task.result()

    def __repr__(self) -> str:
        return f"<RunsHandle: {', '.join(self._tally.counts())}>"

    async def _main(self) -> Runs:
        try:
            self._watcher = tally.begin(self._tally, partial(self.stop, "interrupted"))
        except Exception:  # a front end must not break the batch
            log.exception("the progress could not be shown")
        try:
            await self._load_saved()
            remaining = iter([index for index, run in enumerate(self._results.figures) if run is None])
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._concurrency, len(self._jobs))):
                    group.create_task(self._work(remaining))
            self._check_workers()
            if any(run and run.row["reason"] == self._stop_reason for run in self._results.figures):
                resumes = "resumes" if self._store else "with `save` would resume"
                self._note(f"Not all runs finished. The same call {resumes} from here.")
            self.result = Runs(self._results, range(len(self._jobs)), self._tally.loaded)
            return self.result
        finally:
            if self._workers:
                self._workers.end()
            for close in dict.fromkeys(job.close for job in self._jobs if job.close):
                await close()
            self._notify(ended=True)

    def _check_workers(self) -> None:
        """Raise if no worker could run any job; if only some jobs did not run, note why."""
        if self._workers is None or not self._workers.problem:
            return
        if not self._workers.finished:
            raise ConfigError(self._workers.problem)
        self._note(self._workers.problem)
        if self._store:
            self._note("The same call resumes from here.")

    async def _load_saved(self) -> None:
        """Load the saved runs; raise if a run is missing and its model is unavailable."""
        self._tally.loaded = self._tally.done = await off_loop(self._results.find_saved)
        self._notify()
        for job, run in zip(self._jobs, self._results.figures, strict=True):
            if run is None and isinstance(job.provider, UnavailableModel):
                raise job.provider.error

    async def _work(self, remaining: Iterator[int]) -> None:
        """Run one job after another; several workers share `remaining`."""
        for index in remaining:
            job, workers = self._jobs[index], None if self._stop_reason else self._workers
            handle = RemoteRun(workers, job) if workers else job.prepared.start()
            handle.label(self._results.name(index), self._results.key(index))
            self._running[index] = handle
            if self._stop_reason is not None:
                # It ends before its first turn, producing a run with this reason.
                handle.stop(self._stop_reason)
            handle.subscribe(partial(self._hear, index))
            self._notify()
            try:
                run = await handle
            finally:
                handle.stop("interrupted")
                del self._running[index]
            await self._add(index, run)

    async def _add(self, index: int, run: Run) -> None:
        if run.reason != self._stop_reason:
            self._tally.done += 1
            self._tally.failed += run.reason == "failed"
        self._update_cost(index, run.cost)
        self._results.add(index, run, saved=await self._save(index, run))
        self._notify()

    async def _save(self, index: int, run: Run) -> bool:
        """Save a started run if there is a folder; return whether it may be evicted from memory."""
        if self._store is None or next(run.events.of(TurnStarted), None) is None:
            return False
        try:
            return await off_loop(self._results.save, index, run)
        except OSError as error:
            self._note(f"{self._results.name(index)} could not be saved: {error}.")
            return False

    def _hear(self, index: int, event: Event) -> None:
        if type(event) is UsageUpdated:
            self._update_cost(index, event.cost)
            self._notify()

    def _update_cost(self, index: int, cost: float | None) -> None:
        if cost is None:
            return
        self._tally.cost += cost - self._costs[index]
        self._costs[index] = cost
        if self._budget is not None and self._tally.cost >= self._budget:
            self.stop("budget")

    def _note(self, sentence: str) -> None:
        self._tally.note = f"{self._tally.note} {sentence}".strip()

    def _notify(self, *, ended: bool = False) -> None:
        self._tally.running = len(self._running)
        try:
            if ended:
                self._watcher.end(self.result)
            else:
                self._watcher.changed()
        except Exception:  # a front end must not break the batch
            log.exception("the progress could not be shown")
            self._watcher = tally.Watcher()


def _check_arguments(jobs: Sequence[Job], concurrency: int, budget: float | None) -> None:
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        raise ConfigError(f"`concurrency` must be a whole number, 1 or more, not {concurrency!r}.")
    if budget is None:
        return
    if not isinstance(budget, int | float) or not budget > 0:
        raise ConfigError(f"`budget` must be in US dollars and above 0, not {budget!r}.")
    for job in {job.provider.name: job for job in jobs}.values():
        job.prepared.check_price()
