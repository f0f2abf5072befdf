"""Wire events in as few bytes as the page can undo; `js/src/unpack.ts` is the other half.

A delta that goes on with the one before it is only its text. Both halves remember the same things of what was
sent, so each message that tells everything (`anew`) is a fresh start for both.
"""

import string
from collections.abc import Sequence
from typing import Any, get_args

from agent_nb._base.wire import Json
from agent_nb.events import Delta

Item = Json | str | float | list[Any]
"""An event; the text of a delta that goes on; the time of what follows; `[variant, text]` for a delta of another
variant; `[variant, cost, counts...]` for a guess at the usage."""

TIME_EVERY = 0.5
"""Seconds of the run after which words are told their time; those in between have the one told last."""
TIME_AFTER = 2_000
"""Characters after which it is told anyway: it costs little then."""

DIGITS = string.digits + string.ascii_letters
"""What the two small numbers before bare words are written with."""
TICK = 0.01
"""Seconds that the second of them counts."""

USAGE = ("input", "output", "cached_read", "cached_write", "reasoning")
_DELTAS = tuple(kind.type for kind in get_args(Delta))


class Packer:
    """Packs the events of one channel, in the order in which they are sent."""

    def __init__(self) -> None:
        self._restart()

    def _restart(self) -> None:
        self._ends: dict[int, tuple[Any, ...]] = {}
        """Where the newest delta of each variant leaves off: what goes on from there is only told as text."""
        self._variant = 0
        self._at = -TIME_EVERY
        self._characters = 0

    def anew(self, events: Sequence[Json]) -> list[Item]:
        """A message that needs none before it, with every time exact: it may be kept and played again."""
        self._restart()
        return [item for event in events for item in self._items(event, exact=True)]

    def more(self, events: Sequence[Json]) -> list[Item]:
        """What follows the messages before."""
        return [item for event in events for item in self._items(event, exact=False)]

    def words(self, events: Sequence[Json], count: int) -> str | None:
        """The same as a bare string, where nothing but the newest text goes on.

        Before the text stand how many of the run's events it is, and how long after the time told last.
        """
        if len(events) != 1 or not self._goes_on(events[0]) or events[0].get("variant", 0) != self._variant:
            return None
        (event,) = events
        ticks = max(0, round((event["at"] - self._at) / TICK))
        if max(count, ticks) >= len(DIGITS):
            return None
        self._move_on(event)
        self._at += ticks * TICK
        self._characters = 0
        return DIGITS[count] + DIGITS[ticks] + str(event["text"])

    def _goes_on(self, event: Json) -> bool:
        place = event["type"] in _DELTAS and _place(event, event.get("offset", 0))
        return place == self._ends.get(event.get("variant", 0))

    def _move_on(self, event: Json) -> None:
        self._ends[event.get("variant", 0)] = _place(event, event.get("offset", 0) + len(event["text"]))

    def _items(self, event: Json, *, exact: bool) -> list[Item]:
        variant, kind = event.get("variant", 0), event["type"]
        if kind in _DELTAS:
            goes_on = self._goes_on(event)
            self._move_on(event)
            if goes_on:
                return [*self._time(event, exact=exact), *self._text(variant, event["text"])]
            self._variant = variant
        elif kind == "usage_updated" and event["estimated"]:
            return [[variant, event["cost"] and round(event["cost"], 5), *_counts(event["usage"])]]
        self._at, self._characters = event["at"], 0
        return [event]

    def _text(self, variant: int, text: str) -> list[Item]:
        self._characters += len(text)
        if variant == self._variant:
            return [text]
        self._variant = variant
        return [[variant, text]]

    def _time(self, event: Json, *, exact: bool) -> list[Item]:
        at = event["at"]
        told = at != self._at if exact else at - self._at >= TIME_EVERY or self._characters >= TIME_AFTER
        if not told:
            return []
        self._at, self._characters = at, 0
        return [at if exact else round(at, 2)]


def _place(event: Json, offset: int) -> tuple[Any, ...]:
    return event["type"], event.get("call_id"), event.get("path"), offset if "path" in event else None


def _counts(usage: Json) -> list[int]:
    """The numbers in the order of `USAGE`, without the zeros at the end."""
    counts = [usage[name] for name in USAGE]
    while len(counts) > 1 and not counts[-1]:
        counts.pop()
    return counts
