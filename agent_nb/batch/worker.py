"""What a worker of `agent.map(executor=...)` does: one run, on an event loop of its process.

Workers may have another release of this package, so the arguments and the answer are plain values and bytes.
"""

import asyncio
import functools
import os
import pickle
import sys
import threading
import zlib
from collections.abc import Sequence
from concurrent.futures import wait
from typing import Any, Literal, Protocol, Unpack

from agent_nb import __version__
from agent_nb._base.secrets import mask
from agent_nb._base.threads import start_thread
from agent_nb.engine.opening import Material
from agent_nb.errors import AgentError
from agent_nb.run import Run

VERSIONS = f"agent_nb {__version__} on Python {sys.version_info.major}.{sys.version_info.minor}"
_first = threading.Lock()
"""Held while the agents and the loop are made, so that threads of one worker share them."""
_seen: set[str] = set()
"""Files of batches that this process has seen."""
POLL = 0.5
"""Seconds between looks at the file of a batch."""

Answer = tuple[Literal["run", "failed", "interrupted", "unusable"], Any]
"""The pickled run; why the job failed; nothing; or why this worker cannot run any job of the call."""


class WorkerAgent(Protocol):
    """What a worker needs of an agent."""

    async def run(self, prompt: str, **material: Unpack[Material]) -> Run: ...


def run_job(versions: str, parcel: bytes, place: int, prompt: str, ticket: tuple[str, str]) -> Answer:
    """Runs one prompt with the agent at this place in the parcel, which `agent_nb.batch.parcel` made.

    `ticket` is the file that is removed when the batch is stopped, and a text that differs for every call.
    """
    batch, _ = ticket
    if versions != VERSIONS:
        return "unusable", f"A worker has {VERSIONS}, this process has {versions}. Install the same in both."
    try:
        with _first:
            agents, material = _open(parcel)
            loop = _loop(os.getpid())
    except AgentError as error:
        return "unusable", f"A worker cannot create the agent: {error}"
    except Exception as error:
        reason = mask(f"{type(error).__name__}: {error}")
        return (
            "unusable",
            f"A worker cannot load the agent ({reason}). It needs the same modules and packages.",
        )
    if _is_stopped(batch):
        return "interrupted", None
    # Not on a loop of its own: runs of one process share their connections.
    work = asyncio.run_coroutine_threadsafe(agents[place].run(prompt, **material), loop)
    try:
        while not wait([work], POLL).done:
            if _is_stopped(batch):
                work.cancel()
                return "interrupted", None
        return "run", pickle.dumps(work.result(), protocol=5)
    except KeyboardInterrupt:
        work.cancel()
        return "interrupted", None
    except Exception as error:
        return "failed", mask(f"{type(error).__name__}: {error}")


def _is_stopped(batch: str) -> bool:
    """Whether the file of a batch has been removed. A worker on another machine may never see it."""
    if os.path.exists(batch):
        _seen.add(batch)
        return False
    return batch in _seen


@functools.lru_cache(maxsize=2)
def _open(parcel: bytes) -> tuple[Sequence[WorkerAgent], Material]:
    """The agents stay for the next job, with their connections."""
    agents, material = pickle.loads(zlib.decompress(parcel))
    return agents, material


@functools.cache
def _loop(process: int) -> asyncio.AbstractEventLoop:
    """The loop of this process, in a thread: the caller's thread may have a running loop. A fork needs its own."""
    loop = asyncio.new_event_loop()
    start_thread("worker", loop.run_forever)
    return loop
