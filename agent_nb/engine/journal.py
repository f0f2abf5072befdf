"""The events of a run, in order, for its subscribers. A `Journal` also stamps them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from agent_nb._base.log import log
from agent_nb.core.event_list import EventList
from agent_nb.core.events import BaseEvent, Event
from agent_nb.providers.base import Clock

BATCH_SECONDS = 0.005
"""Seconds over which events are batched, so that iterators do not wake up for every token."""

OBSERVERS: list[Callable[[], Callable[[Event], None]]] = []
"""Factories of observers such as tracers. Each run gets its own, which is called with every event, on its loop."""


class EventLog:
    """Events in the order they were published. Subscribers that raise do not affect the run."""

    def __init__(self) -> None:
        self.events = EventList()
        self._subscribers: list[Callable[[Event], None]] = []
        self._news = asyncio.Event()
        self._wake: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self.on_interrupt: Callable[[], None] | None = None

    def subscribe(self, subscriber: Callable[[Event], None]) -> None:
        for event in self.events:
            self._notify(subscriber, event)
        self._subscribers.append(subscriber)

    async def batches(self) -> AsyncIterator[list[Event]]:
        position = 0
        while True:
            batch = self.events[position:]
            position += len(batch)
            if batch:
                yield batch
            elif self._closed:
                return
            else:
                self._news.clear()
                await self._news.wait()

    def close(self) -> None:
        self._closed = True
        if self._wake is not None:
            self._wake.cancel()
        self._news.set()

    def publish(self, event: Any) -> Any:
        self.events.append(event)
        for subscriber in self._subscribers:
            self._notify(subscriber, event)
        self._wake_soon()
        return event

    def _wake_soon(self) -> None:
        if self._wake is None:
            self._wake = self._loop.call_later(BATCH_SECONDS, self._wake_iterators)

    def _wake_iterators(self) -> None:
        self._wake = None
        self._news.set()

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
        self._joins = bool(clock.date)
        self._fragments: list[str] = []
        self._fragments_at = 0.0
        self._write: Callable[[str], None] | None = None
        """Emits the joined fragments; None if there are none."""

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
        """Collect a fragment that `write` emits. Consecutive fragments with the same `write` are joined within a batch.

        A fast stream has dozens in a batch, and parsing and emitting each took a third of its CPU time. The fragments
        of scripted runs are not joined, so that those runs are reproducible.
        """
        if not self._joins:
            write(fragment)
            return
        if write is not self._write:
            self.flush()
            self._write, self._fragments_at = write, self.at
            self._wake_soon()
        self._fragments.append(fragment)

    def flush(self) -> None:
        """Emit the fragments collected so far, with the time of the first."""
        if self._write is None:
            return
        (write, self._write), (fragments, self._fragments) = (self._write, None), (self._fragments, [])
        now, self.at = self.at, self._fragments_at
        write("".join(fragments))
        self.at = now

    def _wake_iterators(self) -> None:
        self.flush()
        super()._wake_iterators()
