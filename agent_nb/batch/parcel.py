"""Pickles the agents of a call for its workers, or says in one sentence what cannot be sent."""

import importlib.util
import pickle
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from agent_nb._base.secrets import mask
from agent_nb.batch.jobs import Job
from agent_nb.engine.policy import Rules
from agent_nb.engine.prepared import Prepared
from agent_nb.errors import ConfigError
from agent_nb.tools import Tool


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
        for title, part in [*_parts(job.prepared), *_material(job)]:
            try:
                dumps(part)
            except Exception as found:
                return f"{title} cannot be sent to another process: {_reason(part, found)}"
    return f"The agent cannot be sent to another process: {_described(error)}"


def _parts(prepared: Prepared) -> Iterator[tuple[str, Any]]:
    """What an agent is made of, with a name for each part."""
    config = prepared.config
    yield f"The model `{config.provider.name}`", config.provider
    for tool in prepared.toolbox:
        yield f"The tool `{tool.name}`", tool
    hooks = config.hooks
    for hook in (*hooks.requests, *hooks.before, *hooks.after, *hooks.events):
        yield f"The function `{_name(hook)}`", hook
    for rule in _functions(config.rules):
        yield f"The function `{_name(rule)}` for `approve`", rule
    yield "The page viewer", config.viewer


def _functions(rules: Rules) -> list[Any]:
    return [rule for rule in (rules.default, *rules.by_name.values()) if callable(rule)]


def _material(job: Job) -> Iterator[tuple[str, Any]]:
    for name, value in job.material.items():
        yield f"`{name}`", value


def _name(function: Any) -> str:
    name = getattr(function, "__qualname__", type(function).__name__)
    return str(name).rpartition("<locals>.")[2]


def _reason(part: Any, error: Exception) -> str:
    if isinstance(part, Tool) and part.origin:
        return "its MCP server is connected to this process. Leave it out."
    if isinstance(part, Tool) and part.packaged:
        return "it works in this kernel. Leave it out."
    function = (part.function or part.run) if isinstance(part, Tool) else part
    name = getattr(function, "__qualname__", "")
    if _has_cloudpickle() or not name:
        return _described(error)
    if name.endswith("<lambda>"):
        return "it is a lambda. Define it with `def` in a module, or install `cloudpickle`."
    if "<locals>" in name:
        return "it is defined inside a function. Define it in a module, or install `cloudpickle`."
    if getattr(function, "__module__", "") == "__main__":
        return "it is defined in this notebook or script. Define it in a module, or install `cloudpickle`."
    return _described(error)


def _described(error: Exception) -> str:
    return mask(f"{type(error).__name__}: {error}").rstrip(".") + "."
