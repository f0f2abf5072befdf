"""The hub: one hidden widget per kernel that carries the messages between all runs and the page."""

import asyncio
import itertools
import json
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any
from uuid import uuid4

import traitlets
from IPython.core.getipython import get_ipython

from agent_nb._base.bundles import bundle
from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.log import log
from agent_nb._base.text import whole_text
from agent_nb._base.wire import Json
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.engine.handle import Handle
from agent_nb.notebook.door import Door
from agent_nb.notebook.front_end import cell_id
from agent_nb.notebook.live.commands import (
    HelloCommand,
    NotebookCommand,
    PageCommand,
    ResyncCommand,
    UnderWayCommand,
    read_command,
)
from agent_nb.notebook.live.live_run import LiveRun
from agent_nb.notebook.live.open_questions import InvalidArgsError
from agent_nb.notebook.notebook_tools.open_notebook import open_notebook
from agent_nb.notebook.session import HUBS
from agent_nb.pages.page_check import PageConsole
from agent_nb.render import first_frame
from agent_nb.run.run import Run

BUNDLE = bundle("widget")
MOST_RUNS = 50
_KERNEL = uuid4().hex[:12]
"""Distinguishes this kernel from others on the same page. In a browser all have the same process id."""
_CHANNEL = f"agent_nb:{_KERNEL}" if IN_BROWSER else ""


class HubModel(Door):
    """The widget model: it carries the page's code and messages, and has no view."""

    _esm = BUNDLE
    kernel = traitlets.Unicode().tag(sync=True)
    channel = traitlets.Unicode().tag(sync=True)
    """The broadcast channel for messages of the page; empty where comm messages reach the kernel while a cell runs."""


