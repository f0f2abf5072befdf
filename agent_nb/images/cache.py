"""What was costly to make, kept for the next time: the newest of it, up to a number of bytes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

OVERHEAD = 500
"""Bytes that an entry takes beside its data, roughly."""


class HasData(Protocol):
    @property
    def data(self) -> bytes: ...


Made = TypeVar("Made", bound=HasData)


class Cache:
    """Values by key. Whoever keys them by a digest does not hold on to what they were made from."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        return self._bytes

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """The value kept under the key, else a new one. Two threads may make it at once: one is kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                found: Made = self._values[key]
                return found
        made = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = made
                self._bytes += _weight(made)
            while self._bytes > self._max_bytes:
                _, oldest = self._values.popitem(last=False)
                self._bytes -= _weight(oldest)
        return made


def _weight(value: HasData) -> int:
    return len(value.data) + OVERHEAD
