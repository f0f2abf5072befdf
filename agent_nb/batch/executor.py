"""Runs the jobs of `agent.map` in the workers of an executor, such as those of a cluster."""

import asyncio
import contextlib
import os
import pickle
import tempfile
import uuid
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_nb._base.log import log
from agent_nb._base.secrets import mask
from agent_nb._base.threads import off_loop
from agent_nb._base.ticking import ticking
from agent_nb.batch.jobs import Job
from agent_nb.batch.worker import VERSIONS, Answer, pack, run_job
from agent_nb.engine.journal import EventLog
from agent_nb.engine.session_costs import SESSION
from agent_nb.errors import ConfigError
from agent_nb.event_list import EventList
from agent_nb.events import Event, Reason, RunFinished
from agent_nb.run import Run

TRIES = 2
"""How often a job is submitted whose worker dies."""
LOOK = 5.0
"""Seconds between looks at how many workers a cluster has."""
PATIENCE = 600.0
"""Seconds after which a batch ends whose workers have all gone. For its first worker it waits without end."""
NO_WORKER = "The cluster has no worker. Start one, or stop."


class Workers:
    """The workers of an executor, with the agents that they are sent."""

    def __init__(self, executor: Executor, jobs: Sequence[Job]) -> None:
        if not isinstance(executor, Executor):
            raise ConfigError(
                "`executor` is a `concurrent.futures.Executor`, such as `ProcessPoolExecutor()`, Dask's"
                f" `client.get_executor()` or ipyparallel's `view.executor`, not a {type(executor).__name__}."
            )
        self._executor = executor
        self._parcel, self._places = pack(jobs)
        self.finished = 0
        """How many runs have come back."""
        self.problem = ""
        """Why no further job can be run, as a sentence; empty while they can."""
        self._file = ""
        """Exists while the batch goes on. A worker that no longer sees it stops its run."""
        self._answers: set[asyncio.Future[Answer]] = set()
        self._watch: asyncio.Task[None] | None = None

    def begin(self, folder: Path | None, waiting: Callable[[str], None]) -> None:
        """Called before the first job. The folder is one that workers may share; None for a temporary one.

        `waiting` is called with a sentence while there is no worker, and with an empty one when there is.
        """
        with contextlib.suppress(OSError):
            handle, self._file = tempfile.mkstemp(prefix=".running-", dir=folder)
            os.close(handle)
        self._watch = asyncio.get_running_loop().create_task(self._watch_workers(waiting))

    def end(self) -> None:
        """Ends the runs that workers have begun, if they see the file."""
        with contextlib.suppress(OSError):
            os.unlink(self._file)
        if self._watch:
            self._watch.cancel()

    async def _watch_workers(self, waiting: Callable[[str], None]) -> None:
        """Says when there is no worker; ends the batch if all have gone and none comes for a long time."""
        had_workers, looks = False, 0
        while (count := await off_loop(worker_count, self._executor)) is not None:
            had_workers, looks = had_workers or count > 0, 0 if count else looks + 1
            waiting(NO_WORKER if looks > 1 else "")  # Dask soon replaces a worker that has died
            if had_workers and looks * LOOK > PATIENCE:
                self.problem = f"The cluster has had no worker for {PATIENCE / 60:.0f} minutes."
                for answer in self._answers:
                    answer.cancel()
            await asyncio.sleep(LOOK)

    def start(self, job: Job) -> "RemoteRun":
        return RemoteRun(self, job)

    async def run(self, job: Job) -> Run:
        """The run of a job. If its worker dies, the job is submitted again."""
        error = ""
        for _ in range(TRIES):
            if self.problem:
                break
            try:
                return await self._result(job, await self._submit(job))
            except BrokenExecutor:
                self.problem = "A worker process died, and with it the whole pool. Create a new pool."
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                error = "the executor cancelled it"
            except (Exception, KeyboardInterrupt, SystemExit) as raised:  # what a worker raised
                error = mask(f"{_type(raised)}: {raised}")
                log.info("a job of agent.map was lost: %s", error)
                if "agent_nb" in error and _type(raised) in ("ModuleNotFoundError", "ImportError"):
                    self.problem = f"A worker cannot import agent_nb. Install {VERSIONS} there."
                if _type(raised) in ("NoWorkerError", "NoValidWorkerError"):  # Dask was told how long to wait
                    self.problem = "The cluster has had no worker for the jobs, for as long as Dask waits."
                if _type(raised) == "KilledWorker":  # Dask has tried it on several workers
                    break
        return await not_run(job, "failed", self.problem or f"The job lost its worker each time: {error}")

    async def _submit(self, job: Job) -> Answer:
        ticket = self._file, uuid.uuid4().hex  # Dask runs calls with the same arguments only once
        call = _Call((VERSIONS, self._parcel, self._places[id(job.agent)], job.prompt, ticket))
        try:
            future: Future[Answer] = self._executor.submit(pickle.loads, pickle.dumps(call))
        except BrokenExecutor:
            raise
        except Exception as error:
            return "unusable", mask(f"The executor takes no jobs: {str(error).rstrip('.')}.")
        answer = asyncio.wrap_future(future)
        self._answers.add(answer)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            if abort := getattr(future, "abort", None):  # ipyparallel would run a job that is only cancelled
                with contextlib.suppress(Exception):
                    abort()
            answer.cancel()
            raise
        finally:
            self._answers.discard(answer)

    async def _result(self, job: Job, answer: Answer) -> Run:
        match answer:
            case "run", bytes(pickled):
                run: Run = await off_loop(pickle.loads, pickled)
                self.finished += 1
                SESSION.add(run)
                return _sharing(run, job)
            case "interrupted", _:
                return await not_run(job, "interrupted")
            case "unusable", str(sentence):
                self.problem = self.problem or sentence
                return await not_run(job, "failed", sentence)
            case _, error:
                return await not_run(job, "failed", f"The worker could not run the job: {error}")


