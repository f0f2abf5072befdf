"""Knows where a notebook is shown by what that host is, not by a detail of its kernel."""

import os
import sys
from typing import Any, Literal

from agent_nb._base.host import IN_BROWSER

Host = Literal["terminal", "jupyterlite", "colab", "vscode", "jupyter"]


def host_of(shell: Any) -> Host:
    """The host of an IPython shell; `jupyter` for every other kernel, whatever shows its outputs."""
    if getattr(shell, "kernel", None) is None:
        return "terminal"
    if IN_BROWSER:
        return "jupyterlite"
    if "google.colab" in sys.modules:
        return "colab"
    return "vscode" if os.environ.get("VSCODE_PID") else "jupyter"


def needs_view(shell: Any) -> bool:
    """True for hosts that load a widget's code only together with a view of it."""
    return host_of(shell) in ("colab", "vscode")
