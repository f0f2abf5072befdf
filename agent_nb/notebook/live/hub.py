"""The hub: one hidden widget per kernel that carries the messages between all runs and the page."""

import asyncio
import itertools
import json
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

import anywidget
import traitlets
from IPython.core.getipython import get_ipython

from agent_nb._base.bundles import bundle
from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.secrets import safe_text
from agent_nb._base.text import change_texts, whole_text
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json, WireError, from_wire, to_wire
from agent_nb.core.annotations import safe_annotations
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.engine.approval import Answer
from agent_nb.engine.handle import Handle
from agent_nb.notebook.front_end import cell_id
from agent_nb.notebook.kernel_tools.name_changes import undo_store
from agent_nb.notebook.live.live_run import LiveRun, window_number
from agent_nb.notebook.live.open_questions import InvalidArgsError, Scope
from agent_nb.notebook.session import HUBS, settings
from agent_nb.pages.page_check import PageConsole
from agent_nb.render import first_frame
from agent_nb.run.cells import Cells
from agent_nb.run.run import Run
from agent_nb.run.turn_requests import request_for_page

BUNDLE = bundle("widget")
_CHECK_CODE = BUNDLE.with_name("check.js")
"""The page check script. It is large, so it is sent on first use."""
MOST_RUNS = 50
MOST_DIFFERENCES = 3
"""Maximum number of differences named in a badge."""
_KERNEL = uuid4().hex[:12]
"""Distinguishes this kernel from others on the same page. In a browser all have the same process id."""
_CHANNEL = f"agent_nb:{_KERNEL}" if IN_BROWSER else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    """A command from a page. Each command uses some of the fields."""

    command: str
    id: str
    client: str
    run_id: str = ""
    key: str = ""
    variant: int | None = None
    call_id: str = ""
    note: str = ""
    args: Json | None = None
    scope: Scope = "call"
    path: str = ""
    file: str | None = None
    version: int | None = None
    step: int = 1
    token: str = ""
    check_id: str = ""
    ok: bool = False
    report: Any = None
    error: str = ""
    entries: Any = None
    on_screen: bool = False
    message: Json | None = None

    @property
    def number(self) -> int:
        return self.variant or 0

    @property
    def question(self) -> tuple[int, str]:
        return self.number, self.call_id


class HubModel(anywidget.AnyWidget):
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
        self._open()
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
        self.model.send(message)

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
        self._runs[key].stream.set_annotations(safe_annotations(run.annotations))
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
            command = _read(content)
            if command.command == "under_way":
                result: Any = {"runs": self._active_runs(command.client)}
            else:
                run = self._find(command)
                result = COMMANDS[command.command](run, command)
            if asyncio.iscoroutine(result):
                self._answering = self._loop.create_task(self._answer_later(answer, result))
                return
        except AgentError as error:
            fields = {"fields": error.fields} if isinstance(error, InvalidArgsError) else {}
            self.send({**answer, "ok": False, "error": str(error), **fields})
            return
        self.send({**answer, "ok": True, **(result or {})})
        if run and command.command in ("hello", "resync"):
            run.stream.send_all()

    async def _answer_later(self, answer: Json, result: Coroutine[Any, Any, Json]) -> None:
        try:
            self.send({**answer, "ok": True, **await result})
        except AgentError as error:
            self.send({**answer, "ok": False, "error": str(error)})

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

    def _find(self, command: _Command) -> LiveRun:
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


def _read(content: Json) -> _Command:
    """Validate a message and return its command; any client of the kernel can send one."""
    try:
        command: _Command = from_wire(_Command, change_texts(from_wire(Json, content), whole_text))
    except WireError as error:
        raise ConfigError(f"That message is not a command: {error}.") from None
    if command.command not in (*COMMANDS, "under_way"):
        raise ConfigError(f"There is no command {command.command!r}.")
    return command


