"""Delivers the page's messages while a marimo cell awaits.

marimo's kernel handles one request at a time, so a widget's messages wait until the cell has ended, and Stop or an
answer to a question would come too late. The messages lie in a queue until then: marimo has it to merge the updates
of a slider that is being dragged. Here they are read from it and put back, so that marimo still handles them all. The
widget ignores those that it has seen.
"""

import asyncio
import contextlib
import inspect
import queue
from collections.abc import AsyncIterator, Callable
from typing import Any

from marimo._runtime.context import safe_get_context

from agent_nb._base.wire import Json

INTERVAL = 0.05
"""Seconds between two looks into the queue."""

Receive = Callable[[Json], None]


class Inbox:
    """The messages of one kernel to the widgets that listen. Several runs of a cell share it."""

    def __init__(self, waiting: Any) -> None:
        self._queue = waiting
        self._read: list[Any] = []
        """What was taken out of the queue."""
        self.listeners: dict[str, Receive] = {}
        self._reader: asyncio.Task[None] | None = None

    def add(self, model_id: str, receive: Receive) -> None:
        self.listeners[model_id] = receive
        self._reader = self._reader or asyncio.get_running_loop().create_task(self._keep_reading())

    def remove(self, model_id: str) -> None:
        """The last one to leave puts everything back."""
        self.read()
        del self.listeners[model_id]
        if self._reader is not None and not self.listeners:
            self._reader.cancel()
            self._reader = None
            for request in self._read:
                self._queue.put_nowait(request)
            self._read.clear()

    def read(self) -> None:
        """Delivers what has arrived."""
        # `empty()` of a multiprocessing queue is unreliable.
        with contextlib.suppress(queue.Empty, asyncio.QueueEmpty):
            while True:
                request = self._queue.get_nowait()
                self._read.append(request)
                receive = self.listeners.get(getattr(request, "model_id", ""))
                content = getattr(getattr(request, "message", None), "content", None)
                if receive is not None and isinstance(content, dict):
                    receive(content)

    async def _keep_reading(self) -> None:
        while True:
            self.read()
            await asyncio.sleep(INTERVAL)


_inboxes: dict[int, Inbox] = {}
"""By the identity of the queue: `marimo run` has a kernel for each visitor, in one process."""


@contextlib.asynccontextmanager
async def listening(model_id: str, receive: Receive) -> AsyncIterator[None]:
    """Calls `receive` with the content of each message to a widget while the cell awaits, if marimo lets us."""
    waiting = _waiting()
    if waiting is None:
        yield
        return
    inbox = _inboxes.setdefault(id(waiting), Inbox(waiting))
    inbox.add(model_id, receive)
    try:
        yield
    finally:
        inbox.remove(model_id)
        if not inbox.listeners:
            _inboxes.pop(id(waiting), None)


def _waiting() -> Any | None:
    """The queue of this kernel's UI requests; None in a script, or if this marimo keeps it elsewhere."""
    kernel = getattr(safe_get_context(), "_kernel", None)
    enqueue = getattr(kernel, "enqueue_control_request", None)
    if not inspect.isfunction(enqueue):
        return None
    return inspect.getclosurevars(enqueue).nonlocals.get("set_ui_element_queue")
