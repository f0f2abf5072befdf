"""Tools that an agent can call, and the toolbox that contains them."""

from agent_nb.tools.base import Tool, ToolContext, ToolOutput
from agent_nb.tools.function import tool
from agent_nb.tools.toolbox import Toolbox

__all__ = ["Tool", "ToolContext", "ToolOutput", "Toolbox", "tool"]
