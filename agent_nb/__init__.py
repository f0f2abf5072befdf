"""An `%%agent` cell magic and a live widget: a model builds files in your notebook, you keep them as values.

`%load_ext agent_nb` in a notebook; `from agent_nb import Agent` anywhere else. Nothing heavy is imported
until it is used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from agent_nb._base.constants import VERSION

if TYPE_CHECKING:
    from agent_nb import events
    from agent_nb.agent import Agent, model
    from agent_nb.batch.runs import Runs
    from agent_nb.batch.runs_handle import RunsHandle
    from agent_nb.cassette import replay
    from agent_nb.engine.approval import Answer
    from agent_nb.engine.handle import RunHandle
    from agent_nb.engine.middleware import ModelRequest
    from agent_nb.engine.opening import read_images
    from agent_nb.engine.prepared import Prepared
    from agent_nb.engine.race import Race
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

_HOMES = {
    "Agent": "agent_nb.agent",
    "AgentError": "agent_nb.errors",
    "Answer": "agent_nb.engine.approval",
    "Comparison": "agent_nb.run.compare",
    "ConfigError": "agent_nb.errors",
    "Files": "agent_nb.files.files",
    "Image": "agent_nb.messages",
    "Limits": "agent_nb.run_settings",
    "Message": "agent_nb.messages",
    "ModelRequest": "agent_nb.engine.middleware",
    "Prepared": "agent_nb.engine.prepared",
    "Race": "agent_nb.engine.race",
    "Run": "agent_nb.run",
    "RunHandle": "agent_nb.engine.handle",
    "Runs": "agent_nb.batch.runs",
    "RunsHandle": "agent_nb.batch.runs_handle",
    "Tool": "agent_nb.tools",
    "ToolContext": "agent_nb.tools",
    "ToolError": "agent_nb.errors",
    "ToolOutput": "agent_nb.tools",
    "Toolbox": "agent_nb.tools",
    "assert_same": "agent_nb.run.compare",
    "compare": "agent_nb.run.compare",
    "kernel_tools": "agent_nb.notebook.kernel_tools",
    "load": "agent_nb.run",
    "mcp_server": "agent_nb.tools.mcp.server",
    "model": "agent_nb.agent",
    "read_images": "agent_nb.engine.opening",
    "register": "agent_nb.plugins",
    "replay": "agent_nb.cassette",
    "tool": "agent_nb.tools",
}

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
