"""Sends the events of a run to the page, in batches."""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from agent_nb._base.secrets import safe_text
from agent_nb._base.wire import Json, to_wire
from agent_nb.event_list import EventList
from agent_nb.events import Event, MessageAdded, UsageUpdated
from agent_nb.looking.element_look import ElementRequest
from agent_nb.looking.page_check import CheckRequest, ViewerUnavailableError
from agent_nb.render.preview import TooLargeError, assembled
from agent_nb.run.annotations import Annotation
from agent_nb.run.encoder import JOINED_SECONDS, Encoder
from agent_nb.run.protocol import Meta, Ready

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
        """Sends the events that have not been sent."""
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
        """The run has ended and its variables are set."""
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
        """Tells all pages in which variants code runs without asking."""
        self.meta = replace(self.meta, running_code=variants)
        self._send({"kind": "running_code", "run_id": self.run_id, "variants": list(variants)})

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
