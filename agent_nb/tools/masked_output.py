"""Masks secrets in what tools print while they run."""

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

from agent_nb._base.secrets import mask


class _Stream:
    """A standard stream whose `write` masks secrets."""

    def __init__(self, stream: Any) -> None:
        self._own, self._write = vars(stream), stream.write
        self._before = self._own.get("write")
        self._own["write"] = self._masked_write

    def unhook(self) -> None:
        """Removes the hook, unless others have put theirs on top; what then stays behind masks on."""
        if self._own.get("write") == self._masked_write:
            del self._own["write"]
            if self._before is not None:
                self._own["write"] = self._before

    def _masked_write(self, text: Any) -> Any:
        if not isinstance(text, str):
            return self._write(text)
        self._write(mask(text))
        return len(text)


_lock = threading.Lock()
_calls: list[object] = []
"""The calls that run now."""
_streams: list[_Stream] = []


@contextlib.contextmanager
def masked_output() -> Iterator[None]:
    """Around a call of a tool. Calls that run at the same time share the hooks."""
    call = object()
    with _lock:
        if not _calls:
            _streams[:] = [_Stream(each) for each in (sys.stdout, sys.stderr) if hasattr(each, "__dict__")]
        _calls.append(call)
    try:
        yield
    finally:
        with _lock:
            _calls.remove(call)
            for stream in [] if _calls else _streams:
                stream.unhook()
