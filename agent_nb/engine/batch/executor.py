"""Runs the jobs of `agent.map` in the workers of an executor, such as those of a cluster.

A worker calls `run_job`: one run, on an event loop of its process. Workers may have another release of this
package, so its arguments and its answer are plain values and bytes.
"""

import asyncio
import contextlib
import functools
import os
import pickle
import sys
import tempfile
import threading
import uuid
import zlib
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from agent_nb._base.constants import VERSION
from agent_nb._base.log import log
from agent_nb._base.threads import background_loop, off_loop, ticking
from agent_nb.core.errors import AgentError, ConfigError, error_text
from agent_nb.core.event_list import EventList
from agent_nb.core.events import Event, Reason, RunFinished
from agent_nb.core.feature import plugins_code
from agent_nb.engine.batch.runs import BatchAgent, Job
from agent_nb.engine.cost import SESSION
from agent_nb.engine.journal import EventLog
from agent_nb.engine.run_input import InputArgs
from agent_nb.engine.start import start_variants
from agent_nb.providers.registry import VENDOR_SOURCES
from agent_nb.run.run import Run

VERSIONS = f"agent_nb {VERSION} on Python {sys.version_info.major}.{sys.version_info.minor}"
_opening = threading.Lock()
"""Lock held while an agent is created, so that the threads of a worker share it."""
_observed_batches: set[str] = set()
POLL = 0.5
"""Poll interval in seconds for the file of a batch."""

TaskResult = tuple[Literal["run", "failed", "interrupted", "unusable"], Any]
"""The outcome with its payload: the pickled run, None if interrupted, else the reason."""
TRIES = 2


class Workers:
    def __init__(self, executor: Executor, jobs: Sequence[Job], folder: Path | None) -> None:
        """`folder` may be shared with the workers; None for a temporary one."""
        if not isinstance(executor, Executor):
            raise ConfigError(
                "`executor` is a `concurrent.futures.Executor`, such as `ProcessPoolExecutor()`, Dask's"
                f" `client.get_executor()` or ipyparallel's `view.executor`, not a {type(executor).__name__}."
            )
        self._executor = executor
        self._features = plugins_code()
        self._parcels = {key: pack(job) for key, job in {id(job.agent): job for job in jobs}.items()}
        self.finished = 0
        self.problem = ""
        """Why no further job can be run, as a sentence; empty if there is no problem."""
        self._file = ""
        """Exists while the batch is running. A worker stops its run when the file disappears."""
        with contextlib.suppress(OSError):
            handle, self._file = tempfile.mkstemp(prefix=".running-", dir=folder)
            os.close(handle)

    def end(self) -> None:
        """End the runs of workers that can see the file."""
        with contextlib.suppress(OSError):
            os.unlink(self._file)

    async def run(self, job: Job) -> Run:
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
            except (Exception, KeyboardInterrupt, SystemExit) as raised:  # raised by a worker
                error = error_text(raised)
                log.info("a job of agent.map was lost: %s", error)
                if "agent_nb" in error and ("ModuleNotFoundError" in error or "ImportError" in error):
                    self.problem = f"A worker cannot import agent_nb. Install {VERSIONS} there."
        return await not_run(job, "failed", self.problem or f"The job lost its worker each time: {error}")

    async def _submit(self, job: Job) -> TaskResult:
        ticket = self._file, uuid.uuid4().hex  # Dask deduplicates calls with equal arguments
        call = _Call((VERSIONS, self._parcels[id(job.agent)], job.prompt, ticket, self._features))
        try:
            future: Future[TaskResult] = self._executor.submit(pickle.loads, pickle.dumps(call))
        except BrokenExecutor:
            raise
        except Exception as error:
            return "unusable", str(ConfigError(f"The executor accepts no jobs: {str(error).rstrip('.')}."))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if abort := getattr(future, "abort", None):  # ipyparallel would still run a cancelled job
                with contextlib.suppress(Exception):
                    abort()
            raise

    async def _result(self, job: Job, answer: TaskResult) -> Run:
        kind, content = answer
        if kind == "run":
            run: Run = await off_loop(pickle.loads, content)
            self.finished += 1
            SESSION.add(run)
            return replace(_sharing(run, job), answer_type=job.prepared.kept.get("answer_type"))
        if kind == "unusable":
            self.problem = self.problem or content
        return await not_run(job, "interrupted" if kind == "interrupted" else "failed", content)


