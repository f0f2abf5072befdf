"""One run as the hub knows it: its stream to the page, and what the page's commands act on."""

import asyncio
import base64
import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import count

from agent_nb._base.constants import is_demo
from agent_nb._base.secrets import safe_text
from agent_nb._base.wire import Json, to_wire
from agent_nb.engine.approval import Answer, Ask, nobody_to_ask
from agent_nb.engine.handle import Handle
from agent_nb.errors import ConfigError
from agent_nb.event_list import EventList
from agent_nb.events import ApprovalRequested, Event, MessageAdded, UsageUpdated
from agent_nb.files import Files
from agent_nb.looking.element_look import ElementRequest
from agent_nb.looking.page_check import CheckRequest, PageConsole, ViewerUnavailableError, console_of
from agent_nb.notebook.failures import FailedCell, PlainCell
from agent_nb.notebook.live.open_questions import Questions, Scope
from agent_nb.notebook.live.viewer import LiveViewer
from agent_nb.notebook.page.store import store_of
from agent_nb.notebook.retry_cells import fix_of, repeats, retry_cells
from agent_nb.notebook.session import default_model, settings
from agent_nb.render import bundle
from agent_nb.render.preview import TooLargeError, assembled
from agent_nb.render.summary import ready_line, run_digest
from agent_nb.run.annotations import Annotation, safe_annotations
from agent_nb.run.protocol import JOINED_SECONDS, Encoder, Meta, Ready, bound_names
from agent_nb.run.record import all_events
from agent_nb.run.run import Run
from agent_nb.run_settings import header_words

FIRST_HELLO = 1.5
"""Seconds that a page has to say hello before the run is shown without it."""
PATIENCE = 5.0
"""Seconds from the start of the run that a page has before questions are asked without it, or nobody looks."""
POLL = 0.1
CHECK_PATIENCE = 70.0
"""Seconds that the page has to look at a page. It does so for one variant after the other, 30 s each at most."""

Send = Callable[[Json], None]
_check_ids = count(1)
_numbers = count(1)
_windows: dict[str, int] = {}


def window_number(client: str) -> int:
    """What a window is called in messages that all of them get."""
    return _windows.setdefault(client, len(_windows) + 1)


INTERVAL = 0.04
"""Seconds between two batches: text that arrives 25 times a second looks continuous."""
FIRST_CHECKPOINT = 256
"""Number of events after which everything is sent again if no page has answered yet."""
MESSAGE_SECONDS = 1 / 300
"""Average seconds between two messages of all runs together. JupyterLab handles about 700 messages a second."""
BURST = 0.1
"""Seconds by which messages may be ahead of that average, so that a few runs never wait for each other."""
OFF_SCREEN = 1.0
"""Seconds between two batches of a run that no window has on screen: the messages are for those that somebody sees."""
MAX_PAGE = 3_000_000


class Pace:
    """Spreads the batches of many runs over time, so that the page can keep up with all of them."""

    def __init__(self) -> None:
        self._taken_until = -math.inf

    def delay(self, now: float) -> float:
        """Counts one more batch; returns the seconds that it has to wait."""
        waiting = max(0.0, self._taken_until - now)
        self._taken_until = now + waiting + MESSAGE_SECONDS
        return max(0.0, waiting - BURST)


_PACE, _OFF_SCREEN_PACE = Pace(), Pace()


