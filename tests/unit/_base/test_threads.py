"""Blocking work: in a thread, or inline where no thread can be started."""

import asyncio
import contextvars
import threading

import pytest

from agent_nb._base import threads
from agent_nb._base.threads import has_threads, in_thread, off_loop, start_thread


@pytest.fixture
def no_threads(monkeypatch):
    """Threads as Pyodide has them: the module is there, and `start` raises."""

    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    threads.has_threads.cache_clear()
    yield
    threads.has_threads.cache_clear()


def where() -> int:
    return threading.get_ident()


async def test_work_leaves_the_loop_where_there_are_threads() -> None:
    assert has_threads()
    assert await off_loop(where) != where()
    assert await in_thread(where) != where()
    done = threading.Event()
    thread = start_thread("test", done.set)
    assert thread is not None
    assert thread.daemon
    assert done.wait(10)


@pytest.mark.usefixtures("no_threads")
async def test_work_runs_inline_where_there_are_none() -> None:
    assert await off_loop(where) == where()
    assert await in_thread(where) == where()
    assert start_thread("test", where) is None


@pytest.mark.usefixtures("no_threads")
@pytest.mark.parametrize("way", [off_loop, in_thread])
async def test_inline_work_lets_the_loop_go_first_and_fails_as_in_a_thread(way) -> None:
    order: list[str] = []
    asyncio.get_running_loop().call_soon(order.append, "sent before")

    def fails() -> None:
        order.append("work")
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        await way(fails)
    assert order == ["sent before", "work"]


@pytest.mark.usefixtures("no_threads")
async def test_inline_work_changes_no_context_of_its_caller() -> None:
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable", default=0)
    await in_thread(lambda: variable.set(1))
    await off_loop(variable.set, 2)
    assert variable.get() == 0
