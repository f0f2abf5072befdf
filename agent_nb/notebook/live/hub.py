"""The hub: one undisplayed widget per kernel, through which every run reaches the page and back.

A cell outputs plain HTML marked with the run's key; the page mounts the live interface over it. So nothing
in a notebook ever depends on a widget's state. `docs/widget-protocol.md` has the messages.
"""

import asyncio
import base64
import itertools
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from agent_nb._base.model_name import is_demo
from agent_nb._base.secrets import safe_text
from agent_nb._base.wire import Json, to_wire
from agent_nb.engine.handle import Handle
from agent_nb.engine.tool_runner import Answer, nobody_to_ask
from agent_nb.errors import AgentError, ConfigError
from agent_nb.events import ApprovalRequested, Event
from agent_nb.notebook.live.protocol import Meta
from agent_nb.notebook.live.sender import Outlet, Pace
from agent_nb.render import ready_line, run_digest
from agent_nb.run.request import request_for_page
from agent_nb.run.run import Run, all_events

BUNDLE = Path(__file__).parents[2] / "static" / "widget.js"
PATIENCE = 5.0
"""Seconds to wait for a page before a question is taken to have nobody to answer it."""
FIRST_CHECKPOINT = 256
KEPT_RUNS = 50
KEPT_ENTRIES = 200
"""Lines of what a previewed page has logged."""
STOP_HINT = "The kernel is busy and did not answer. Press its interrupt button (■) to stop."


class HubModel(anywidget.AnyWidget):
    """The widget itself: it carries the page's code and messages, and has no view of its own."""

    _esm = BUNDLE
    kernel = traitlets.Unicode().tag(sync=True)


class Channel:
    """One run as the page sees it: what was sent, what waits, who answers."""

    def __init__(self, hub: "Hub", key: str, name: str, events: list[Event]) -> None:
        self.hub, self.key, self.name, self.events = hub, key, name, events
        self.model = ""
        self.handle: Handle | None = None
        self.result: Run | None = None
        self.outcome: str | None = None
        """By which the page knows the frozen form of this run from others of the same request."""
        self.network = False
        self.on_pick: Callable[[int], None] | None = None
        self.owner: str | None = None
        self.ready: Json | None = None
        self.console: list[Json] = []
        self.seen = asyncio.Event()
        self.outlet = Outlet(hub.next_number(), events, self._head)
        self._pace = Pace(self.flush)
        self._next_checkpoint = FIRST_CHECKPOINT
        self._questions: dict[tuple[int, str], asyncio.Future[Answer]] = {}
        """What the person was asked and has not answered, by variant and call."""
        self._always: set[str] = set()

    @property
    def session(self) -> str:
        return self.handle.id if self.handle else self.events[0].run_id

    @property
    def meta(self) -> Meta:
        # A page may say hello before the run has begun: thumbnails of its images come first.
        settings = getattr(self.events[0], "settings", {}) if self.events else {}
        return Meta(
            name=self.name,
            model=self.model,
            demo=all(is_demo(name) for name in self.model.split(", ")),
            finished=self.handle is None or self.handle.done,
            steps=settings.get("steps"),
            budget=settings.get("usd"),
            stop_hint=STOP_HINT,
            files_name=(self.ready or {}).get("files_name"),
            outcome=self.outcome,
            network=self.network,
        )

    def follow(self, handle: Handle) -> None:
        self.handle, self.model = handle, handle.model
        handle.approve_with(self.ask)
        handle.subscribe(self._pace.tell)

    def flush(self) -> None:
        """Sends what has happened since the last time."""
        message = self.outlet.more(named=self.hub.spoke != self.outlet.number)
        if message is not None:
            self._speak(message)
        self._pace.sent()
        if not self.seen.is_set() and self.outlet.sent >= self._next_checkpoint:
            # A page that cannot ask while the cell runs (older kernels) catches up from these.
            self._next_checkpoint = self.outlet.sent * 2
            self.replay()

    def replay(self) -> None:
        """Sends everything sent so far again."""
        if self.outlet.sent:
            self._speak(self.outlet.again())
        if self.ready:
            self.hub.send(self.ready)

    def _speak(self, message: Any) -> None:
        self.hub.spoke = self.outlet.number
        self.hub.send(message)

    def _head(self) -> Json:
        return {"run": self.key, "session": self.session, "meta": to_wire(self.meta)}

    def announce_ready(
        self, run: Run, files_name: str | None, *, picked: bool = False, paths: Sequence[str] = ()
    ) -> None:
        """The variables are set: the line that says so, and where things were saved."""
        self.conclude(run)
        self.flush()
        self.ready = {
            "kind": "ready",
            "run": self.key,
            "session": self.session,
            "line": ready_line(run, files_name, picked=picked),
            "files_name": files_name,
            "variant": run.variant,
            "picked": picked,
            "paths": list(paths),
            "outcome": self.outcome,
        }
        self.hub.send(self.ready)

    def conclude(self, run: Run) -> None:
        self.result, self.outcome = run, run_digest(run)

    async def ask(self, request: ApprovalRequested) -> Answer:
        """Asks the person through the page; no page within a few seconds means no."""
        if request.name in self._always:
            return Answer(True)
        self.flush()
        try:
            await asyncio.wait_for(self.seen.wait(), PATIENCE)
        except TimeoutError:
            raise nobody_to_ask() from None
        question: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        place = request.variant, request.call_id
        self._questions[place] = question
        try:
            return await question
        finally:
            del self._questions[place]

    def answer(self, variant: int, call_id: str, answer: Answer, *, always: bool = False) -> None:
        question = self._questions.get((variant, call_id))
        if question is None or question.done():
            raise ConfigError("That question is no longer open.")
        if always:
            asked = [event for event in self.events if isinstance(event, ApprovalRequested)]
            place = variant, call_id
            self._always.update(event.name for event in asked if (event.variant, event.call_id) == place)
        question.set_result(answer)

    def files(self, variant: int) -> Mapping[str, str | bytes]:
        if self.result is None:
            return self.handle.files_of(variant) if self.handle else {}
        if self.result.variant == variant:
            return self.result.files
        return self.result.variants[variant].files if variant < len(self.result.variants) else {}

    def file(self, variant: int, path: str) -> Json:
        files = self.files(variant)
        if path not in files:
            raise ConfigError(f"There is no file {path!r}.")
        content = files[path]
        if isinstance(content, bytes):
            return {"base64": base64.b64encode(content).decode()}
        return {"text": safe_text(content)}


