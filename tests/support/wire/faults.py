"""Faults at one event of an answer: what a broken network, proxy or vendor does to a stream."""

from collections.abc import Callable, Iterator

from tests.support.wire.dialect import Chunk, Dialect
from tests.support.wire.steps import Cut, ErrorEvent, Fault, Hold

KEY = "k3y-0f-the-tests-7f3a9c"
"""The key of the tests. Broken servers send it back."""


def with_fault(dialect: Dialect, fault: Fault | None) -> Iterator[Chunk]:
    """The chunks of an answer with the fault at its event."""
    if fault is None:
        return dialect.stream()
    chunks = list(dialect.stream())
    here = chunks[fault.index]
    assert isinstance(here, bytes)
    changed = KINDS[fault.kind](dialect, here, chunks[fault.index + 1 :])
    return iter([*chunks[: fault.index], *changed])


def _middle(dialect: Dialect, event: bytes) -> int:
    return (dialect.framing.data_start(event) + len(event)) // 2


def _corrupted(dialect: Dialect, event: bytes) -> bytes:
    """The event with one byte of its data changed so that it is not UTF-8."""
    middle = _middle(dialect, event)
    return event[:middle] + b"\xff" + event[middle + 1 :]


def _half(dialect: Dialect, event: bytes) -> bytes:
    """The event up to the middle of its data."""
    return event[: _middle(dialect, event)]


def _swapped(event: bytes, rest: list[Chunk]) -> list[Chunk]:
    return [rest[0], event, *rest[1:]] if rest else [event]


KINDS: dict[str, Callable[[Dialect, bytes, list[Chunk]], list[Chunk]]] = {
    "cut": lambda dialect, event, rest: [Cut("fin")],
    "reset": lambda dialect, event, rest: [Cut("rst")],
    "end": lambda dialect, event, rest: [Cut("eof")],
    "truncated": lambda dialect, event, rest: [_half(dialect, event), Cut("fin")],
    "torn": lambda dialect, event, rest: [_half(dialect, event), *rest],
    "garbage": lambda dialect, event, rest: [dialect.framing.frame(f"<{KEY}>}} \0"), *rest],
    "not-utf-8": lambda dialect, event, rest: [_corrupted(dialect, event), *rest],
    "duplicate": lambda dialect, event, rest: [event, event, *rest],
    "reorder": lambda dialect, event, rest: _swapped(event, rest),
    "stall": lambda dialect, event, rest: [Hold()],
    "error": lambda dialect, event, rest: [dialect.error(ErrorEvent(529, f"Overloaded: {KEY}")), *rest],
}
"""What arrives from the event on, by kind of fault.

`cut` closes the connection, `reset` aborts it, and `end` ends the body as if the answer were complete.
`truncated` closes it in the middle of a line; after `torn` the stream goes on there.
`not-utf-8` damages a byte, `error` is the vendor's own error event.
"""
