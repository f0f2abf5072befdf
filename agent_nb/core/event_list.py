"""A memory-efficient sequence of a run's events.

Most events are deltas of a few characters, and an object with number, time and offset takes several times as much
memory as its text. So all but the newest deltas are packed, and recreated on access.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, count, islice, pairwise, takewhile
from typing import Any, TypeVar, cast, overload

from agent_nb._base.wire import each_from_wire
from agent_nb.core.events import BaseEvent, Delta, Event, FileDelta, TextDelta, ThinkingDelta, ToolArgsDelta

PACKED = 512
"""Events per packed block. As many of the newest stay unpacked, because readers are not far behind."""
FEWEST = 4
"""Minimum number of deltas to pack."""
_TEXTS = (TextDelta, ThinkingDelta)

A = TypeVar("A", bound=BaseEvent)
B = TypeVar("B", bound=BaseEvent)


class EventList(Sequence[Event]):
    """The events of a run, in order. It equals a list or tuple of the same events.

    One thread may append while others read.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._blocks: list[Event | _Deltas] = []
        self._starts: list[int] = []
        self._open: tuple[int, list[Event]] = (0, [])
        """The number of events in blocks, and the unpacked events after them."""
        for event in events:
            self.append(event)

    @classmethod
    def from_wire(cls, data: Any) -> "EventList":
        return cls(each_from_wire(Event, data))

    def append(self, event: Event) -> None:
        newest = self._open[1]
        newest.append(event)
        if len(newest) >= 2 * PACKED:
            self._pack(PACKED)

    def packed(self) -> "EventList":
        """Return a copy with all events packed. It shares the existing blocks."""
        copy = EventList()
        blocks, newest = self._parts()
        copy._blocks, copy._starts = blocks, self._starts[: len(blocks)]
        copy._open = len(self) - len(newest), newest
        copy._pack(len(newest))
        return copy

    @overload
    def of(self, kind: type[A], /) -> Iterator[A]: ...
    @overload
    def of(self, kind: type[A], other: type[B], /) -> Iterator[A | B]: ...
    def of(self, *kinds: Any) -> Iterator[Any]:
        """Yield the events of one or two classes. Faster than a full loop, because packed deltas are skipped."""
        blocks, newest = self._parts()
        for block in blocks:
            if isinstance(block.first if isinstance(block, _Deltas) else block, kinds):
                yield from _events_in(block)
        yield from (event for event in newest if isinstance(event, kinds))

    def __len__(self) -> int:
        packed, newest = self._open
        return packed + len(newest)

    def __iter__(self) -> Iterator[Event]:
        blocks, newest = self._parts()
        for block in blocks:
            yield from _events_in(block)
        yield from newest

    def __reversed__(self) -> Iterator[Event]:
        blocks, newest = self._parts()
        yield from reversed(newest)
        for block in reversed(blocks):
            yield from reversed(_events_in(block))

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return [self[position] for position in range(start, stop, step)]
            return list(islice(self._from(start), max(0, stop - start)))
        return next(self._from(range(len(self))[index]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EventList | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(left == right for left, right in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<EventList: {len(self)} events>"

    def _from(self, start: int) -> Iterator[Event]:
        packed, newest = self._open
        if start < packed:
            first = bisect_right(self._starts, start) - 1
            skipped = start - self._starts[first]
            for block in self._blocks[first : bisect_left(self._starts, packed)]:
                yield from _events_in(block)[skipped:]
                skipped = 0
        yield from newest[max(0, start - packed) :]

    def _parts(self) -> tuple[list["Event | _Deltas"], list[Event]]:
        """Return a consistent snapshot of the blocks and the events after them."""
        packed, newest = self._open
        return self._blocks[: bisect_left(self._starts, packed)], newest

    def _pack(self, number: int) -> None:
        start, newest = self._open
        events = newest[:number]
        for first, end in delta_groups(events):
            group = events[first:end]
            if len(group) < FEWEST:
                self._blocks += group
                self._starts += range(start + first, start + end)
            else:
                self._blocks.append(_Deltas(cast("Sequence[Delta]", group)))
                self._starts.append(start + first)
        self._open = start + number, newest[number:]


class _Deltas:
    """Consecutive deltas of one text: the first delta, and the differences of the others."""

    __slots__ = ("ends", "first", "text", "times")

    def __init__(self, deltas: Sequence[Delta]) -> None:
        texts = [delta.text for delta in deltas]
        self.first = deltas[0]
        self.text = "".join(texts).encode("utf-8", "surrogatepass")
        self.ends = array("I", accumulate(map(len, texts)))
        self.times = array("d", (delta.at for delta in deltas))

    def events(self) -> list[Event]:
        first, kind = self.first, type(self.first)
        common: dict[str, Any] = {"run_id": first.run_id, "variant": first.variant}
        if isinstance(first, ToolArgsDelta | FileDelta):
            common["call_id"] = first.call_id
        text = self.text.decode("utf-8", "surrogatepass")
        texts = [text[start:end] for start, end in pairwise((0, *self.ends))]
        items = zip(count(first.seq), self.times, texts)
        if isinstance(first, FileDelta):
            common["path"] = first.path
            offsets = accumulate(map(len, texts), initial=first.offset)
            return [
                FileDelta(seq=seq, at=at, offset=offset, text=text, **common)
                for offset, (seq, at, text) in zip(offsets, items)  # noqa: B905 - one offset more
            ]
        return [kind(seq=seq, at=at, text=text, **common) for seq, at, text in items]


def _events_in(block: "Event | _Deltas") -> list[Event]:
    return block.events() if isinstance(block, _Deltas) else [block]


def last_turn(events: Sequence[Event]) -> EventList:
    """Return the events after the last start or retry of a turn."""
    begins = ("turn_started", "turn_retrying")  # sought from the end: the last turn is usually short
    return EventList([*takewhile(lambda event: event.type not in begins, reversed(events))][::-1])


def continues(event: Event, previous: Event) -> bool:
    """Whether the event is a delta that continues the text of `previous`, where that ends."""
    if type(event) is not type(previous) or event.variant != previous.variant:
        return False
    if isinstance(event, FileDelta) and isinstance(previous, FileDelta):
        is_next = event.offset == previous.offset + len(previous.text)
        return is_next and event.path == previous.path and event.call_id == previous.call_id
    if isinstance(event, ToolArgsDelta) and isinstance(previous, ToolArgsDelta):
        return event.call_id == previous.call_id
    return isinstance(event, _TEXTS)


def delta_groups(events: Iterable[Event]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each group of consecutive deltas of one text. Other events are groups of their own."""
    start = end = 0
    previous: Event | None = None
    for end, event in enumerate(events):
        if previous is not None and not (
            event.seq == previous.seq + 1 and event.run_id == previous.run_id and continues(event, previous)
        ):
            yield start, end
            start = end
        previous = event
    if previous is not None:
        yield start, end + 1
