"""Runs blocking work in a thread, or inline where threads are unavailable, as in a browser."""

import asyncio
import contextlib
import contextvars
import functools
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future, InvalidStateError
from typing import Any, ParamSpec, TypeVar

from agent_nb._base.constants import IN_BROWSER

P = ParamSpec("P")
T = TypeVar("T")
_loops: dict[tuple[str, int], asyncio.AbstractEventLoop] = {}
_making = threading.Lock()
TICK = 0.05


@functools.cache
def has_threads() -> bool:
    """Whether threads can be started. Python in a browser has the module, but `start` raises."""
    try:
        threading.Thread(target=bool, name="agent_nb probe", daemon=True).start()
    except RuntimeError:
        return False
    return True


def start_thread(name: str, function: Callable[[], object]) -> threading.Thread | None:
    """Start a daemon thread, which does not delay the process exit; None without thread support."""
    if not has_threads():
        return None
    thread = threading.Thread(target=function, name=f"agent_nb {name}", daemon=True)
    thread.start()
    return thread


def background_loop(name: str) -> asyncio.AbstractEventLoop:
    """Return the event loop of this name, in its own thread. A forked process gets a new one."""
    with _making:
        key = name, os.getpid()
        if key not in _loops:
            _loops[key] = asyncio.new_event_loop()  # not `asyncio.run`, which nest-asyncio2 replaces
            start_thread(name, _loops[key].run_forever)
        return _loops[key]


async def off_loop(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Like `asyncio.to_thread`; without thread support the function runs inline and blocks the event loop."""
    if has_threads():
        return await asyncio.to_thread(function, *args, **kwargs)  # noqa: TID251
    await asyncio.sleep(0)  # lets the page show pending messages first
    return contextvars.copy_context().run(function, *args, **kwargs)


async def in_thread(function: Callable[[], T]) -> T:
    """Like `off_loop`, for tools that may hang: threads of `asyncio.to_thread` would then block the exit."""
    future: Future[T] = Future()
    copied = contextvars.copy_context()

    def work() -> None:
        with contextlib.suppress(InvalidStateError):  # the caller was cancelled
            try:
                future.set_result(copied.run(function))
            except BaseException as error:
                # asyncio accepts no StopIteration, and a KeyboardInterrupt would end the loop.
                passes = isinstance(error, Exception | SystemExit) and not isinstance(error, StopIteration)
                future.set_exception(error if passes else RuntimeError(f"it raised {error!r}"))

    if start_thread("tool", work) is None:
        asyncio.get_running_loop().call_soon(work)
    return await asyncio.wrap_future(future)


async def uncancelled(work: Awaitable[T], on_cancel: Callable[[], object] = lambda: None) -> T:
    """Await the work to its end. A cancellation of the caller calls `on_cancel` instead, each time."""
    task = asyncio.ensure_future(work)
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            on_cancel()
    return task.result()


@contextlib.contextmanager
def ticking() -> Iterator[None]:
    """Wake the running loop every `TICK` seconds during the block to notice interrupts: callbacks scheduled by a signal
    handler do not wake it."""
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle

    def tick() -> None:
        nonlocal timer
        timer = loop.call_later(TICK, tick)

    tick()
    try:
        yield
    finally:
        timer.cancel()


class CannotBlockError(RuntimeError):
    """Synchronous code cannot wait for a coroutine on a browser's event loop."""

    def __init__(self) -> None:
        super().__init__(
            "In a browser, synchronous code cannot wait for a run: use `await agent.run(...)`, and write `%%agent` "
            "in the first line of its cell."
        )


def running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to completion, even inside a running loop. An interrupt cancels it and is re-raised."""
    if (loop := running_loop()) is None:
        return asyncio.run(work)
    if IN_BROWSER:
        work.close()
        raise CannotBlockError
    import nest_asyncio2

    nest_asyncio2.apply(loop)
    task = loop.create_task(work)
    try:
        return loop.run_until_complete(task)
    except BaseException:
        if not task.done():
            task.cancel()
            loop.run_until_complete(asyncio.wait([task]))
        raise
