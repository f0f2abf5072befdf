"""A cache of values that are costly to make: the most recently used, up to a number of bytes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

OVERHEAD = 500
"""Roughly the bytes that an entry takes in addition to its data."""


class HasData(Protocol):
    @property
    def data(self) -> bytes: ...


Made = TypeVar("Made", bound=HasData)


class Cache:
    """Values by key. Use digests as keys, so that the cache does not keep what the values were made from."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        return self._bytes

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """The cached value, or a new one. If two threads make it at once, one of the two is kept."""
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
