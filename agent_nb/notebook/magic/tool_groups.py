"""The groups of tools for the notebook, by the name that `-t` and `lab.toml` accept."""

from agent_nb.engine.parts import feature_tools
from agent_nb.notebook.kernel_tools import KERNEL, kernel_tools
from agent_nb.notebook.notebook_tools.tools import NOTEBOOK, notebook_tools
from agent_nb.notebook.session import Session
from agent_nb.tools import Tool


def tool_groups(session: Session, *, schema_only: bool = False) -> dict[str, tuple[Tool, ...]]:
    """The tools for variables, for cells and of features. Each call makes new ones, which offer one run's changes."""
    return {
        KERNEL: kernel_tools(session.shell),
        NOTEBOOK: notebook_tools(session, schema_only=schema_only),
        **feature_tools(),
    }
