"""How tools are pickled: by reference where they are a module's global, as functions are, else by their function."""

import sys
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from agent_nb.tools.base import Tool
from agent_nb.tools.function import tool as tool_from


def reduce_tool(tool: Tool) -> Any:
    """What `__reduce__` returns for a tool."""
    module = getattr(tool.function or tool.run, "__module__", None) or ""
    if (name := _global_name(module, tool)) is not None:
        return _global, (module, name)
    if tool.function is not None and getattr(tool.run, "__module__", "") == tool_from.__module__:
        others = {each.name: getattr(tool, each.name) for each in fields(tool)}
        del others["run"], others["function"]
        return _from_function, (tool.function, others)
    return object.__reduce_ex__(tool, 2)


def _global_name(module: str, tool: Tool) -> str | None:
    """The name of the tool in its module. Another process has another `__main__`."""
    if module == "__main__" or module not in sys.modules:
        return None
    return next((name for name, value in vars(sys.modules[module]).items() if value is tool), None)


def _global(module: str, name: str) -> Tool:
    __import__(module)
    found: Tool = getattr(sys.modules[module], name)
    return found


def _from_function(function: Callable[..., Any], others: dict[str, Any]) -> Tool:
    return replace(tool_from(name=others["spec"].name)(function), **others)
