"""The events of a run, in order, for its subscribers. A `Journal` also stamps them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any

from agent_nb._base.log import log
from agent_nb.core.event_list import EventList
from agent_nb.core.events import BaseEvent, Event
from agent_nb.providers.base import Clock

OBSERVERS: list[Callable[[], Callable[[Event], None]]] = []
"""Factories of observers such as tracers. Each run gets its own, which is called with every event, on its loop."""

DELTA_SECONDS = 0.04
"""Most seconds of a text in one delta: text updated 25 times a second looks continuous."""


def end_of_delta(now: float) -> float:
    """When a delta that begins now ends. Those of several runs end together, so that they can be sent together."""
    return (now // DELTA_SECONDS + 1) * DELTA_SECONDS


class EventLog:
    """Events in the order they were published. Subscribers that raise do not affect the run."""

    def __init__(self) -> None:
        self.events = EventList()
        self._subscribers: list[Callable[[Event], None]] = []
        self._news = asyncio.Event()
        self._closed = False
        self.on_interrupt: Callable[[], None] | None = None

    def subscribe(self, subscriber: Callable[[Event], None]) -> None:
        for event in self.events:
            self._notify(subscriber, event)
        self._subscribers.append(subscriber)

    async def __aiter__(self) -> AsyncIterator[Event]:
        position = 0
        while not self._closed or position < len(self.events):
            if position == len(self.events):
                self._news.clear()
                await self._news.wait()
            else:
                position += 1
                yield self.events[position - 1]

    def close(self) -> None:
        self._closed = True
        self._news.set()

    def publish(self, event: Any) -> Any:
        self.events.append(event)
        for subscriber in self._subscribers:
            self._notify(subscriber, event)
        self._news.set()
        return event

    def _notify(self, subscriber: Callable[[Event], None], event: Event) -> None:
        try:
            subscriber(event)
        except KeyboardInterrupt:
            if self.on_interrupt is None:
                raise
            self.on_interrupt()
        except (Exception, SystemExit):  # the caller's code must not break the run
            log.exception("a subscriber failed on %s; the run continues", event.type)


class Journal(EventLog):
    """The events of one run, stamped with a gapless `seq` and the time since its start."""

    def __init__(self, run_id: str, variant: int, clock: Clock) -> None:
        super().__init__()
        self.run_id, self.variant, self.clock = run_id, variant, clock
        self._seq = 0
        self.at = 0.0
        """Time of the last `tick`. Work between ticks counts as instant, so that scripted runs have fixed times."""
        self._now, self._started = clock.now, clock.now()
        self._holds, self._held_at = 0, 0.0
        self._fragments: list[str] = []
        """What has come of the next delta."""
        self._fragments_at = self._due = 0.0
        self._write: Callable[[str], None] | None = None

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Pause the run's clock while a question to the user is open. Reentrant."""
        if not self._holds:
            self._held_at = self._now()
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            if not self._holds:
                self._started += self._now() - self._held_at

    def elapsed(self) -> float:
        return (self._held_at if self._holds else self._now()) - self._started

    def tick(self) -> None:
        now = self._held_at if self._holds else self._now()
        self.at = int((now - self._started) * 1000 + 0.5) / 1000

    def emit(self, kind: type[BaseEvent], **fields: Any) -> Any:
        self.flush()
        self._seq += 1
        return self.publish(
            kind(run_id=self.run_id, seq=self._seq, at=self.at, variant=self.variant, **fields)
        )

    def emit_now(self, kind: type[BaseEvent], **fields: Any) -> Any:
        self.tick()
        return self.emit(kind, **fields)

    def collect(self, fragment: str, write: Callable[[str], None]) -> None:
        """Emit a fragment with `write`, joined with those that soon follow. The first of a text is emitted at once."""
        if write is not self._write:
            self.flush()
            self._write, self._due = write, 0.0
        if self._fragments:
            self._fragments.append(fragment)
        elif (now := self._now()) >= self._due:
            self._due = end_of_delta(now)
            write(fragment)
        else:
            self._fragments, self._fragments_at = [fragment], self.at
            self.clock.call_at(self._due, partial(self._end_delta, self._due))

    def _end_delta(self, end: float) -> None:
        self.flush()
        self._due = max(self._due, end + DELTA_SECONDS)

    def flush(self) -> None:
        """Emit the fragments collected so far, with the time of the first."""
        if self._write is None or not self._fragments:
            return
        text, self._fragments = "".join(self._fragments), []
        now, self.at = self.at, self._fragments_at
        self._write(text)
        self.at = now
