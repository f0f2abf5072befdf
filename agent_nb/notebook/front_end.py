"""Where a notebook is shown, whether the user is watching, and how Ctrl-C reaches a run."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, Literal

from agent_nb._base.constants import IN_BROWSER

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


def is_attended(shell: Any) -> bool:
    """Whether the user is watching. nbclient, nbval and papermill allow no input; JupyterLab and a terminal do.

    JupyterLite runs in the user's tab, and its kernel cannot say.
    """
    if host_of(shell) in ("terminal", "jupyterlite"):
        return True
    return bool(getattr(shell.kernel, "_allow_stdin", False))


def has_cells(shell: Any) -> bool:
    """Whether the request came from a cell. Consoles (jupyter console, qtconsole, Spyder) have none, and ignore updates
    of what they have shown."""
    get_parent = getattr(getattr(shell, "kernel", None), "get_parent", None)
    request = get_parent() if get_parent and not IN_BROWSER else None
    return not isinstance(request, dict) or "cellId" in (request.get("metadata") or {})


@contextlib.contextmanager
def on_interrupt(handler: Callable[..., Any]) -> Iterator[None]:
    """Makes Ctrl-C call `handler` in the block, with the arguments of a signal handler."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
