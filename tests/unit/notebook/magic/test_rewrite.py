"""The cell that becomes an `await`: what is rewritten, what is left alone, what wakes and stops a wait."""

import asyncio
import os
import signal
import threading

import pytest

from agent_nb.notebook.magic.rewrite import CellRewriter, is_attended, on_interrupt, ticking
from tests.support.shells import in_kernel, start_shell

AWAITED = "await __import__('agent_nb.notebook.magic.rewrite', fromlist=['loop']).agent_cell"


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    with start_shell(tmp_path_factory.mktemp("shell")) as shell:
        yield shell


@pytest.fixture
def rewrite(shell):
    rewriter = CellRewriter(shell.ipython, "agent")
    return lambda code: "".join(rewriter(code.splitlines(keepends=True)))


@pytest.mark.parametrize(
    ("code", "line", "body"),
    [
        ("%%agent\nA page", "", "A page"),
        ("%%agent hero -m demo:\nA page\n  for 'you'\n", "hero -m demo:", "A page\n  for 'you'\n"),
        ("\n# a comment\n%%agent hero\nA page", "hero", "A page"),
        ("%%agent hero", "hero", ""),
        ("%%agent A page?", "A page?", ""),
        ('%%agent hero\n"""\\n{{x}}\n', "hero", '"""\\n{{x}}\n'),
    ],
)
def test_an_agent_cell_becomes_an_await(rewrite, code, line, body):
    assert rewrite(code) == f"{AWAITED}({line!r}, {body!r})\n"


@pytest.mark.parametrize(
    "code",
    [
        "",
        "\n\n",
        "x = 1\n%%agent hero\n",
        "%agent models",
        "%%agents\nA page",
        "%%agentic x\n",
        "%%agent?",
        "%%time\n%%agent hero\nA page",
        " %%agent hero\nA page",
    ],
)
def test_other_cells_are_left_alone(rewrite, code):
    assert rewrite(code) == code


def test_under_another_magic_nothing_is_rewritten(shell):
    rewriter = CellRewriter(shell.ipython, "agent")
    rewriter._begin()
    assert rewriter(["%%agent hero\n", "A page"]) == ["%%agent hero\n", "A page"]
    rewriter._end()
    assert rewriter(["%%agent hero\n", "A page"])[0].startswith("await ")


def test_the_loading_cell_ends_without_beginning(shell):
    rewriter = CellRewriter(shell.ipython, "agent")
    rewriter._end()
    rewriter._begin()
    assert rewriter.executing == 1


def test_without_autoawait_the_plain_magic_runs(shell):
    shell.ipython.autoawait = False
    try:
        assert CellRewriter(shell.ipython, "agent")(["%%agent x\n"]) == ["%%agent x\n"]
        assert shell.run("%%agent hero -m demo: --pace 0\nA form").ok
    finally:
        shell.ipython.autoawait = True
    assert shell.names["hero"].reason == "end_turn"


def test_an_outer_magic_may_hold_the_cell(shell):
    shell.names.pop("hero", None)
    assert shell.run("%%time\n%%agent hero -m demo: --pace 0\nA form").ok
    assert shell.names["hero"].reason == "end_turn"


def test_a_terminal_is_watched_and_nbclient_is_not(shell):
    assert is_attended(shell.ipython)
    assert is_attended(in_kernel(allow_stdin=True))
    assert not is_attended(in_kernel(allow_stdin=False))


async def test_the_tick_ends_with_the_wait():
    before = asyncio.all_tasks()
    async with ticking():
        assert len(asyncio.all_tasks() - before) == 1
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


def test_an_interrupt_calls_stop_and_no_more():
    stopped = []
    before = signal.getsignal(signal.SIGINT)
    with on_interrupt(lambda: stopped.append(True)):
        os.kill(os.getpid(), signal.SIGINT)
    assert stopped == [True]
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_leaves_the_signal_alone():
    before, seen = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with on_interrupt(lambda: None):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