class RemoteRun:
    """A run in a worker, with the subset of `RunHandle` that a batch uses. Its events arrive at the end."""

    def __init__(self, workers: Workers, job: Job) -> None:
        self._workers, self._job = workers, job
        self._task = asyncio.get_running_loop().create_task(workers.run(job), name="agent_nb job")
        self._stop_reason: Reason = "stopped"
        self._name = self._key = "run"
        self._subscribers: list[Callable[[Event], None]] = [*job.prepared.hooks.subscribers]

    def label(self, name: str, key: str) -> None:
        self._name, self._key = name, key

    def subscribe(self, subscriber: Callable[[Event], None]) -> None:
        self._subscribers.append(subscriber)

    def stop(self, reason: Reason = "stopped") -> None:
        """Cancel the job. If it has started, its worker ends it soon, and its result is dropped.

        Running jobs are not cancelled when the budget is reached, because they are already paid for.
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
    """Pickles as a call of `run_job`, executed when the pickle is loaded.

    A worker without this package then raises an ordinary error. Dask drops a worker that cannot load its task.
    """

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self._arguments = arguments

    def __reduce__(self) -> Any:
        return run_job, self._arguments


async def not_run(job: Job, reason: Reason, error: str | None = None) -> Run:
    """The run of a job that ended before its first turn. Subscribers are not called."""
    silent = replace(job.prepared.hooks, subscribers=())
    (handle,) = start_variants([replace(job.prepared, hooks=silent)])
    handle.stop(reason)
    run = await handle
    *events, last = run.events
    if error is None or not isinstance(last, RunFinished):
        return run
    return replace(run, error=error, events=EventList([*events, replace(last, error=error)]))


def _sharing(run: Run, job: Job) -> Run:
    """Share values that are equal in all jobs; copies of them would take most of a short run's memory."""
    prepared = job.prepared
    common = {"system": prepared.system, "tools": prepared.tools}
    same: dict[str, Any] = {name: value for name, value in common.items() if getattr(run, name) == value}
    return replace(run, **same)


def run_job(
    versions: str, parcel: bytes, prompt: str, ticket: tuple[str, str], needed: Sequence[str] = ()
) -> TaskResult:
    """Run one prompt with the agent in a parcel made by `pack`.

    `ticket` is a pair: the file that is removed when the batch stops, and a unique text. `needed` are the features of
    plugins that take part in the run.
    """
    batch, _ = ticket
    if versions != VERSIONS:
        return "unusable", f"A worker has {VERSIONS}, this process has {versions}. Install the same in both."
    try:
        with _opening:
            agent, input_args = _open(parcel)
    except AgentError as error:
        return "unusable", f"A worker cannot create the agent: {error}"
    except Exception as error:
        needs = "It needs the same modules and packages."
        return "unusable", f"A worker cannot load the agent ({error_text(error)}). {needs}"
    for load_plugins in VENDOR_SOURCES:
        load_plugins()
    if absent := [name for name in needed if name not in plugins_code()]:
        return (
            "unusable",
            f"The feature `{absent[0]}` is not loaded in this worker: install its plugin there.",
        )
    if _is_stopped(batch):
        return "interrupted", None
    # In a thread, because this one may have a running loop; on a shared loop, because runs share connections.
    work = asyncio.run_coroutine_threadsafe(agent.run(prompt, **input_args), background_loop("worker"))
    try:
        while not wait([work], POLL).done:
            if _is_stopped(batch):
                raise KeyboardInterrupt
        return "run", pickle.dumps(work.result(), protocol=5)
    except KeyboardInterrupt:
        work.cancel()
        return "interrupted", None
    except Exception as error:
        return "failed", f"The worker could not run the job: {error_text(error)}"


def _is_stopped(batch: str) -> bool:
    """Whether the file of a batch has been removed. Workers on other machines may never see it."""
    if os.path.exists(batch):
        _observed_batches.add(batch)
        return False
    return batch in _observed_batches


@functools.lru_cache(maxsize=8)
def _open(parcel: bytes) -> tuple[BatchAgent, InputArgs]:
    """Unpickle an agent, cached with its connections for the next job."""
    agent, input_args = pickle.loads(zlib.decompress(parcel))
    return agent, input_args


def pack(job: Job) -> bytes:
    """Pickle a job's agent and inputs. cloudpickle includes objects defined in a notebook."""
    try:
        from cloudpickle import dumps
    except ImportError:
        from pickle import dumps
    try:
        content = dumps((job.agent, job.input_args))
    except Exception as error:  # a class's `__reduce__` may raise anything
        raise ConfigError(
            f"The agent cannot be sent to another process: {error_text(error).rstrip('.')}. Leave that part out; a"
            " function can be defined in a module, or sent with `cloudpickle` if that is installed."
        ) from None
    return zlib.compress(content)  # executors log arguments, which may contain a key set in Python
