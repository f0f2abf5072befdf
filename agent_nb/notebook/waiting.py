"""How a cell waits for a run: whether a person is watching, and how an interrupt reaches the run."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from agent_nb.notebook.host import host_of


def is_attended(shell: Any) -> bool:
    """Whether a person is watching. nbclient, nbval and papermill allow no input; JupyterLab and a terminal do.

    JupyterLite runs in the tab of a person, and its kernel cannot say.
    """
    if host_of(shell) in ("terminal", "jupyterlite"):
        return True
    return bool(getattr(shell.kernel, "_allow_stdin", False))


@contextlib.contextmanager
def on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Makes Ctrl-C call `stop` in a terminal, where it would otherwise end the event loop.

    Not for kernels: ipykernel cancels the cell instead.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