class RunStream:
    """Sends one run to the page, and knows what has been sent."""

    def __init__(
        self, run_id: str, events: EventList, meta: Meta, send: Callable[[Json], None], pace: Pace = _PACE
    ) -> None:
        self.run_id, self.events, self.meta = run_id, events, meta
        self.watched = asyncio.Event()
        """Set once a page has asked for this run."""
        self.windows: dict[str, bool] = {}
        """Whether each window has the run on screen, as far as they have said."""
        self._send, self._pace = send, pace
        self._encoder = Encoder()
        self._sent = 0
        self._ready: Ready | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._next_batch = -math.inf
        """The earliest time of the next batch, on the monotonic clock."""
        self._next_checkpoint = FIRST_CHECKPOINT
        self._lock = threading.RLock()
        """Held while events are encoded and sent: code that blocks the loop has them sent by another thread."""

    def on_event(self, event: Event) -> None:
        """Schedules the batch that will carry this event."""
        # These two need not be seen at once: they are sent with the next event.
        if self._timer is None and not isinstance(event, MessageAdded | UsageUpdated):
            now = time.monotonic()
            wait, pace = (0.0, self._pace) if self.on_screen else (OFF_SCREEN, _OFF_SCREEN_PACE)
            delay = max(self._next_batch - now, wait + pace.delay(now))
            self._timer = asyncio.get_running_loop().call_later(delay, self.flush)

    @property
    def on_screen(self) -> bool:
        """Whether somebody may see the run: front ends that do not say count as if they showed it."""
        return not self.windows or any(self.windows.values())

    def set_on_screen(self, window: str, *, on_screen: bool) -> None:
        """A window has scrolled to the run, or away from it. What it has not got is sent at once."""
        self.windows[window] = on_screen
        if on_screen:
            self.flush()

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.send_new()

    def send_new(self) -> None:
        """Like `flush`, but can be called in any thread while the loop is blocked."""
        with self._lock:
            self._send_new()

    def _send_new(self) -> None:
        new = self.events[self._sent :]
        first, count = self._sent + 1, len(new)
        if count == 0:
            return
        self._next_batch = time.monotonic() + INTERVAL
        # A run that is sent late keeps its pace for a replay on the page.
        span = JOINED_SECONDS if first == 1 else math.inf
        events = self._encoder.encode(new, span)
        self._sent += count
        batch = {"kind": "batch", "run_id": self.run_id, "first": first, "last": self._sent, "events": events}
        self._send({**batch, "meta": to_wire(self.meta)} if first == 1 else batch)
        if self._sent >= self._next_checkpoint and not self.watched.is_set():
            # On older kernels a page cannot ask while the cell runs: it catches up from these.
            self._next_checkpoint = self._sent * 2
            self.send_all()

    def send_all(self) -> None:
        """Sends the run from its first event, for a page that has missed some of it."""
        with self._lock:
            if self._sent:
                self._send_new()  # all that pages need which have the rest
            self._encoder, self._sent = Encoder(), 0
            self._send_new()
        if self._ready is not None:
            self._send_ready(self._ready)

    def finish(self, ready: Ready) -> None:
        self.meta = replace(self.meta, digest=ready.digest, failed_check=ready.failed_check)
        self.flush()
        self._ready = ready
        self._send_ready(ready)

    def set_annotations(self, annotations: tuple[Annotation, ...]) -> None:
        """Sends the run again if its notes have changed. A page that has all events takes only the notes."""
        if self.meta.annotations != annotations:
            self.meta = replace(self.meta, annotations=annotations)
            self.send_all()

    def set_undone(self, undone: Iterable[str]) -> None:
        """Tells all pages which names are no longer what a call left in them."""
        self.meta = replace(self.meta, undone=(*self.meta.undone, *undone))
        self.send_all()

    def set_running_code(self, variants: tuple[int, ...]) -> None:
        self.meta = replace(self.meta, running_code=variants)
        self._send({"kind": "running_code", "run_id": self.run_id, "variants": list(variants)})

    def send_bound(self, variant: int, message: Json) -> None:
        """Sends a message to a view of the bound page of a variant."""
        self._send({"kind": "bound", "run_id": self.run_id, "variant": variant, "message": message})

    def send_check(self, window: int, check_id: str, request: CheckRequest | ElementRequest) -> None:
        """Asks that window to look at a page of the run, or at elements of any page, which is sent with it."""
        check: Json = {"kind": "check", "run_id": self.run_id, "window": window, "check_id": check_id}
        if isinstance(request, CheckRequest):
            page: Json = {"variant": request.variant, "widths": list(request.widths)}
        else:
            try:
                html = safe_text(assembled(request.files, request.path, MAX_PAGE))
            except TooLargeError:
                raise ViewerUnavailableError("it is too large.") from None
            page = {
                "variant": 0,
                "widths": [request.width],
                "selectors": list(request.selectors),
                "html": html,
            }
        self._send({**check, **page, "path": request.path})

    def _send_ready(self, ready: Ready) -> None:
        self._send({"kind": "ready", "run_id": self.run_id, **to_wire(ready)})


