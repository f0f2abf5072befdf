"""A run in the hub: its event stream to the page, and the state that page commands act on."""

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

from agent_nb._base.constants import CHANGE_TYPE, is_demo
from agent_nb._base.secrets import exact
from agent_nb._base.wire import Json, to_wire
from agent_nb.core.errors import ConfigError
from agent_nb.core.event_list import EventList
from agent_nb.core.events import ApprovalRequested, Event, MessageAdded, ToolFinished, UsageUpdated
from agent_nb.core.run_settings import header_words
from agent_nb.engine.approval import Answer, Ask, nobody_to_ask
from agent_nb.engine.handle import Handle
from agent_nb.engine.journal import end_of_delta
from agent_nb.files.cell_changes import ChangeDecision
from agent_nb.notebook.failures import FailedCell, PlainCell
from agent_nb.notebook.live.open_questions import Questions
from agent_nb.notebook.live.viewer import LiveViewer
from agent_nb.notebook.notebook_tools.proposals import offer_fix, proposals, with_decisions
from agent_nb.notebook.page.pages import store_of
from agent_nb.notebook.retry_cells import repeats, retry_cells
from agent_nb.notebook.session import default_model, settings
from agent_nb.pages.page_check import PageConsole, ViewerUnavailableError, console_of
from agent_nb.render.shown import shown_features
from agent_nb.render.summary import ready_line, run_digest
from agent_nb.run.protocol import (
    AsAccepted,
    Encoder,
    Meta,
    Ready,
    bound_names,
    decided_rows,
    event_wire,
)
from agent_nb.run.record import all_events
from agent_nb.run.run import Run

FIRST_HELLO = 1.5
"""Seconds to wait for a page's hello before the run is shown without it."""
PATIENCE = 5.0
"""Seconds from the start of the run to wait for a page before approvals and page checks fall back."""
POLL = 0.1
CHECK_PATIENCE = 70.0
"""Timeout in seconds for a page check. Variants are checked one after the other, at most 30 s each."""

Send = Callable[[Json], None]
_check_ids = count(1)
_numbers = count(1)
_windows: dict[str, int] = {}
AFTER_DELTAS = 0.002
"""Seconds from the end of the deltas of all variants to the batch with them."""
FIRST_CHECKPOINT = 32
"""Number of events after which everything is sent again if no page has answered yet."""
MESSAGE_SECONDS = 1 / 300
"""Average seconds between two messages of all runs together. JupyterLab handles about 700 messages a second."""
BURST = 0.1
"""Seconds by which messages may run ahead of that average, so that a few runs never wait for each other."""
OFF_SCREEN = 1.0
"""Seconds between two batches of a run that is not on screen in any window."""


def window_number(client: str) -> int:
    """The number that identifies a window in messages to all windows."""
    return _windows.setdefault(client, len(_windows) + 1)


class Pace:
    """Spreads the batches of many runs over time, so that the page can keep up with all of them."""

    def __init__(self) -> None:
        self._taken_until = -math.inf

    def delay(self, now: float) -> float:
        """Register a batch; return the seconds to wait before sending it."""
        waiting = max(0.0, self._taken_until - now)
        self._taken_until = now + waiting + MESSAGE_SECONDS
        return max(0.0, waiting - BURST)


_PACE, _OFF_SCREEN_PACE = Pace(), Pace()


