"""Runs one call: sync tools in a thread of their own, a time limit, and a door that closes behind it.

A tool that hangs must hold up nothing: not the loop, not its shutdown, not the exit of the kernel. So a sync
tool gets a daemon thread, and one that outlives its call can no longer change files or report progress.
"""

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future as ThreadFuture
from dataclasses import replace
from typing import Any, TypeVar

from agent_nb._base.wire import Json
from agent_nb.errors import ToolError
from agent_nb.files import Change, Content, Files, Workspace
from agent_nb.tools.base import Tool, ToolContext

T = TypeVar("T")

_abandoned: set["asyncio.Future[Any]"] = set()
"""Calls that were given up but still run; the loop alone would let them be collected."""


async def call(tool: Tool, args: Json, context: ToolContext) -> Any:
    """What the tool's `run` gives, or raises; a ToolError past its time limit."""
    door = _Door(context)
    work = asyncio.create_task(_work(tool, args, door.context))
    try:
        await asyncio.wait({work}, timeout=tool.timeout)
        if not work.done():
            raise ToolError(
                f"`{tool.name}` did not end within {tool.timeout:g} seconds.",
                code="TIMEOUT",
                hint="Ask it for less.",
            )
        if work.cancelled():
            raise ToolError(f"`{tool.name}` cancelled itself.")
        return work.result()
    finally:
        door.close()
        if not work.done():
            _abandon(work)


async def _work(tool: Tool, args: Json, context: ToolContext) -> Any:
    try:
        if inspect.iscoroutinefunction(tool.run):
            return await tool.run(args, context)
        result = await in_thread(lambda: tool.run(args, context))
        return await result if isinstance(result, Awaitable) else result
    except SystemExit as error:  # it would end the loop, and with it the kernel
        raise RuntimeError(f"the tool tried to exit with {error.code!r}") from None


async def in_thread(function: Callable[[], T]) -> T:
    """The function's result from a daemon thread; with `asyncio.to_thread` a hanging one blocks the exit."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[tuple[T | None, BaseException | None]] = loop.create_future()
    copied = contextvars.copy_context()

    def deliver(result: T | None, error: BaseException | None) -> None:
        if not arrived.done():
            arrived.set_result((result, error))

    def work() -> None:
        result, error = None, None
        try:
            result = copied.run(function)
        except BaseException as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(deliver, result, error)

    threading.Thread(target=work, name="agent_nb tool", daemon=True).start()
    result, error = await arrived
    if error is not None:
        raise error if isinstance(error, Exception | SystemExit) else RuntimeError(repr(error))
    return result  # type: ignore[return-value]


def _abandon(work: "asyncio.Future[Any]") -> None:
    def forget(done: "asyncio.Future[Any]") -> None:
        _abandoned.discard(done)
        if not done.cancelled():
            done.exception()  # seen, so that asyncio does not complain about it

    _abandoned.add(work)
    work.add_done_callback(forget)
    work.cancel()


class _Door:
    """The context as one call sees it: usable from any thread, until it is closed."""

    def __init__(self, context: ToolContext) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._progress = context.progress
        self._closed = False
        files = _CallFiles(context.files, self, context.call_id)
        self.context = replace(context, files=files, progress=self._report)

    def close(self) -> None:
        self._closed = True

    def on_loop(self, function: Callable[[], T]) -> T:
        """The function's result, had on the loop's thread, so that changes are told in one order."""
        if threading.get_ident() == self._thread:
            return self._inside(function)
        answer: ThreadFuture[T] = ThreadFuture()

        def answered() -> None:
            try:
                answer.set_result(self._inside(function))
            except Exception as error:
                answer.set_exception(error)

        self._loop.call_soon_threadsafe(answered)
        return answer.result()

    def _inside(self, function: Callable[[], T]) -> T:
        if self._closed:
            raise ToolError("This call has ended: it can change nothing any more.")
        return function()

    def _report(self, line: str) -> None:
        def show() -> None:
            if not self._closed:
                self._progress(line)

        if threading.get_ident() == self._thread:
            show()
        else:
            self._loop.call_soon_threadsafe(show)


class _CallFiles(Workspace):
    """The run's workspace through a call's door; changes carry the call's id."""

    def __init__(self, workspace: Workspace, door: _Door, call_id: str | None) -> None:
        self._workspace, self._door, self._call_id = workspace, door, call_id

    @property
    def files(self) -> Files:
        return self._workspace.files

    def write(self, path: str, content: Content, call_id: str | None = None) -> Change:
        return self._door.on_loop(lambda: self._workspace.write(path, content, call_id or self._call_id))

    def delete(self, path: str, call_id: str | None = None) -> Change:
        return self._door.on_loop(lambda: self._workspace.delete(path, call_id or self._call_id))
