"""Runs one call of a tool, within its time limit.

A tool that hangs must not block the event loop, its shutdown or the exit of the kernel. So a synchronous tool
runs in a daemon thread, and a tool that outlives its call can no longer change files or report progress.
"""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from agent_nb._base.threads import in_thread
from agent_nb._base.wire import Json
from agent_nb.errors import ToolError
from agent_nb.events import MimeBundle
from agent_nb.files import Change, Content, Files, Workspace
from agent_nb.tools.base import Tool, ToolContext

T = TypeVar("T")

CLEANUP_SECONDS = 2.0
"""How long a cancelled tool may take to clean up before it is left behind. A thread cannot be cancelled."""

_abandoned: set["asyncio.Future[Any]"] = set()
"""Calls that were given up but still run; the event loop holds only weak references to tasks."""


class CallCancelled(asyncio.CancelledError):
    """The call was cancelled. A tool that ends with a `ToolError` then can leave outputs for its card."""

    def __init__(self, outputs: tuple[MimeBundle, ...]) -> None:
        super().__init__()
        self.outputs = outputs


async def invoke(tool: Tool, args: Json, context: ToolContext) -> Any:
    """Returns what the tool's `run` returns and raises what it raises; a ToolError after its time limit."""
    scope = _CallScope(context)
    work = asyncio.create_task(_work(tool, args, scope.context))
    try:
        await asyncio.wait({work}, timeout=tool.timeout)
        if not work.done():
            raise ToolError(
                f"`{tool.name}` did not finish within {tool.timeout:g} seconds.",
                code="TIMEOUT",
                hint="Ask it for less.",
            )
        if work.cancelled():
            raise ToolError(f"`{tool.name}` cancelled itself.")
        return work.result()
    except asyncio.CancelledError:
        scope.close()
        _abandon(work)
        await asyncio.wait({work}, timeout=CLEANUP_SECONDS)
        raise CallCancelled(_outputs_of(work)) from None
    finally:
        scope.close()
        if not work.done():
            _abandon(work)


async def _work(tool: Tool, args: Json, context: ToolContext) -> Any:
    try:
        if inspect.iscoroutinefunction(tool.run):
            return await tool.run(args, context)
        result = await in_thread(lambda: tool.run(args, context))
        return await result if isinstance(result, Awaitable) else result
    except (Exception, asyncio.CancelledError):
        raise
    except SystemExit as error:
        raise RuntimeError(f"the tool tried to exit with {error.code!r}") from None
    except BaseException as error:  # KeyboardInterrupt would end the event loop, and with it the kernel
        raise RuntimeError(f"the tool raised {error!r}") from None


def _outputs_of(work: "asyncio.Future[Any]") -> tuple[MimeBundle, ...]:
    failure = work.exception() if work.done() and not work.cancelled() else None
    return failure.outputs if isinstance(failure, ToolError) else ()


def _abandon(work: "asyncio.Future[Any]") -> None:
    def forget(done: "asyncio.Future[Any]") -> None:
        _abandoned.discard(done)
        if not done.cancelled():
            done.exception()  # retrieved, so that asyncio does not log it

    _abandoned.add(work)
    work.add_done_callback(forget)
    work.cancel()


class _CallScope:
    """The context of one call: usable from any thread until the call ends."""

    def __init__(self, context: ToolContext) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._closed = False
        files = _CallFiles(context.files, self, context.call_id)
        progress, show = self._reporting(context.progress), self._reporting(context.show)
        self.context = replace(context, files=files, progress=progress, show=show)

    def close(self) -> None:
        self._closed = True

    def on_loop(self, function: Callable[[], T]) -> T:
        """Runs the function on the loop's thread, so that changes are emitted in one order."""
        if threading.get_ident() == self._thread:
            return self._run_open(function)

        async def answer() -> T:
            return self._run_open(function)

        return asyncio.run_coroutine_threadsafe(answer(), self._loop).result()

    def _run_open(self, function: Callable[[], T]) -> T:
        if self._closed:
            raise ToolError("This call has ended and can no longer change files.")
        return function()

    def _reporting(self, function: Callable[[T], None]) -> Callable[[T], None]:
        """The function for any thread. It does nothing once the call has ended."""

        def report(value: T) -> None:
            if not self._closed:
                function(value)

        def from_any_thread(value: T) -> None:
            if threading.get_ident() == self._thread:
                report(value)
            else:
                self._loop.call_soon_threadsafe(report, value)

        return from_any_thread


class _CallFiles(Workspace):
    """The run's workspace as one call sees it; its changes carry the id of the call."""

    def __init__(self, workspace: Workspace, scope: _CallScope, call_id: str | None) -> None:
        self._workspace, self._scope, self._call_id = workspace, scope, call_id

    @property
    def files(self) -> Files:
        return self._workspace.files

    def write(self, path: str, content: Content, call_id: str | None = None) -> Change:
        return self._scope.on_loop(lambda: self._workspace.write(path, content, call_id or self._call_id))

    def delete(self, path: str, call_id: str | None = None) -> Change:
        return self._scope.on_loop(lambda: self._workspace.delete(path, call_id or self._call_id))