class RunStream:
    """Sends the events of one run to the page, and tracks the ones already sent."""

    def __init__(self, run_id: str, events: EventList, meta: Meta, send: Send, pace: Pace = _PACE) -> None:
        self.run_id, self.events, self.meta = run_id, events, meta
        self.watched = asyncio.Event()
        """Set once a page has asked for this run."""
        self.windows: dict[str, bool] = {}
        """Whether the run is on screen, for each window that has reported it."""
        self._send, self._pace = send, pace
        self._new_encoder: Callable[[], Encoder] = Encoder
        self._encoder = Encoder()
        self._sent = 0
        self._ready: Ready | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._next_batch = -math.inf
        """The earliest time of the next batch, on the monotonic clock."""
        self._next_checkpoint = FIRST_CHECKPOINT
        self._lock = threading.RLock()
        """Guards encoding and sending: while code blocks the loop, another thread sends."""

    def encode_with(self, as_accepted: AsAccepted) -> None:
        self._new_encoder = partial(Encoder, as_accepted)
        self._encoder = self._new_encoder()

    def on_event(self, event: Event) -> None:
        """Schedule the batch that will carry this event."""
        # These two are not urgent: they are sent with the next event.
        if self._timer is None and not isinstance(event, MessageAdded | UsageUpdated):
            now = time.monotonic()
            wait, pace = (0.0, self._pace) if self.on_screen else (OFF_SCREEN, _OFF_SCREEN_PACE)
            delay = max(self._next_batch - now, wait + pace.delay(now))
            self._timer = asyncio.get_running_loop().call_later(delay, self.flush)

    @property
    def on_screen(self) -> bool:
        """Whether the run may be visible. Front ends that do not report it count as showing it."""
        return not self.windows or any(self.windows.values())

    def set_on_screen(self, window: str, *, on_screen: bool) -> None:
        """Record whether the run is on screen in a window; if so, send pending events at once."""
        self.windows[window] = on_screen
        if on_screen:
            self.flush()

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.send_new()

    def send_new(self) -> None:
        """Like `flush`, but can be called from any thread, even while the event loop is blocked."""
        with self._lock:
            first, pending = self._sent + 1, self.events[self._sent :]
            if not pending:
                return
            self._next_batch = end_of_delta(time.monotonic()) + AFTER_DELTAS
            events = self._encoder.encode(pending)
            self._sent += len(pending)
            meta = {"meta": to_wire(self.meta)} if first == 1 else {}
            self.tell("batch", first=first, last=self._sent, events=events, **meta)
            if self._sent >= self._next_checkpoint and not self.watched.is_set():
                # On older kernels a page cannot request events while the cell runs: it catches up from these.
                self._next_checkpoint = self._sent * 2
                self.send_all()

    def send_all(self) -> None:
        """Send the run from its first event, for a page that has missed events."""
        with self._lock:
            if self._sent:
                self.send_new()  # for pages that have all earlier events
            self._encoder, self._sent = self._new_encoder(), 0
            self.send_new()
        if self._ready is not None:
            self.tell("ready", **to_wire(self._ready))

    def finish(self, ready: Ready) -> None:
        self.meta = replace(self.meta, digest=ready.digest, failed_check=ready.failed_check)
        self.flush()
        self._ready = ready
        self.tell("ready", **to_wire(ready))

    def update(self, **fields: Any) -> None:
        """Send the run again if these fields of its `meta` change. A page that has all events applies only them."""
        if (meta := replace(self.meta, **fields)) != self.meta:
            self.meta = meta
            self.send_all()

    def tell(self, kind: str, **fields: Any) -> None:
        """Send a message about this run to all windows."""
        self._send({"kind": kind, "run_id": self.run_id, **fields})


