"""The record of a run: its events in order, told to whoever follows. A `Journal` also stamps them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from agent_nb._base.log import log
from agent_nb.events import BaseEvent, Event, FileDelta
from agent_nb.providers.base import Clock

MOMENT = 0.002
"""Seconds for which events wait for each other: whoever iterates is woken once, not for every token."""


class Book:
    """Events in the order they were published, and subscribers that cannot break anything."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._subscribers: list[Callable[[Event], None]] = []
        self._news = asyncio.Event()
        self._wake: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._closed = False

    def subscribe(self, subscriber: Callable[[Event], None]) -> None:
        """Calls `subscriber` with every event, those so far first. What it raises is logged, no more."""
        for event in self.events:
            self._tell(subscriber, event)
        self._subscribers.append(subscriber)

    async def batches(self) -> AsyncIterator[list[Event]]:
        """The events as they happen, those of one moment together, until the book is closed."""
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
        """The last event has happened."""
        self._closed = True
        if self._wake is not None:
            self._wake.cancel()
        self._news.set()

    def publish(self, event: Any) -> Any:
        self.events.append(event)
        for subscriber in self._subscribers:
            self._tell(subscriber, event)
        if self._wake is None:
            self._wake = self._loop.call_later(MOMENT, self._announce)
        return event

    def _announce(self) -> None:
        self._wake = None
        self._news.set()

    def _tell(self, subscriber: Callable[[Event], None], event: Event) -> None:
        try:
            subscriber(event)
        except Exception:  # it is the caller's code: reported, and the run goes on
            log.exception("a subscriber failed on %s; the run goes on", event.type)


class Journal(Book):
    """The book of one run: gapless `seq`, the run's own time."""

    def __init__(self, run_id: str, variant: int, clock: Clock) -> None:
        super().__init__()
        self.run_id, self.variant = run_id, variant
        self.at = 0.0
        """When the run was last woken. Its own work takes no time, so a replay has the same times."""
        self._clock, self._started = clock, clock.now()

    def elapsed(self) -> float:
        return self._clock.now() - self._started

    def tick(self) -> None:
        """Events from now on happen now."""
        self.at = int((self._clock.now() - self._started) * 1000 + 0.5) / 1000

    def emit(self, kind: type[BaseEvent], **fields: Any) -> Any:
        seq = len(self.events) + 1
        return self.publish(kind(run_id=self.run_id, seq=seq, at=self.at, variant=self.variant, **fields))

    def emit_now(self, kind: type[BaseEvent], **fields: Any) -> Any:
        self.tick()
        return self.emit(kind, **fields)

    def emit_file(self, call_id: str, path: str, offset: int, text: str) -> None:
        """`emit(FileDelta, ...)` without a dict in between: there is one for nearly every token."""
        self.publish(
            FileDelta(
                run_id=self.run_id,
                seq=len(self.events) + 1,
                at=self.at,
                variant=self.variant,
                call_id=call_id,
                path=path,
                offset=offset,
                text=text,
            )
        )