class RemoteRun:
    """A run in a worker, with what a batch needs of a `RunHandle`. Its events arrive when it has ended."""

    def __init__(self, workers: Workers, job: Job) -> None:
        self._workers, self._job = workers, job
        self._task = asyncio.get_running_loop().create_task(workers.run(job), name="agent_nb job")
        self._stop_reason: Reason = "stopped"
        self._name = self._key = "run"
        self._subscribers: list[Callable[[Event], None]] = [*job.prepared.subscribers]

    def label(self, name: str, key: str) -> None:
        self._name, self._key = name, key

    def subscribe(self, subscriber: Callable[[Event], None]) -> None:
        self._subscribers.append(subscriber)

    def stop(self, reason: Reason = "stopped") -> None:
        """Takes the job back; if it has begun, its worker ends it soon, and its result is dropped.

        A job that is running when the budget is reached has been paid for, so it is waited for.
        """
        if reason != "budget" and not self._task.done():
            self._stop_reason = reason
            self._workers.end()
            self._task.cancel()

    def __await__(self) -> Generator[Any, None, Run]:
        return self._wait().__await__()

    async def _wait(self) -> Run:
        with ticking():  # ipykernel interrupts a cell that awaits by cancelling it, in a signal handler
            await asyncio.wait([self._task])
        stopped = self._task.cancelled()
        run = await not_run(self._job, self._stop_reason) if stopped else self._task.result()
        events = EventLog()
        events.events = run.events
        for subscriber in self._subscribers:
            events.subscribe(subscriber)
        return replace(run, name=self._name, key=self._key)


class _Call:
    """Is pickled as a call of `run_job`, which is made when the pickle is loaded.

    A worker without this package then raises an ordinary error. Dask drops a worker that cannot load its task.
    """

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self._arguments = arguments

    def __reduce__(self) -> Any:
        return run_job, self._arguments


async def not_run(job: Job, reason: Reason, error: str | None = None) -> Run:
    """The run of a job that ended before its first turn. No subscriber has heard of it."""
    handle = replace(job.prepared, subscribers=()).start()
    handle.stop(reason)
    run = await handle
    *events, last = run.events
    if error is None or not isinstance(last, RunFinished):
        return run
    return replace(run, error=error, events=EventList([*events, replace(last, error=error)]))


def _sharing(run: Run, job: Job) -> Run:
    """The run with what the jobs have in common, which would take most of the memory of a short run."""
    config = job.prepared.config
    common: dict[str, Any] = {
        "system": config.system,
        "tools": config.toolbox.specs,
        "settings": config.settings,
    }
    return replace(run, **{name: value for name, value in common.items() if getattr(run, name) == value})


def _type(error: BaseException) -> str:
    """The name of its type; ipyparallel has that of the worker's error as `ename`."""
    return str(getattr(error, "ename", type(error).__name__))


def worker_count(executor: Executor) -> int | None:
    """How many workers a Dask or ipyparallel cluster has now; None if it is not known.

    Blocks: call it in a thread.
    """
    with contextlib.suppress(Exception):  # a cluster that has gone
        view = getattr(executor, "view", None)
        if view is not None:  # ipyparallel
            return len(view.client.ids)
        client = getattr(executor, "_client", None)  # Dask has no public name for it
        if client is not None and not client.asynchronous:
            return len(client.scheduler_info()["workers"])
    return None
