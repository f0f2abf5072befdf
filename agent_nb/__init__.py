"""An `%%agent` cell magic and a live widget: a model builds files in your notebook, and you get them as values.

`%load_ext agent_nb` in a notebook; `from agent_nb import Agent` anywhere else. Heavy modules are imported
on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

from agent_nb._base.constants import VERSION

if TYPE_CHECKING:
    from agent_nb.agent import Agent, model
    from agent_nb.cassette.player import replay
    from agent_nb.classroom.rules import read_lab
    from agent_nb.core import errors, events, messages
    from agent_nb.core.errors import AgentError, ConfigError, ToolError
    from agent_nb.core.messages import Document, Image, Message
    from agent_nb.core.run_settings import Limits
    from agent_nb.engine.approval import Answer
    from agent_nb.engine.batch.runs import Runs
    from agent_nb.engine.batch.runs_handle import RunsHandle
    from agent_nb.engine.handle import RunHandle
    from agent_nb.engine.middleware import ModelRequest
    from agent_nb.engine.run_input import read_images
    from agent_nb.engine.start import Prepared, VariantsHandle
    from agent_nb.files import Files
    from agent_nb.notebook.kernel_tools import kernel_tools
    from agent_nb.pages.chromium import ChromiumViewer
    from agent_nb.plugins import register
    from agent_nb.providers import scripted
    from agent_nb.providers.base import (
        Accepted,
        CallPiece,
        CallStarted,
        Provider,
        Request,
        TextPiece,
        ThinkingPiece,
        Turn,
        UsagePiece,
    )
    from agent_nb.run import Run, load
    from agent_nb.run.compare import Comparison, assert_same, compare
    from agent_nb.tools import Tool, Toolbox, ToolContext, ToolOutput, tool
    from agent_nb.tools.mcp.server import mcp_server

__version__ = VERSION

_NAMES = {
    "agent_nb.agent": "Agent model",
    "agent_nb.cassette.player": "replay",
    "agent_nb.classroom.rules": "read_lab",
    "agent_nb.core.errors": "AgentError ConfigError ToolError",
    "agent_nb.core.messages": "Document Image Message",
    "agent_nb.core.run_settings": "Limits",
    "agent_nb.engine.approval": "Answer",
    "agent_nb.engine.batch.runs": "Runs",
    "agent_nb.engine.batch.runs_handle": "RunsHandle",
    "agent_nb.engine.handle": "RunHandle",
    "agent_nb.engine.middleware": "ModelRequest",
    "agent_nb.engine.run_input": "read_images",
    "agent_nb.engine.start": "Prepared VariantsHandle",
    "agent_nb.files": "Files",
    "agent_nb.notebook.kernel_tools": "kernel_tools",
    "agent_nb.pages.chromium": "ChromiumViewer",
    "agent_nb.plugins": "register",
    "agent_nb.providers.base": "Accepted CallPiece CallStarted Provider Request TextPiece ThinkingPiece Turn"
    " UsagePiece",
    "agent_nb.run": "Run load",
    "agent_nb.run.compare": "Comparison assert_same compare",
    "agent_nb.tools": "Tool ToolContext ToolOutput Toolbox tool",
    "agent_nb.tools.mcp.server": "mcp_server",
}
_MODULES = {
    "errors": "agent_nb.core.errors",
    "events": "agent_nb.core.events",
    "marimo": "agent_nb.marimo",
    "messages": "agent_nb.core.messages",
    "scripted": "agent_nb.providers.scripted",
    "tracing": "agent_nb.tracing",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Accepted",
    "Agent",
    "AgentError",
    "Answer",
    "CallPiece",
    "CallStarted",
    "ChromiumViewer",
    "Comparison",
    "ConfigError",
    "Document",
    "Files",
    "Image",
    "Limits",
    "Message",
    "ModelRequest",
    "Prepared",
    "Provider",
    "Request",
    "Run",
    "RunHandle",
    "Runs",
    "RunsHandle",
    "TextPiece",
    "ThinkingPiece",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolOutput",
    "Toolbox",
    "Turn",
    "UsagePiece",
    "VariantsHandle",
    "assert_same",
    "compare",
    "errors",
    "events",
    "kernel_tools",
    "load",
    "load_ipython_extension",
    "mcp_server",
    "messages",
    "model",
    "read_images",
    "read_lab",
    "register",
    "replay",
    "scripted",
    "tool",
    "unload_ipython_extension",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
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