class LiveRun:
    """A running or finished run that the page can show."""

    def __init__(self, stream: RunStream, handle: Handle | None = None, result: Run | None = None) -> None:
        self.stream, self.handle, self.result = stream, handle, result
        self.id, self.key, self.name = stream.run_id, stream.meta.key, stream.meta.name
        self.window = ""
        """Secret id of the browser window that last showed the run; that window checks pages."""
        self.writer = ""
        """The window that writes the result into the notebook if the kernel's update did not arrive."""
        self.cell = ""
        """The cell that started it, as the user wrote it; empty if unknown."""
        self.load = ""
        """The command that loads it in a new kernel; empty if it is not saved."""
        self.failure: FailedCell | PlainCell | None = None
        """The cell that `%agent fix` or `explain` is about."""
        self.cell_id = ""
        """The cell's id in its notebook; empty if unknown."""
        self.refused = False
        """Whether a front end has reported that it cannot show widgets."""
        self._started = time.monotonic()
        self._consoles: dict[int, PageConsole] = {}
        """Console output of the previewed pages, by variant, for `run.console`."""
        self.on_pick: Callable[[int], None] | None = None
        self.on_decide: Callable[[Run], None] | None = None
        self.questions = Questions(handle.problems_of, handle.consent) if handle else Questions()
        self.ask_otherwise: Ask | None = None
        self.checks: dict[str, tuple[str, asyncio.Future[Json]]] = {}
        """Open checks: the window, and the future for its report."""
        self.offers: dict[int, tuple[str, tuple[list[str], str]]] = {}
        """What the last card of Apply has shown, by variant, after its id: the code, and why it should not run now."""

    @classmethod
    def following(cls, handle: Handle, send: Send, *, network: bool = False) -> "LiveRun":
        """Wrap a running run; with `network`, its live preview may load any https URL."""
        meta = replace(
            _meta(handle, handle.key, handle.model, is_own=not handle.settings.get("replayed")),
            network=network,
            running_code=handle.running_code,
            connected=store_of(handle.id, 0) is not None,
            reviewable=not handle.settings.get("replayed"),
        )
        stream = RunStream(handle.id, handle.events, meta, send)
        run = cls(stream, handle=handle)
        stream.encode_with(run._as_accepted)
        handle.approve_with(run.ask)
        handle.subscribe(stream.on_event)
        if isinstance(viewer := handle.runs[0].prepared.viewer, LiveViewer):
            viewer.inspect = run.look
        return run

    @classmethod
    def finished(cls, run: Run, key: str, send: Send) -> "LiveRun":
        """Wrap a finished run under `key`: `run.key`, or another key if a newer run of the request has that one."""
        model = ", ".join(dict.fromkeys(variant.model for variant in run.variants or (run,)))
        meta = replace(
            _meta(run, key, model, is_own=False),
            digest=run_digest(run),
            connected=store_of(run.id, run.variant) is not None,
            failed_check=run.failed_check,
            annotations=run.annotations,
            decided=decided_rows(run.decided),
            features=shown_features(run),
        )
        return cls(RunStream(run.id, all_events(run), meta, send), result=run)

    @property
    def done(self) -> bool:
        return self.handle is None or self.handle.done

    def check_variant(self, variant: int) -> None:
        """Raise `ConfigError` if there is no such variant, counted from 0."""
        variant_count = len(self.result.variants) if self.result else 0
        count = self.handle.count if self.handle is not None else variant_count
        if not 0 <= variant < count and not (self.result and variant == self.result.variant):
            raise ConfigError(f"There is no variant {variant + 1}; this run has 1 to {max(1, count)}.")

    def announce_ready(
        self, run: Run, files_name: str | None, *, picked: bool = False, paths: Sequence[str] = ()
    ) -> None:
        """Inform the page that the variables are set, and where the run was saved."""
        self.result = run
        self.stream.update(decided=decided_rows(run.decided))
        again, others = retry_cells(run, self.cell)
        ready = Ready(
            line=ready_line(run, files_name, picked=picked),
            variant=run.variant,
            picked=picked,
            paths=tuple(paths),
            digest=run_digest(run),
            again=again,
            others=others,
            failed_check=run.failed_check,
            features=shown_features(run),
            fix=offer_fix(run, self.failure, self.questions.consent),
        )
        self.stream.finish(ready)

    def _as_accepted(self, event: Event, wire: Json) -> Json:
        """The wire form of an event, in which questions and offered changes are `Exact`."""
        match event:
            case ApprovalRequested():
                wire = exact(event_wire(self.questions.consent.as_shown(event)))
            case ToolFinished():
                changes = [bundle for bundle in wire.get("outputs", ()) if CHANGE_TYPE in bundle]
                for bundle in changes:
                    bundle[CHANGE_TYPE] = proposals.as_shown(bundle[CHANGE_TYPE], self.questions.consent)
        return wire

    def decide(self, decisions: Mapping[str, ChangeDecision]) -> None:
        """Record the user's decisions about changes of cells in the run, and inform all pages."""
        if self.result is None:
            return
        self.result = with_decisions(self.result, {**self.result.decided, **decisions})
        self.stream.update(decided=decided_rows(self.result.decided))
        if self.on_decide is not None:
            self.on_decide(self.result)

    async def ask(self, request: ApprovalRequested) -> Answer:
        """Ask the user through the page, falling back to `ask_otherwise`; raises if nobody can be asked."""
        self.stream.flush()
        if await self._finds_page():
            return await self.questions.ask(request)
        if self.ask_otherwise is None:
            raise nobody_to_ask(
                "It needs your approval, and nobody is there to ask: trust the notebook to be asked in it."
            )
        return await self.ask_otherwise(request)

    def let_code_run(self, variant: int, *, allowed: bool) -> None:
        """Allow all code of a variant for this run, or ask again about each call."""
        if self.handle is not None:
            self.handle.let_code_run(variant, allowed=allowed)
            variants = self.handle.running_code
            self.stream.meta = replace(self.stream.meta, running_code=variants)
            self.stream.tell("running_code", variants=[*variants])

    async def is_watched(self, seconds: float) -> bool:
        """Whether a page shows the run; waits at most `seconds` for one."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stream.watched.wait(), seconds)
        return self.stream.watched.is_set()

    async def _finds_page(self) -> bool:
        """Whether a page shows the run; waits while one may still connect."""
        deadline = max(time.monotonic() + FIRST_HELLO, self._started + PATIENCE)
        while not await self.is_watched(POLL):
            if time.monotonic() > (self._started + FIRST_HELLO if self.refused else deadline):
                return False
        return True

    async def look(self, page: Json) -> Json:
        """The report on a page, from the window that last showed the run."""
        self.stream.flush()
        if not await self._finds_page():
            raise ViewerUnavailableError("no browser shows this run.")
        report: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        check_id = str(next(_check_ids))
        self.checks[check_id] = self.window, report
        try:
            self.stream.tell("check", window=window_number(self.window), check_id=check_id, **page)
            return await asyncio.wait_for(report, CHECK_PATIENCE)
        except TimeoutError:
            raise ViewerUnavailableError("the user's browser did not respond.") from None
        finally:
            del self.checks[check_id]

    def console(self, variant: int | None = None) -> PageConsole:
        """The page console of a variant, by default of the one in the variable."""
        if variant is None:
            variant = self.result.variant if self.result else 0
        return self._consoles.setdefault(variant, console_of(self.id, variant))

    def finished_result(self, variant: int) -> Run:
        if self.result is None:
            raise ConfigError("The run has not ended.")
        if self.result.variant == variant:
            return self.result
        return self.result.variants[variant]


def _meta(run: Handle | Run, key: str, model: str, *, is_own: bool) -> Meta:
    demo = all(map(is_demo, model.split(", ")))
    suggestions: tuple[tuple[str, ...], ...] = ()
    if demo:
        from agent_nb.demo.brief import suggestions_for  # slow to import

        variants = run.count if isinstance(run, Handle) else len(run.variants) or 1
        suggestions = suggestions_for(run.prompt, variants)
    return Meta(
        key=key,
        name=run.name,
        model=model,
        demo=demo,
        magic=settings().magic_name,
        default_model=default_model() if is_own else "",
        repeats=repeats(run.settings, is_own=is_own),
        number=next(_numbers),
        folds=settings().fold_runs,
        stage=settings().stage,
        bound=bound_names(run.settings),
        about=header_words(run.settings),
        suggestions=suggestions,
    )
