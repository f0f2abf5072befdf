"""Where a notebook is shown, whether the user is watching, how Ctrl-C reaches a run, and how our errors are shown."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError

from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.threads import off_loop
from agent_nb.core.errors import AgentError

ANSWER_PATIENCE = 1.5
"""Timeout in seconds for a page's answer, from the first request."""


def needs_view() -> bool:
    """Whether the kernel is in Colab or VS Code, which load a widget's code only with a view of it."""
    return "google.colab" in sys.modules or bool(os.environ.get("VSCODE_PID"))


def is_attended(shell: Any) -> bool:
    """Whether the user can be asked with `input()`: in JupyterLab and in a terminal, but not in nbclient, nbval or
    papermill.

    Always True in JupyterLite, which runs in the user's tab; its kernel does not know whether input is allowed.
    """
    if IN_BROWSER:
        return True
    if getattr(shell, "kernel", None) is None:
        return not keeps_displays(shell)
    return bool(getattr(shell.kernel, "_allow_stdin", False))


def keeps_displays(shell: Any) -> bool:
    """Whether a shell without a kernel stores displays instead of printing them, as ploomber-engine's does.

    It also captures what is printed, so that nobody would see a question.
    """
    return getattr(shell, "display_pub_class", DisplayPublisher) is not DisplayPublisher


async def is_watched(shell: Any) -> bool:
    """Whether a cell's output is visible while it runs: the user is present, or a page has answered."""
    if is_attended(shell):
        return True
    page_question.ask()
    return await page_question.answers()


class _PageQuestion:
    """Checks whether a page is connected to this kernel: some servers execute cells without input while users watch.

    Jupyter's pages close a comm with an unknown target, which serves as the answer. This is done only in kernels that
    a Jupyter server started for a notebook, since nbclient would log a warning.
    """

    def __init__(self) -> None:
        self._answered = threading.Event()
        self._deadline = 0.0
        self._comm: Any = None

    def ask(self) -> None:
        if self._answered.is_set() or not os.environ.get("JPY_SESSION_NAME"):
            return
        from comm import create_comm

        self._deadline = self._deadline or time.monotonic() + ANSWER_PATIENCE
        if self._comm is not None:  # no page was there to close it
            self._comm.close()
        self._comm = create_comm(target_name="agent_nb.page")
        self._comm.on_close(lambda message: self._answered.set())

    async def answers(self) -> bool:
        seconds = self._deadline - time.monotonic()
        return self._answered.is_set() or (seconds > 0 and await off_loop(self._answered.wait, seconds))


page_question = _PageQuestion()


async def front_end(shell: Any) -> tuple[str, bool | None]:
    """What shows the notebook, in a few words, and whether a page of it answers; None if it cannot be asked."""
    if IN_BROWSER:
        return "JupyterLite", None
    if getattr(shell, "kernel", None) is None:
        return "IPython without a kernel", None
    if needs_view():
        return "Colab" if "google.colab" in sys.modules else "VS Code", None
    if not has_cells(shell):
        return "a console", None
    if not os.environ.get("JPY_SESSION_NAME"):
        return "unknown: no Jupyter server started this kernel for a notebook", None
    page_question.ask()
    return "a notebook of a Jupyter server", await page_question.answers()


def has_cells(shell: Any) -> bool:
    """Whether the request came from a cell. Consoles (jupyter console, qtconsole, Spyder) have no cells and ignore
    display updates."""
    return IN_BROWSER or not (request := cell_message(shell)) or "cellId" in (request.get("metadata") or {})


def cell_message(shell: Any) -> dict[str, Any]:
    """The request for the current cell, in JupyterLab with the cell's id and tags; empty outside of a kernel."""
    get_parent = getattr(getattr(shell, "kernel", None), "get_parent", None)
    message = get_parent() if get_parent else None
    return message if isinstance(message, dict) else {}


def cell_id(shell: Any) -> str:
    """The current cell's id in its notebook; empty if it is unknown."""
    return str((cell_message(shell).get("metadata") or {}).get("cellId", ""))


@contextlib.contextmanager
def on_interrupt(handler: Callable[..., Any]) -> Iterator[None]:
    """Install `handler` as the SIGINT handler for the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


@contextlib.contextmanager
def usage_errors(pointer: Callable[[AgentError], str]) -> Iterator[None]:
    """Turn errors of this package into IPython's `UsageError`, which it shows in one line, without a traceback.

    `pointer` returns what follows the message.
    """
    try:
        yield
    except AgentError as error:
        raise UsageError(f"{error}{pointer(error)}") from None


def say(text: str) -> None:
    """Print a text, masked."""
    from agent_nb._base.secrets import safe_text

    print(safe_text(text))


class CellError(Exception):
    """Ends a cell with a one-line error, without a traceback."""

    def __init__(self, title: str, message: str) -> None:
        super().__init__(str(AgentError(message)))
        self.title = title

    def _render_traceback_(self) -> list[str]:
        return [f"{self.title}: {self}"]


class RunStopped(CellError):  # noqa: N818 - users read the name
    """The user has stopped a cell. If its run had begun, its variables are set. An error, so that the next cells do not
    run."""

    def __init__(self, message: str) -> None:
        super().__init__("RunStopped", message)


@contextlib.contextmanager
def short_interrupts() -> Iterator[None]:
    """Turn an interrupt before or after a run, which nothing else handles, into one line without a traceback."""
    try:
        yield
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise RunStopped("The cell was interrupted.") from None
