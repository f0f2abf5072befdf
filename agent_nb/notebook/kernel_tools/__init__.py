"""Tools for the notebook's variables and for running Python. `-t kernel` offers them all."""

from dataclasses import replace
from typing import Any
from weakref import finalize

from IPython import get_ipython

from agent_nb._base.late import SECRET_SOURCES
from agent_nb.core.errors import ConfigError
from agent_nb.notebook.kernel_tools.branch import Branches
from agent_nb.notebook.kernel_tools.python import run_python
from agent_nb.notebook.kernel_tools.variables import describe_variable, list_variables
from agent_nb.notebook.session import secret_source
from agent_nb.tools import Tool

KERNEL = "kernel"


def kernel_tools(shell: Any = None) -> tuple[Tool, ...]:
    """Tools for the variables of this notebook, or of the given IPython shell, and for running Python with them.

    `Agent(tools=[*kernel_tools()])`
    """
    shell = shell or get_ipython()
    if shell is None:
        raise ConfigError("`kernel_tools()` needs IPython: use it in a notebook or in `ipython`.")
    tools = list_variables(shell), describe_variable(shell), run_python(shell)
    branches = Branches(shell, tools)
    if shell is get_ipython():  # without `%load_ext`, too, as long as the tools exist
        SECRET_SOURCES.append(source := secret_source(shell))
        finalize(branches, SECRET_SOURCES.remove, source).atexit = False
    return tuple(replace(tool, branches=branches) for tool in tools)
