"""Finds the file of the notebook that this kernel runs. A kernel is not told; some front ends leave a trace."""

import os
from pathlib import Path

from agent_nb.notebook.session import Session

SUFFIX = ".ipynb"
_VS_CODE = "__vsc_ipynb_file__"
"""The variable that VS Code sets."""
_JUPYTER = "JPY_SESSION_NAME"
"""The variable of the environment that Jupyter's server sets when it starts the kernel."""


def notebook_file(session: Session) -> Path | None:
    """The notebook's file; None if it is not known, as when it was renamed after the kernel started."""
    named = session.namespace.get(_VS_CODE) or os.environ.get(_JUPYTER, "")
    if not isinstance(named, str) or not named.endswith(SUFFIX):
        return None
    try:
        found = [path for path in (Path(named), session.home / Path(named).name) if path.is_file()]
    except (OSError, ValueError):  # a name that no file can have
        return None
    return found[0] if found else None
