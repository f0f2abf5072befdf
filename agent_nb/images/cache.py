"""A cache of values that are costly to make: the most recently used, up to a number of bytes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

OVERHEAD = 500
"""Roughly the bytes that an entry takes in addition to its data."""

Made = TypeVar("Made", bound=Any)


class Cache:
    """Values with `data` by key. Use digests as keys, so that nothing keeps what the values were made from."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()
        self.bytes = 0

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
                self.bytes += len(made.data) + OVERHEAD
            while self.bytes > self._max_bytes:
                _, oldest = self._values.popitem(last=False)
                self.bytes -= len(oldest.data) + OVERHEAD
        return made
