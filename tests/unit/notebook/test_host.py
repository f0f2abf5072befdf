"""Whether a person is watching, the ticking loop, and Ctrl-C in a terminal."""

import asyncio
import os
import signal
import sys
import threading

from agent_nb._base.threads import ticking
from agent_nb.notebook.front_end import is_attended, is_watched, needs_view, on_interrupt
from tests.support.shells import in_kernel


def test_a_terminal_is_attended_and_nbclient_is_not(shell):
    assert is_attended(shell.ipython)
    assert is_attended(in_kernel(allow_stdin=True))
    assert not is_attended(in_kernel(allow_stdin=False))


async def test_only_a_kernel_of_a_server_asks_for_a_page(monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr("comm.create_comm", lambda target_name: asked.append(target_name))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert not await is_watched(in_kernel(allow_stdin=False))
    assert not asked  # nbclient logs a warning about a comm that it does not know


def test_a_host_that_needs_a_view_is_known_by_what_it_is(monkeypatch):
    monkeypatch.delenv("VSCODE_PID", raising=False)
    assert not needs_view()
    monkeypatch.setitem(sys.modules, "google.colab", None)
    assert needs_view()
    monkeypatch.delitem(sys.modules, "google.colab")
    monkeypatch.setenv("VSCODE_PID", "1")
    assert needs_view()


async def test_a_ticking_loop_does_what_was_scheduled_without_waking_it():
    loop = asyncio.get_running_loop()
    noticed = loop.create_future()
    with ticking():  # `call_soon` from elsewhere wakes no loop
        threading.Timer(0.01, lambda: loop.call_soon(noticed.set_result, True)).start()
        assert await asyncio.wait_for(noticed, 60)


def test_an_interrupt_only_calls_stop():
    stopped = []
    before = signal.getsignal(signal.SIGINT)
    with on_interrupt(lambda *_: stopped.append(True)):
        os.kill(os.getpid(), signal.SIGINT)
    assert stopped == [True]
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_leave_the_signal_alone():
    before, seen = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with on_interrupt(lambda *_: None):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
