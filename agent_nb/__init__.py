"""An `%%agent` cell magic and a live widget: a model builds files in your notebook, and you get them as values.

`%load_ext agent_nb` in a notebook; `from agent_nb import Agent` anywhere else. Heavy modules are imported
on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

from agent_nb._base.constants import VERSION

if TYPE_CHECKING:
    from agent_nb import events
    from agent_nb.agent import Agent, model
    from agent_nb.batch.runs import Runs
    from agent_nb.batch.runs_handle import RunsHandle
    from agent_nb.cassette.player import replay
    from agent_nb.engine.approval import Answer
    from agent_nb.engine.handle import RunHandle
    from agent_nb.engine.middleware import ModelRequest
    from agent_nb.engine.opening import read_images
    from agent_nb.engine.prepared import Prepared, Race
    from agent_nb.errors import AgentError, ConfigError, ToolError
    from agent_nb.files import Files
    from agent_nb.messages import Image, Message
    from agent_nb.notebook.kernel_tools import kernel_tools
    from agent_nb.plugins import register
    from agent_nb.run import Run, load
    from agent_nb.run.compare import Comparison, assert_same, compare
    from agent_nb.run_settings import Limits
    from agent_nb.tools import Tool, Toolbox, ToolContext, ToolOutput, tool
    from agent_nb.tools.mcp.server import mcp_server

__version__ = VERSION

_NAMES = {
    "agent_nb.agent": ("Agent", "model"),
    "agent_nb.batch.runs": ("Runs",),
    "agent_nb.batch.runs_handle": ("RunsHandle",),
    "agent_nb.cassette.player": ("replay",),
    "agent_nb.engine.approval": ("Answer",),
    "agent_nb.engine.handle": ("RunHandle",),
    "agent_nb.engine.middleware": ("ModelRequest",),
    "agent_nb.engine.opening": ("read_images",),
    "agent_nb.engine.prepared": ("Prepared", "Race"),
    "agent_nb.errors": ("AgentError", "ConfigError", "ToolError"),
    "agent_nb.files": ("Files",),
    "agent_nb.messages": ("Image", "Message"),
    "agent_nb.notebook.kernel_tools": ("kernel_tools",),
    "agent_nb.plugins": ("register",),
    "agent_nb.run": ("Run", "load"),
    "agent_nb.run.compare": ("Comparison", "assert_same", "compare"),
    "agent_nb.run_settings": ("Limits",),
    "agent_nb.tools": ("Tool", "ToolContext", "ToolOutput", "Toolbox", "tool"),
    "agent_nb.tools.mcp.server": ("mcp_server",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Agent",
    "AgentError",
    "Answer",
    "Comparison",
    "ConfigError",
    "Files",
    "Image",
    "Limits",
    "Message",
    "ModelRequest",
    "Prepared",
    "Race",
    "Run",
    "RunHandle",
    "Runs",
    "RunsHandle",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolOutput",
    "Toolbox",
    "assert_same",
    "compare",
    "events",
    "kernel_tools",
    "load",
    "load_ipython_extension",
    "mcp_server",
    "model",
    "read_images",
    "register",
    "replay",
    "tool",
    "unload_ipython_extension",
]


def __getattr__(name: str) -> Any:
    if name in ("events", "marimo"):
        return importlib.import_module(f"agent_nb.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'agent_nb' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


def load_ipython_extension(shell: Any) -> None:
    from agent_nb.notebook.magic.magics import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    from agent_nb.notebook.magic.magics import unload

    unload(shell)
