"""The groups of tools for the notebook, by the name that `-t` and `lab.toml` accept."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from agent_nb.core.errors import ConfigError
from agent_nb.engine.parts import feature_tools
from agent_nb.notebook.kernel_tools import KERNEL, kernel_tools
from agent_nb.notebook.magic.mcp import is_server
from agent_nb.notebook.notebook_tools.tools import NOTEBOOK, notebook_tools
from agent_nb.notebook.session import Session
from agent_nb.notebook.values.value_paths import lookup
from agent_nb.plugins import TOOLS
from agent_nb.tools import Tool, Toolbox
from agent_nb.tools.toolbox import FAMILIES


def tool_groups(session: Session, *, schema_only: bool = False) -> dict[str, tuple[Tool, ...]]:
    """The tools for variables, for cells and of features. Each call makes new ones, which offer one run's changes."""
    return {
        KERNEL: kernel_tools(session.shell),
        NOTEBOOK: notebook_tools(session, schema_only=schema_only),
        **feature_tools(),
    }


def read_tools(
    session: Session, names: Iterable[str], server_tools: Sequence[Tool], *, schema_only: bool
) -> Toolbox:
    """The built-in tools plus the named ones: variables, tools for the notebook, plugin tools and server tools.

    A variable overrides a tool for the notebook of the same name.
    """
    groups, namespace = tool_groups(session, schema_only=schema_only), session.namespace
    tools: list[Tool | Callable[..., Any]] = []
    packaged: dict[str, Tool] = {}
    for name in (name for name in names if not is_server(name)):
        plugin_tools = [tool for family in TOOLS for tool in TOOLS[family] if name in (family, tool.name)]
        own_tools = [tool for group in groups for tool in groups[group] if name in (group, tool.name)]
        if (own_tools or plugin_tools) and not callable(namespace.get(name)):
            packaged |= {tool.name: tool for tool in own_tools}
            tools += [] if own_tools else plugin_tools
            continue
        value = lookup(name, namespace)
        if not callable(value):
            raise ConfigError(
                f"`{name}` is of type {type(value).__name__}, not a tool. Decorate a function with @tool."
            )
        tools.append(value)
    return Toolbox.default([*tools, *packaged.values(), *server_tools])


def client_tools(session: Session, names: Iterable[str], *, schema_only: bool) -> Toolbox:
    """The tools of a run without a model: those for its files, and the named ones."""
    others = [tool.name for family, tools in FAMILIES.items() if family != "files" for tool in tools]
    return read_tools(session, names, (), schema_only=schema_only).without(others)


def tools_of(session: Session, names: Sequence[str]) -> list[Tool]:
    """The tools of these groups, families and names; raises `ConfigError` for an unknown name."""
    groups = {**FAMILIES, **tool_groups(session), **TOOLS}
    found: dict[str, list[Tool]] = {
        name: [tool for group, each in groups.items() for tool in each if name in (group, tool.name)]
        for name in names
    }
    if unknown := [name for name, tools in found.items() if not tools]:
        raise ConfigError(f"There is no tool `{unknown[0]}`.")
    return [*{tool.name: tool for tools in found.values() for tool in tools}.values()]
