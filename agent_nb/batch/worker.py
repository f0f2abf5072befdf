"""What a worker of `agent.map(executor=...)` is sent, and what it does: one run, on an event loop of its process.

Workers may have another release of this package, so the arguments and the answer are plain values and bytes.
"""

import asyncio
import functools
import importlib.util
import os
import pickle
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from typing import Any, Literal

from agent_nb._base.constants import VERSION
from agent_nb._base.secrets import mask
from agent_nb._base.threads import background_loop
from agent_nb.batch.jobs import BatchAgent, Job
from agent_nb.engine.opening import Material
from agent_nb.errors import AgentError, ConfigError
from agent_nb.tools import Tool

VERSIONS = f"agent_nb {VERSION} on Python {sys.version_info.major}.{sys.version_info.minor}"
_first = threading.Lock()
"""Held while the agents are made, so that threads of one worker share them."""
_seen: set[str] = set()
"""Files of batches that this process has seen."""
POLL = 0.5
"""Seconds between looks at the file of a batch."""

Answer = tuple[Literal["run", "failed", "interrupted", "unusable"], Any]
"""The pickled run; why the job failed; nothing; or why this worker cannot run any job of the call."""


def run_job(versions: str, parcel: bytes, place: int, prompt: str, ticket: tuple[str, str]) -> Answer:
    """Runs one prompt with the agent at this place in the parcel, which `pack` made.

    `ticket` is the file that is removed when the batch is stopped, and a text that differs for every call.
    """
    batch, _ = ticket
    if versions != VERSIONS:
        return "unusable", f"A worker has {VERSIONS}, this process has {versions}. Install the same in both."
    try:
        with _first:
            agents, material = _open(parcel)
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
    # In a thread, because this one may have a running loop; not on a new loop, because runs share their connections.
    work = asyncio.run_coroutine_threadsafe(agents[place].run(prompt, **material), background_loop("worker"))
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
def _open(parcel: bytes) -> tuple[Sequence[BatchAgent], Material]:
    """The agents stay for the next job, with their connections."""
    agents, material = pickle.loads(zlib.decompress(parcel))
    return agents, material


def pack(jobs: Sequence[Job]) -> tuple[bytes, dict[int, int]]:
    """The agents of these jobs and what each run is given; and the place of each agent by its `id`."""
    agents = {id(job.agent): job.agent for job in jobs}
    try:
        content = _dumps()((tuple(agents.values()), jobs[0].material))
    except Exception as error:  # whatever `__reduce__` of somebody's class raises
        raise ConfigError(_refusal(jobs, error)) from None
    # It may have a key that was given in Python, and executors log the arguments of failed calls.
    return zlib.compress(content), {key: place for place, key in enumerate(agents)}


def _dumps() -> Callable[[Any], bytes]:
    """cloudpickle, if it is installed, also sends what is defined in a notebook."""
    if _has_cloudpickle():
        import cloudpickle

        dumps: Callable[[Any], bytes] = cloudpickle.dumps
        return dumps
    return pickle.dumps


def _has_cloudpickle() -> bool:
    return importlib.util.find_spec("cloudpickle") is not None


def _refusal(jobs: Sequence[Job], error: Exception) -> str:
    dumps = _dumps()
    for job in {id(job.agent): job for job in jobs}.values():
        for title, part in _parts(job):
            try:
                dumps(part)
            except Exception as found:
                return f"{title} cannot be sent to another process: {_reason(part, found)}"
    return f"The agent cannot be sent to another process: {_described(error)}"


def _parts(job: Job) -> Iterator[tuple[str, Any]]:
    """What an agent is made of and given, with a name for each part."""
    config = job.prepared.config
    yield f"The model `{config.provider.name}`", config.provider
    for tool in job.prepared.toolbox:
        yield f"The tool `{tool.name}`", tool
    hooks = config.hooks
    for hook in (*hooks.requests, *hooks.before, *hooks.after, *hooks.events):
        yield f"The function `{_name(hook)}`", hook
    for rule in filter(callable, (config.rules.default, *config.rules.by_name.values())):
        yield f"The function `{_name(rule)}` for `approve`", rule
    yield "The page viewer", config.viewer
    yield from ((f"`{name}`", value) for name, value in job.material.items())


def _name(function: Any) -> str:
    name = getattr(function, "__qualname__", type(function).__name__)
    return str(name).rpartition("<locals>.")[2]


def _reason(part: Any, error: Exception) -> str:
    if isinstance(part, Tool) and part.origin:
        return "its MCP server is connected to this process. Leave it out."
    if isinstance(part, Tool) and part.packaged:
        return "it works in this kernel. Leave it out."
    remedy = "" if _has_cloudpickle() else " Define it in a module, or install `cloudpickle`."
    return _described(error) + (remedy if callable(part) or isinstance(part, Tool) else "")


def _described(error: Exception) -> str:
    return mask(f"{type(error).__name__}: {error}").rstrip(".") + "."