class LiveRun:
    """A run that the page can show: one that is under way, or one that has ended."""

    def __init__(self, stream: RunStream, handle: Handle | None = None, result: Run | None = None) -> None:
        self.stream, self.handle, self.result = stream, handle, result
        self.window = ""
        """The browser window that was the last to show the run, by a word that it alone knows: it looks at pages."""
        self._writer = ""
        """The window that writes the result into the notebook where the kernel's update has not reached it."""
        self.cell = ""
        """The cell that started it, as the user wrote it; empty if unknown."""
        self.failure: FailedCell | PlainCell | None = None
        """The cell that `%agent fix` or `explain` is about."""
        self.in_background = False
        self.cell_id = ""
        """The cell's id in its notebook; empty if unknown."""
        self.refused = False
        """Whether a front end has said that it shows no widgets."""
        self._started = time.monotonic()
        self._consoles: dict[int, PageConsole] = {}
        """What the previewed pages of the variants have logged; kept here for `run.console`."""
        self.on_pick: Callable[[int], None] | None = None
        self.questions = Questions(handle.problems_of) if handle else Questions()
        self.ask_otherwise: Ask | None = None
        self._checks: dict[str, tuple[str, asyncio.Future[Json]]] = {}
        """The open checks: the window that was asked, and its report to come."""

    @classmethod
    def following(cls, handle: Handle, send: Send, *, network: bool = False) -> "LiveRun":
        """A run that is under way; with `network` its live preview may load from any https address."""
        meta = replace(
            _meta(handle.key, handle.name, handle.model),
            network=network,
            running_code=handle.running_code,
            bound=bound_names(handle.settings),
            connected=store_of(handle.id, 0) is not None,
            repeats=repeats(handle.settings),
            about=header_words(handle.settings),
        )
        stream = RunStream(handle.id, handle.events, meta, send)
        run = cls(stream, handle=handle)
        handle.approve_with(run.ask)
        handle.subscribe(stream.on_event)
        if isinstance(handle.viewer, LiveViewer):
            handle.viewer.attach(run.look)
        return run

    @classmethod
    def finished(cls, run: Run, key: str, send: Send) -> "LiveRun":
        """A run that has ended, under a key of its own if the newest run of the same request holds `run.key`."""
        model = ", ".join(dict.fromkeys(one.model for one in run.variants or (run,)))
        meta = replace(
            _meta(key, run.name, model),
            digest=run_digest(run),
            bound=bound_names(run.settings),
            connected=store_of(run.id, run.variant) is not None,
            repeats=repeats(run.settings, is_loaded=True),
            about=header_words(run.settings),
            failed_check=safe_text(run.failed_check),
            annotations=safe_annotations(run.annotations),
            numbers=run.answer_numbers,
        )
        return cls(RunStream(run.id, all_events(run), meta, send), result=run)

    @property
    def id(self) -> str:
        return self.stream.run_id

    @property
    def key(self) -> str:
        return self.stream.meta.key

    @property
    def name(self) -> str:
        return self.stream.meta.name

    @property
    def done(self) -> bool:
        return self.handle is None or self.handle.done

    def check_variant(self, variant: int) -> None:
        """Raises `ConfigError` if there is no such variant, counted from 0."""
        finished = len(self.result.variants) if self.result else 0
        count = self.handle.count if self.handle is not None else finished
        if not 0 <= variant < count and not (self.result and variant == self.result.variant):
            raise ConfigError(f"There is no variant {variant + 1}; this run has 1 to {max(1, count)}.")

    def announce_ready(
        self, run: Run, files_name: str | None, *, picked: bool = False, paths: Sequence[str] = ()
    ) -> None:
        """Tells the page that the variables are set, and where the run was saved."""
        self.result = run
        again, others = retry_cells(run, self.cell)
        ready = Ready(
            line=ready_line(run, files_name, picked=picked),
            files_name=files_name,
            variant=run.variant,
            picked=picked,
            paths=tuple(paths),
            digest=run_digest(run),
            again=again,
            others=others,
            failed_check=safe_text(run.failed_check),
            numbers=run.answer_numbers,
            fix=fix_of(run, self.failure),
        )
        self.stream.finish(ready)

    def show_annotations(self, run: Run) -> None:
        self.stream.set_annotations(safe_annotations(run.annotations))

    def output(self, client: str) -> Json:
        """The frozen result by MIME type, for one window: in a shared notebook, a second would write it twice."""
        if self.result is None:
            raise ConfigError("The run has not ended yet.")
        self._writer = self._writer or client
        if client != self._writer:
            raise ConfigError("Another window writes the result into the notebook.")
        return {**bundle(replace(self.result, key=self.key))}

    async def ask(self, request: ApprovalRequested) -> Answer:
        """Asks the user through the page; if no page shows up, in another way, or else the answer is no."""
        if self.questions.is_approved(request):
            return Answer(True, by="always")
        self.stream.flush()
        if await self._finds_page():
            return await self.questions.ask(request)
        if self.ask_otherwise is None:
            raise nobody_to_ask()
        return await self.ask_otherwise(request)

    def answer(self, place: tuple[int, str], answer: Answer, scope: Scope) -> None:
        """Passes on what the user answered, given the variant and the call."""
        self.questions.answer(place, answer, scope)
        if scope == "run":
            self.let_code_run(place[0], allowed=True)

    def let_code_run(self, variant: int, *, allowed: bool) -> None:
        """Allows all code of a variant for this run, or asks again about each call."""
        if self.handle is not None:
            self.handle.let_code_run(variant, allowed=allowed)
            self.stream.set_running_code(self.handle.running_code)

    async def is_watched(self, seconds: float) -> bool:
        """Whether a page shows the run. Waits so many seconds for one."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stream.watched.wait(), seconds)
        return self.stream.watched.is_set()

    async def _finds_page(self) -> bool:
        """Whether a page shows the run. Waits while one may still come."""
        deadline = max(time.monotonic() + FIRST_HELLO, self._started + PATIENCE)
        while not await self.is_watched(POLL):
            if time.monotonic() > (self._started + FIRST_HELLO if self.refused else deadline):
                return False
        return True

    async def look(self, request: CheckRequest | ElementRequest) -> Json:
        """The report about a page, from the window that was the last to show the run."""
        self.stream.flush()
        if not await self._finds_page():
            raise ViewerUnavailableError("no browser shows this run.")
        report: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        check_id = str(next(_check_ids))
        self._checks[check_id] = self.window, report
        try:
            self.stream.send_check(window_number(self.window), check_id, request)
            return await asyncio.wait_for(report, CHECK_PATIENCE)
        except TimeoutError:
            raise ViewerUnavailableError("the person's browser does not answer.") from None
        finally:
            del self._checks[check_id]

    def checked(self, client: str, check_id: str, report: Json | str) -> None:
        asked, check = self._checks.get(check_id, ("", None))
        if check is None or check.done() or client != asked:
            raise ConfigError("That check is not expected.")
        if isinstance(report, str):
            check.set_exception(ViewerUnavailableError(report))
        else:
            check.set_result(report)

    def use_bound(self, variant: int, message: Json | None) -> None:
        """Passes on what a view of a bound page sends."""
        store = store_of(self.id, variant)
        if store is None:
            raise ConfigError("This kernel has bound nothing to that page. Run its cell again.")
        view = message.get("view") if message else None
        store.receive(message, lambda answer: self.stream.send_bound(variant, {**answer, "view": view}))

    def console(self, variant: int | None = None) -> PageConsole:
        """What the page of a variant has logged, by default of the one that the variable has."""
        if variant is None:
            variant = self.result.variant if self.result else 0
        return self._consoles.setdefault(variant, console_of(self.id, variant))

    def report(self, variant: int, entries: object) -> Json:
        """Keeps what the page of a variant has logged, and says under which numbers."""
        valid = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        return {"numbers": [self.console(variant).add(entry) for entry in valid]}

    def file(self, variant: int, path: str, version: int | None = None) -> Json:
        """A version of a file for the page, the newest by default: text without secrets, or bytes in base64."""
        handle = self.handle if self.result is None else None
        files = handle.files_of(variant) if handle else self.finished_result(variant).files
        content = _content(files, path, version)
        if isinstance(content, bytes):
            return {"base64": base64.b64encode(content).decode()}
        return {"text": safe_text(content)}

    def cells(self, variant: int) -> Json:
        """The code of a finished variant as cells, with what it gave in the run."""
        cells = self.finished_result(variant).to_cells()
        return {
            "cells": [
                {"kind": cell.kind, "source": cell.source, "outputs": [*cell.outputs]} for cell in cells
            ]
        }

    def keep(self, variant: int) -> Json:
        """Writes the cells to a notebook file, for a page that cannot insert them."""
        path = self.finished_result(variant).to_notebook(f"{self.name}.ipynb")
        return {"text": f"Wrote {path.name}, with the outputs of the run"}

    def element(self, variant: int, path: str, file: str | None) -> Json:
        """Where an element of a finished variant's page stands in the source, and what wrote it."""
        element = self.finished_result(variant).element(path, file or None)
        where: Json = {name: getattr(element, name) for name in ("path", "file", "line", "place", "turn")}
        return {**where, "edit": safe_text(element.edit)}

    def finished_result(self, variant: int) -> Run:
        if self.result is None:
            raise ConfigError("The run has not ended.")
        if self.result.variant == variant:
            return self.result
        return self.result.variants[variant]


def _content(files: Files, path: str, version: int | None) -> str | bytes:
    if path not in files.paths:
        raise ConfigError(f"There is no file {path!r}.")
    versions = files.versions(path)
    number = len(versions) if version is None else version
    content = versions[number - 1] if 0 < number <= len(versions) else None
    if content is None:
        raise ConfigError(f"There is no version {number} of the file {path!r}.")
    return content


def _meta(key: str, name: str, model: str) -> Meta:
    demo = all(is_demo(one) for one in model.split(", "))
    return Meta(
        key=key,
        name=name,
        model=model,
        demo=demo,
        magic=settings().magic_name,
        default_model=default_model(),
        number=next(_numbers),
        folds=settings().fold_runs,
        stage=settings().stage,
    )
