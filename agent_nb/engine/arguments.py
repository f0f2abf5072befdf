"""Reads the arguments of an agent; raises `ConfigError` for those of a wrong type."""

from collections.abc import Iterable
from typing import Any

from agent_nb.engine.limits import Limits
from agent_nb.errors import ConfigError
from agent_nb.providers import model as make_model
from agent_nb.providers.base import Provider
from agent_nb.tools import Toolbox


def read_model(model: str | Provider) -> Provider:
    if isinstance(model, str):
        return make_model(model)
    if not hasattr(model, "stream") or not hasattr(model, "left_out"):
        raise ConfigError(f"`model` is a name such as 'anthropic:', or a `Provider`, not {kind_of(model)}.")
    return model


def read_tools(tools: Any) -> Toolbox:
    """The toolbox of these tools; None stands for the built-in ones."""
    if tools is None:
        return Toolbox.default()
    if isinstance(tools, Toolbox):
        return tools
    if isinstance(tools, str) or not isinstance(tools, Iterable):
        raise ConfigError(f"`tools` is a list of functions and tools, not {kind_of(tools)}.")
    return Toolbox(tools)


def read_system(system: Any) -> str | None:
    if not isinstance(system, str | None):
        raise ConfigError(f"`system` is text, not {kind_of(system)}.")
    return system


def read_limits(limits: Any) -> Limits:
    if not isinstance(limits, Limits | None):
        raise ConfigError(
            f"`limits` is a `Limits`, such as `Limits(steps=8, usd=0.20)`, not {kind_of(limits)}."
        )
    return limits or Limits()


def kind_of(value: object) -> str:
    """`a list`, `None`: what was given instead, for an error."""
    return "None" if value is None else f"a {type(value).__name__}"
