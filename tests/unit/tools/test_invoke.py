"""Running one call of a tool: time limits, cancelling, threads."""

import asyncio
import contextlib
import contextvars
import subprocess
import sys
import threading

import pytest

from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.tools import Tool, ToolContext, tool
from agent_nb.tools import toolbox as invoking
from tests.support.tool_desk import Desk, run


@pytest.mark.parametrize(
    ("error", "text"),
    [(ConfigError("Give a PNG."), "Give a PNG."), (ValueError("too long"), "ValueError: too long")],
)
async def test_the_model_reads_an_error_of_ours_as_it_is_worded(error: Exception, text: str) -> None:
    def fails() -> None:
        raise error

    with pytest.raises(ToolError) as caught:
        await run(fails)
    assert str(caught.value) == text


async def test_hanging_sync_tool_times_out() -> None:
    release = threading.Event()
    desk = Desk()
    late: list[Exception] = []
    ended = threading.Event()

    @tool(timeout=0.05)
    def hangs(context: ToolContext) -> None:
        release.wait(10)
        try:
            context.progress("late")
            context.files.write("late.txt", "")
        except ToolError as error:
            late.append(error)
        ended.set()

    with pytest.raises(ToolError, match=r"`hangs` did not finish within 0\.05 seconds") as caught:
        await run(hangs, desk)
    assert caught.value.code == "TIMEOUT"
    release.set()
    await asyncio.to_thread(ended.wait, 10)
    assert "has ended" in str(late[0])
    assert (desk.changes, desk.lines) == ([], [])


async def test_hanging_async_tool_is_cancelled() -> None:
    ended = asyncio.Event()

    @tool(timeout=0.05)
    async def hangs() -> None:
        try:
            await asyncio.sleep(10)
        finally:
            ended.set()

    with pytest.raises(ToolError, match="did not finish within"):
        await run(hangs)
    await asyncio.wait_for(ended.wait(), 5)


def stubborn(timeout: float | None, started: asyncio.Event, release: asyncio.Event) -> Tool:
    @tool(timeout=timeout)
    async def ignores() -> None:
        started.set()
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await release.wait()

    return ignores


async def test_tool_that_ignores_cancelling_times_out() -> None:
    release = asyncio.Event()
    with pytest.raises(ToolError, match="did not finish within"):
        await run(stubborn(0.05, asyncio.Event(), release))
    release.set()


async def test_tool_that_ignores_cancelling_does_not_hold_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invoking, "CLEANUP_SECONDS", 0.01)
    started, release = asyncio.Event(), asyncio.Event()
    task = asyncio.create_task(run(stubborn(None, started, release)))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()


async def test_own_timeout_error_is_failure() -> None:
    async def breaks() -> None:
        raise TimeoutError("the socket")

    with pytest.raises(ToolError) as caught:
        await run(breaks)
    assert (caught.value.code, str(caught.value)) == ("FAILED", "TimeoutError: the socket")


async def test_cancelling_passes_through() -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def waits() -> None:
        started.set()
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    task = asyncio.create_task(run(waits))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(cancelled.wait(), 5)


async def test_tool_cancelling_itself_is_failure() -> None:
    async def gives_up() -> None:
        raise asyncio.CancelledError

    with pytest.raises(ToolError, match="cancelled itself"):
        await run(gives_up)


async def test_context_variables_reach_the_thread() -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name")
    name.set("hero")

    def tells() -> str:
        return name.get()

    assert (await run(tells)).text == "hero"


async def test_changes_are_told_on_loop_thread() -> None:
    desk = Desk()

    def writes(context: ToolContext) -> str:
        context.files.write("a.txt", "1")
        context.progress("half way")
        context.files.write("a.txt", "2")
        context.files.delete("a.txt")
        return f"{threading.get_ident()}"

    output = await run(writes, desk)
    assert desk.threads == {threading.get_ident()}
    assert output.text != str(threading.get_ident())
    assert [(change.action, change.call_id) for change in desk.changes] == [
        ("created", "c1"),
        ("edited", "c1"),
        ("deleted", "c1"),
    ]
    assert desk.lines == ["half way"]


async def test_refused_write_reaches_the_thread() -> None:
    def writes(context: ToolContext) -> None:
        context.files.write("../a.txt", "1")

    with pytest.raises(ToolError, match="is outside the project"):
        await run(writes)


def test_hanging_tool_does_not_hold_exit() -> None:
    program = """
import asyncio, time
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.files import Files, Workspace
from agent_nb.tools import ToolContext, Toolbox, tool

@tool(timeout=0.05)
def hangs() -> None:
    time.sleep(600)

async def main():
    context = ToolContext(files=Workspace(Files()), progress=print)
    try:
        await Toolbox().run(hangs, {}, context)
    except ToolError as error:
        print(error.code)

asyncio.run(main())
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == "TIMEOUT\n"
    assert ended.stderr == ""
