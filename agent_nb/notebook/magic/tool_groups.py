"""The groups of tools for the notebook, by the name that `-t` and `lab.toml` accept."""

from agent_nb.notebook.kernel_tools import KERNEL, kernel_tools
from agent_nb.notebook.notebook_tools.tools import NOTEBOOK, notebook_tools
from agent_nb.notebook.session import Session
from agent_nb.tools import Tool
from agent_nb.tools.ask_user import ASK_USER


def tool_groups(session: Session, *, schema_only: bool = False) -> dict[str, tuple[Tool, ...]]:
    """The tools for variables, cells and questions. Each call makes new ones, which offer one run's changes."""
    return {
        KERNEL: kernel_tools(session.shell),
        NOTEBOOK: notebook_tools(session, schema_only=schema_only),
        ASK_USER.name: (ASK_USER,),
    }
