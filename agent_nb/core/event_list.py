"""The events of a run, and their order."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, TypeVar, overload

from agent_nb._base.wire import each_from_wire
from agent_nb.core.events import BaseEvent, Event, FileDelta, TextDelta, ThinkingDelta, ToolArgsDelta

A = TypeVar("A", bound=BaseEvent)
B = TypeVar("B", bound=BaseEvent)


class EventList(list[Event]):
    """The events of a run, in order. One thread may append while others read."""

    @classmethod
    def from_wire(cls, data: Any) -> "EventList":
        return cls(each_from_wire(Event, data))

    @overload
    def of(self, kind: type[A], /) -> Iterator[A]: ...
    @overload
    def of(self, kind: type[A], other: type[B], /) -> Iterator[A | B]: ...
    def of(self, *kinds: Any) -> Iterator[Any]:
        """Yield the events of one or two classes."""
        return (event for event in self if isinstance(event, kinds))

    def __repr__(self) -> str:
        return f"<EventList: {len(self)} events>"


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
    return isinstance(event, TextDelta | ThinkingDelta)
