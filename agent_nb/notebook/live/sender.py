"""Sends a run's events to the page: joined, packed, and no more often than a person can see.

News go at once, up to twenty messages a second. A few more words of what is being written wait a little for
others, because the message around them would weigh more than they do.
"""

import asyncio
import math
from collections.abc import Callable
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.events import Delta, Event, MessageAdded, UsageUpdated
from agent_nb.notebook.live.feed import Feed
from agent_nb.notebook.live.packing import Packer

INTERVAL = 0.05
"""Seconds between two messages to the page: it cannot draw faster, and each message costs."""
GATHER = 0.3
"""Seconds that words may wait for more of them."""
ENOUGH = 480
"""Characters that wait no longer."""
NAMED_EVERY = 32
"""Messages after which one says again whose it is and where it stands: a page that lost one finds out by it."""


class Pace:
    """Decides when the next message goes."""

    def __init__(self, flush: Callable[[], None]) -> None:
        self._flush = flush
        self._timer: asyncio.TimerHandle | None = None
        self._last = -math.inf
        self._soon = False
        self._characters = 0
        self._writing: dict[int, tuple[type, str]] = {}
        """The kind and the call of what each variant is writing."""

    def tell(self, event: Event) -> None:
        if self._soon:
            return
        if isinstance(event, Delta):
            place = type(event), getattr(event, "call_id", "")
            self._characters += len(event.text)
            self._soon = self._characters >= ENOUGH or self._writing.get(event.variant) != place
            self._writing[event.variant] = place
        elif isinstance(event, MessageAdded | UsageUpdated):
            return  # never news by themselves: they go with what comes next
        else:
            self._soon = True
        if self._timer is not None:
            if not self._soon:
                return
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        wait = self._last + (INTERVAL if self._soon else GATHER) - loop.time()
        self._timer = loop.call_later(max(0.0, wait), self._flush)

    def sent(self) -> None:
        """Everything so far has gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._last = asyncio.get_running_loop().time()
        self._soon, self._characters = False, 0


class Outlet:
    """One run's way to the page. `head` tells what a message that stands alone begins with."""

    def __init__(self, number: int, events: list[Event], head: Callable[[], Json]) -> None:
        self.number, self.sent = number, 0
        self._events, self._head = events, head
        self._feed, self._packer = Feed(within=math.inf), Packer()
        self._unnamed = 0

    def more(self, *, named: bool = True) -> Any:
        """The message that tells what has happened since the last one; None when nothing has.

        It need not be `named` when the message before it was of this outlet, too.
        """
        first, last = self.sent + 1, len(self._events)
        if last < first:
            return None
        events = self._feed.project(self._events[self.sent :])
        self.sent = last
        if first == 1:
            return self._whole(first, last, events)
        count = last - first + 1
        if not named and self._unnamed < NAMED_EVERY:
            words = self._packer.words(events, count)
            if words is not None:
                self._unnamed += 1
                return words
        self._unnamed = 0
        return [self.number, first, count, *self._packer.more(events)]

    def again(self) -> Json:
        """The message that tells everything sent so far."""
        return self._whole(1, self.sent, Feed().project(self._events[: self.sent]))

    def _whole(self, first: int, last: int, events: list[Json]) -> Json:
        told = {"kind": "batch", **self._head(), "channel": self.number, "first": first, "last": last}
        return {**told, "events": self._packer.anew(events)}
