"""Programs end with what they have started, also those in groups of their own."""

import asyncio
import os
import shutil
import sys

import pytest

from agent_nb._base import program
from agent_nb._base.program import Program, ProgramError
from tests.support.processes import ended

STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "3600"], start_new_session=True)
print("a last word", file=sys.stderr, flush=True)
print(child.pid, flush=True)
time.sleep(3600)
"""


@pytest.fixture(autouse=True)
def no_grace(monkeypatch):
    monkeypatch.setattr(program, "GRACE", 0.1)


async def start(code):
    return await Program.start([sys.executable, "-S", "-c", code], env=os.environ, folder=None)


@pytest.mark.parametrize("seconds", [0, 2], ids=["", "although the guard is slow"])
async def test_a_stubborn_program_is_ended_with_its_children(monkeypatch, tmp_path, seconds):
    (tmp_path / "ps").write_text(f'#!/bin/sh\nsleep {seconds}\nexec {shutil.which("ps")} "$@"\n')
    (tmp_path / "ps").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    started = await start(STUBBORN)
    child = int(await anext(started.lines()))
    await started.end()
    async with asyncio.timeout(60):
        while not (ended(started.pid) and ended(child)):  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.01)
    assert started.last_line == "a last word"
    assert started.pid not in program._running


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="it is found by its environment")
async def test_a_server_that_was_left_in_the_background_is_ended_too():
    command = "setsid sh -c 'sleep 3600 >/dev/null 2>&1 & echo $!'"
    started = await start(f"import os, time; os.system({command!r}); time.sleep(3600)")
    server = int(await anext(started.lines()))
    await started.end()
    async with asyncio.timeout(60):
        while not ended(server):  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.01)


async def test_a_line_that_is_too_long_ends_the_reading(monkeypatch):
    monkeypatch.setattr(program, "MAX_LINE", 1000)
    started = await start("print('x' * 5000)")
    assert [line async for line in started.lines()] == []
    assert "more than" in started.problem
    await started.end()


async def test_a_program_that_is_not_there():
    with pytest.raises(ProgramError, match="The program 'no-such-program' was not found"):
        await Program.start(["no-such-program"], env={}, folder=None)
