"""Keeps what all code shares intact while tools run: built-in functions, modules and the standard streams.

A tool that closes `sys.stdout` or replaces `print` would otherwise break every later cell of the notebook.
"""

import builtins
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from agent_nb._base.secrets import mask

_BUILTINS = tuple(
    name
    for name, value in vars(builtins).items()
    if getattr(value, "__module__", None) == "builtins" and name != "input"  # ipykernel sets it for each cell
)
_MODULES = ("asyncio", "threading", "signal")
_STREAMS = ("stdout", "stderr")


class SharedState:
    """Built-in functions and modules at one moment, and the way back to it."""

    def __init__(self) -> None:
        self._builtins = {name: vars(builtins)[name] for name in _BUILTINS if name in vars(builtins)}
        self._modules = {name: sys.modules[name] for name in _MODULES if name in sys.modules}

    def put_back(self) -> list[str]:
        """Undoes replacements; returns a sentence about them, if there were any."""
        changed = [*_restore(vars(builtins), self._builtins), *_restore(sys.modules, self._modules)]
        names = ", ".join(f"`{name}`" for name in changed)
        return [f"It replaced {names} for all code; that was put back."] if changed else []


class _Stream:
    """A standard stream while tools run: it masks secrets, and cannot be closed."""

    def __init__(self, name: str, is_guarded: Callable[[], bool]) -> None:
        self._name, self._stream, self._is_guarded = name, getattr(sys, name), is_guarded
        self._write = self._stream.write
        self._close = getattr(self._stream, "close", bool)  # JupyterLite's streams have nothing to close
        self._closed = False
        self._hooks = {"write": self._masked_write, "close": self._note_close}
        self._before = {name: vars(self._stream).get(name) for name in self._hooks}
        vars(self._stream).update(self._hooks)

    def put_back(self, *, alone: bool) -> list[str]:
        """Undoes what was done to the stream; other calls may have redirected it for themselves if not `alone`."""
        notes = [f"It closed `sys.{self._name}`, which was kept open."] if self._closed else []
        self._closed = False
        current = getattr(sys, self._name)
        if current is not self._stream and (alone or current is None or getattr(current, "closed", False)):
            setattr(sys, self._name, self._stream)
            notes.append(f"It replaced `sys.{self._name}`; that was put back.")
        return notes

    def unhook(self) -> None:
        """Removes the hooks, unless others have put theirs on top; what then stays behind only passes on."""
        own = vars(self._stream)
        for name, hook in self._hooks.items():
            if own.get(name) == hook:
                if self._before[name] is None:
                    del own[name]
                else:
                    own[name] = self._before[name]

    def _masked_write(self, text: Any) -> Any:
        if not self._is_guarded() or not isinstance(text, str):
            return self._write(text)
        self._write(mask(text))
        return len(text)

    def _note_close(self) -> None:
        if self._is_guarded():
            self._closed = True
        else:
            self._close()


class _Guard:
    """Shared by all calls that run at the same time; the first one notes the state, which each one puts back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0
        self._state = SharedState()
        self._streams: list[_Stream] = []

    @contextlib.contextmanager
    def kept(self, notes: list[str]) -> Iterator[None]:
        """Around a call of a tool. Adds sentences about what the tool has changed to the notes."""
        with self._lock:
            if not self._calls:
                self._state = SharedState()
                self._streams = [
                    _Stream(name, lambda: self._calls > 0) for name in _STREAMS if _can_hook(name)
                ]
            self._calls += 1
        directory = current_directory()
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                notes += self._put_back()
            if (now := current_directory()) != directory:
                notes.append(f"The working directory is now {now}.")

    def _put_back(self) -> Iterator[str]:
        yield from self._state.put_back()
        for stream in self._streams:
            yield from stream.put_back(alone=not self._calls)
            if not self._calls:
                stream.unhook()


kept_intact = _Guard().kept


def current_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "a folder that has been deleted"


def _restore(current: dict[str, Any], before: dict[str, Any]) -> list[str]:
    changed = [name for name, value in before.items() if current.get(name) is not value]
    current.update({name: before[name] for name in changed})
    return changed


def _can_hook(name: str) -> bool:
    stream = getattr(sys, name)
    return stream is not None and hasattr(stream, "__dict__")