class Hub:
    """The runs of this kernel that the page may show, and the widget model they share."""

    def __init__(self, make_model: Callable[[], HubModel] | None = None) -> None:
        self._make_model = make_model or partial(HubModel, kernel=_KERNEL, channel=_CHANNEL)
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._runs: dict[str, LiveRun] = {}
        self._answering: set[asyncio.Task[None]] = set()
        self._open()
        open_notebook.send = self.send
        if _CHANNEL:
            self._listener = _listen(self.receive)

    def _open(self) -> None:
        self.model = self._make_model()
        self.model.on_msg(self._on_message)
        self._refused = False
        if self.model.comm is not None:
            self.model.comm.on_close(self._on_close)

    def send(self, message: Json) -> None:
        if self.model.comm is None:  # closed by `Widget.close_all()`
            self._open()
        self.model.tell(message)

    def follow(self, handle: Handle, *, network: bool = False) -> LiveRun:
        """Add a running run; with `network`, its live preview may load any https URL."""
        if self._refused:  # the page may support widgets by now
            self._open()
        run = LiveRun.following(handle, self.send, network=network)
        run.cell_id = cell_id(get_ipython())
        self._add(run)
        return run

    def send_new(self) -> None:
        """Send pending events of all running runs. Thread-safe."""
        for run in list(self._runs.values()):
            if not run.done:
                run.stream.send_new()

    def console_of(self, name: str) -> PageConsole | None:
        """The page console of the newest run with that name; None if no such run was shown."""
        return next((run.console() for run in reversed(self._runs.values()) if run.name == name), None)

    def knows(self, key: str, run_id: str) -> bool:
        run = self._runs.get(key)
        return run is not None and run.id == run_id

    def adopt(self, run: Run) -> str:
        """Add a finished run, and return the key to display it under.

        Runs of the same request share a key: the newest has it, older ones get a numbered one. A run with hand-edited
        files has no events that produce them, so it gets no key and is shown frozen.
        """
        if run.given_files is not None or not run.events:
            return ""
        for number in itertools.count(1):
            key = run.key if number == 1 else f"{run.key}.{number}"
            if key not in self._runs:
                self._add(LiveRun.finished(run, key, self.send))
            if self.knows(key, run.id):
                break
        self._runs[key].stream.update(annotations=run.annotations)
        return key

    def _add(self, run: LiveRun) -> None:
        self._runs.pop(run.key, None)
        self._runs[run.key] = run
        finished_keys = [key for key, other in self._runs.items() if other.done]
        for key in finished_keys[: max(0, len(self._runs) - MOST_RUNS)]:
            del self._runs[key]

    def _on_close(self, message: object) -> None:
        """Called when the front end closes the comm, as JupyterLab without the widget manager does."""
        self._refused = True
        for run in list(self._runs.values()):
            run.refused = True

    def _on_message(self, model: Any, content: Any, buffers: Any) -> None:
        # Some kernels handle comm messages in another thread, with another loop.
        if threading.get_ident() == self._thread:
            self.receive(content)
        else:
            self._loop.call_soon_threadsafe(self.receive, content)

    def receive(self, content: Any) -> None:
        if not isinstance(content, dict) or content.get("kind") != "command":
            return
        name = content.get("id")
        answer: Json = {"kind": "answer", "id": whole_text(name) if isinstance(name, str) else None}
        run = None
        try:
            command = read_command(content)
            if isinstance(command, UnderWayCommand):
                result: Any = {"runs": self._active_runs(command.client)}
            elif isinstance(command, NotebookCommand):
                result = command.deliver()
            else:
                run = self._find(command)
                result = command.run(run)
        except Exception as error:
            self._send_error(answer, error)
            return
        if asyncio.iscoroutine(result):
            task = self._loop.create_task(self._answer_later(answer, result))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
            return
        self.send({**answer, "ok": True, **(result or {})})
        if run and isinstance(command, HelloCommand | ResyncCommand):
            run.stream.send_all()

    async def _answer_later(self, answer: Json, result: Coroutine[Any, Any, Json]) -> None:
        try:
            self.send({**answer, "ok": True, **await result})
        except Exception as error:
            self._send_error(answer, error)

    def _send_error(self, answer: Json, error: Exception) -> None:
        """Answer a command that failed: the page waits for an answer, also after an error of our own."""
        text, fields = str(error), {"fields": error.fields} if isinstance(error, InvalidArgsError) else {}
        if not isinstance(error, AgentError):
            log.error("a command of the page failed", exc_info=error)
            text = f"This failed in the kernel ({type(error).__name__}); its log has the details."
        self.send({**answer, "ok": False, "error": text, **fields})

    def _active_runs(self, client: str) -> list[Json]:
        """The active runs of a reloaded window, with the initial outputs of their cells."""
        return [
            {
                "run_id": run.id,
                "cell_id": run.cell_id,
                "data": first_frame(run.key, run.name, run.stream.meta.model, run.id),
            }
            for run in self._runs.values()
            if not run.done and client in run.stream.windows
        ]

    def _find(self, command: PageCommand) -> LiveRun:
        """The run of a command, by id or key: a page that has only a saved output has no id."""
        for run in self._runs.values():
            if command.run_id == run.id or command.key == run.key:
                run.check_variant(command.number)
                return run
        raise ConfigError("This kernel has no such run.")


def _listen(handle: Callable[[Any], None]) -> Any:
    """Open a second channel from the page to a kernel in the same browser, active while the returned object exists.

    JupyterLite delivers one message at a time, so a comm message waits until the cell has ended: too late for Stop and
    for approvals. A broadcast channel reaches the kernel's worker at once. Only pages of the same origin can use it,
    which excludes previews.
    """
    from pyodide.ffi import create_proxy

    import js

    loop = asyncio.get_running_loop()
    channel = js.BroadcastChannel.new(_CHANNEL)
    channel.onmessage = create_proxy(lambda event: loop.call_soon(handle, json.loads(event.data)))
    return channel


def hub() -> Hub:
    """The kernel's hub, created with the first run that a page shows."""
    if not HUBS:
        HUBS.append(Hub())
    return HUBS[0]  # type: ignore[no-any-return]