class Hub:
    """All runs of this kernel, and the one widget model they share."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._channels: dict[str, Channel] = {}
        self._numbers = itertools.count(1)
        self.spoke = 0
        """The number of the run that sent the newest batch: what follows need not name it again."""
        self._commands: dict[str, Callable[[Channel, Json], Json | None]] = {
            "hello": self._hello,
            "resync": self._resync,
            "stop": self._stop,
            "approve": self._approve,
            "deny": self._deny,
            "pick": self._pick,
            "file": lambda channel, message: channel.file(_variant(message), str(message.get("path"))),
            "request": lambda channel, message: request_for_page(channel.result, message),
            "preview_report": self._preview_report,
        }
        self._open()

    def _open(self) -> None:
        self.model = HubModel(kernel=str(os.getpid()))
        self.model.on_msg(self._on_message)

    def next_number(self) -> int:
        """What the page calls a run's messages by: shorter than its key and session."""
        return next(self._numbers)

    def send(self, message: Any) -> None:
        if self.model.comm is None:  # somebody called Widget.close_all()
            self._open()
        self.model.send(message)

    def follow(self, handle: Handle) -> Channel:
        """Shows a run that is under way."""
        channel = Channel(self, handle.key, handle.name, handle.events)
        self._keep(channel)
        channel.follow(handle)
        return channel

    def console_of(self, name: str) -> list[Json] | None:
        """What the page of the newest run of that name has logged; None when no such run was shown."""
        shown = [channel for channel in self._channels.values() if channel.name == name]
        return shown[-1].console if shown else None

    def knows(self, key: str, session: str) -> bool:
        channel = self._channels.get(key)
        return channel is not None and channel.session == session

    def adopt(self, run: Run) -> str:
        """Makes a finished run known to the page; gives the mark to display it by.

        Runs of the same request share a key, and the newest holds it: older ones get a mark of their own. One
        whose files were changed by hand is nothing the page has heard of, and is shown frozen.
        """
        if run.given_files is not None or not run.events:
            return ""
        for number in itertools.count(1):
            mark = run.key if number == 1 else f"{run.key}.{number}"
            if mark not in self._channels:
                self._open_channel(mark, run)
            if self._channels[mark].session == run.id:
                break
        return mark

    def _open_channel(self, mark: str, run: Run) -> None:
        channel = Channel(self, mark, run.name, all_events(run))
        channel.conclude(run)
        channel.outlet.sent = len(channel.events)
        channel.model = ", ".join(dict.fromkeys(one.model for one in run.variants or (run,)))
        self._keep(channel)

    def _keep(self, channel: Channel) -> None:
        self._channels.pop(channel.key, None)
        self._channels[channel.key] = channel
        finished = [key for key, old in self._channels.items() if old.handle is None or old.handle.done]
        for key in finished[: max(0, len(self._channels) - KEPT_RUNS)]:
            del self._channels[key]

    def _on_message(self, model: Any, content: Any, buffers: Any) -> None:
        # Some kernels handle comm messages in another thread, with another loop.
        if threading.get_ident() == self._thread:
            self._handle(content)
        else:
            self._loop.call_soon_threadsafe(self._handle, content)

    def _handle(self, content: Any) -> None:
        if not isinstance(content, dict) or content.get("kind") != "command":
            return
        answer: Json = {"kind": "answer", "id": content.get("id")}
        try:
            answer |= {"ok": True, **(self._perform(content) or {})}
        except AgentError as error:
            answer |= {"ok": False, "error": str(error)}
        self.send(answer)
        if answer["ok"] and content.get("command") in ("hello", "resync"):
            channel = self._find(content)
            if channel is not None:
                channel.replay()

    def _find(self, content: Json) -> Channel | None:
        """By the run's key; by the number of its messages where the page has heard no more than that."""
        run = str(content.get("run"))
        if run.startswith("#"):
            return next((c for c in self._channels.values() if f"#{c.outlet.number}" == run), None)
        return self._channels.get(run)

    def _perform(self, content: Json) -> Json | None:
        channel = self._find(content)
        if channel is None:
            raise ConfigError("This kernel does not know that run.")
        command = self._commands.get(str(content.get("command")))
        if command is None:
            raise ConfigError(f"There is no command {content.get('command')!r}.")
        return command(channel, content)

    def _hello(self, channel: Channel, message: Json) -> Json:
        client = str(message.get("client"))
        channel.owner = channel.owner or client
        channel.seen.set()
        channel.flush()
        return {
            "session": channel.session,
            "meta": to_wire(channel.meta),
            "owner": channel.owner == client,
            "last": len(channel.events),
        }

    def _resync(self, channel: Channel, message: Json) -> None:
        channel.flush()

    def _stop(self, channel: Channel, message: Json) -> None:
        if channel.handle is not None:
            channel.handle.stop(number=_variant(message) + 1 if "variant" in message else None)

    def _pick(self, channel: Channel, message: Json) -> None:
        if channel.on_pick is None:
            raise ConfigError(f"Pick it in the notebook: `{channel.name}.pick({_variant(message) + 1})`.")
        channel.on_pick(_variant(message) + 1)

    def _approve(self, channel: Channel, message: Json) -> None:
        channel.answer(
            _variant(message),
            str(message.get("call_id")),
            Answer(True, str(message.get("note") or "")),
            always=bool(message.get("always")),
        )

    def _deny(self, channel: Channel, message: Json) -> None:
        answer = Answer(False, str(message.get("note") or ""))
        channel.answer(_variant(message), str(message.get("call_id")), answer)

    def _preview_report(self, channel: Channel, message: Json) -> None:
        entries = message.get("entries")
        if isinstance(entries, list):
            about = [entry for entry in entries if isinstance(entry, dict)]
            channel.console = [*channel.console, *about][-KEPT_ENTRIES:]


def _variant(message: Json) -> int:
    return int(message.get("variant") or 0)


_hub: Hub | None = None


def hub() -> Hub:
    """The kernel's hub, made with the first run that somebody watches."""
    global _hub  # noqa: PLW0603 - one per kernel is the point
    if _hub is None:
        _hub = Hub()
    return _hub


def existing_hub() -> Hub | None:
    return _hub


def needs_view() -> bool:
    """Front ends that load a widget's code only with a view of it."""
    return "google.colab" in sys.modules or bool(os.environ.get("VSCODE_PID"))