def _hello(run: LiveRun, command: _Command) -> Json:
    stream = run.stream
    stream.watched.set()
    run.window = command.client
    stream.windows[run.window] = True
    return {
        "run_id": run.id,
        "meta": to_wire(stream.meta),
        "window": window_number(run.window),
        "last": len(stream.events),
    }


def _on_screen(run: LiveRun, command: _Command) -> None:
    if command.on_screen:
        run.window = command.client
    run.stream.set_on_screen(command.client, on_screen=command.on_screen)


def _stop(run: LiveRun, command: _Command) -> None:
    if run.handle is not None:
        run.handle.stop(number=None if command.variant is None else command.variant + 1)


def _pick(run: LiveRun, command: _Command) -> None:
    number = command.number + 1
    if run.on_pick is None:
        raise ConfigError(f"Pick it in the notebook: `{run.name}.pick({number})`.")
    run.on_pick(number)


def _show_output(run: LiveRun, command: _Command) -> None:
    if run.handle is None:
        raise ConfigError("The run has ended.")
    run.handle.show_output(*command.question)


def _checked(run: LiveRun, command: _Command) -> None:
    failure = f"the person's browser could not check the page ({command.error[:200]})."
    report = command.report if command.ok and isinstance(command.report, dict) else failure
    run.checked(command.client, command.check_id, report)


def _undo(run: LiveRun, command: _Command) -> Json:
    text, names = undo_store.undo(command.token)
    run.stream.set_undone(f"{command.token} {name}" for name in names)
    return {"text": text}


def _verify(run: Run) -> Coroutine[Any, Any, Json]:
    """Refuse at once what cannot be verified; the returned coroutine does the rest."""
    from agent_nb.notebook.verify import check_verifiable

    cells = run.to_cells()
    check_verifiable(run, cells)
    return _verified(run, cells)


async def _verified(run: Run, cells: Cells) -> Json:
    from agent_nb.notebook.verify import EQUAL, verify

    shell = get_ipython()
    table = await off_loop(verify, run, cells, shell.user_ns, settings(shell).python_seconds)
    differences = [f"{name}: {result}" for name, result in table.rows if not result.startswith(EQUAL)]
    text = "; ".join(differences[:MOST_DIFFERENCES])
    if len(differences) > MOST_DIFFERENCES:
        text += f" and {len(differences) - MOST_DIFFERENCES} more"
    text = text or f"Reproduced in a fresh kernel: {len(table.rows)} equal"
    return {"text": safe_text(text), "equal": not differences}


COMMANDS: dict[str, Callable[[LiveRun, _Command], Any]] = {
    "hello": _hello,
    "resync": lambda run, command: None,  # all events are sent after the answer
    "stop": _stop,
    "approve": lambda run, command: run.answer(
        command.question, Answer(True, command.note, command.args), command.scope
    ),
    "deny": lambda run, command: run.questions.answer(command.question, Answer(False, command.note)),
    "show_output": _show_output,
    "ask_again": lambda run, command: run.let_code_run(command.number, allowed=False),
    "pick": _pick,
    "file": lambda run, command: run.file(command.number, command.path, command.version),
    "element": lambda run, command: run.element(command.number, command.path, command.file),
    "cells": lambda run, command: run.cells(command.number),
    "keep": lambda run, command: run.keep(command.number),
    "verify": lambda run, command: _verify(run.finished_result(command.number)),
    "request": lambda run, command: request_for_page(run.result, command.number, command.step),
    "check_code": lambda run, command: {"code": _CHECK_CODE.read_text(encoding="utf-8")},
    "on_screen": _on_screen,
    "checked": _checked,
    "undo_python": _undo,
    "result": lambda run, command: {"data": run.output(command.client)},
    "preview_report": lambda run, command: run.report(command.number, command.entries),
    "bound": lambda run, command: run.use_bound(command.number, command.message),
}


def hub() -> Hub:
    """The kernel's hub, created with the first watched run."""
    if not HUBS:
        HUBS.append(Hub())
    return HUBS[0]  # type: ignore[no-any-return]
