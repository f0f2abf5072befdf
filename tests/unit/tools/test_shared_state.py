"""Tools that break what all code shares: built-in functions, modules, the standard streams."""

import asyncio
import builtins
import os
import sys
import threading

import pytest

from agent_nb.errors import ToolError
from agent_nb.files import Files, Workspace
from agent_nb.tools import Toolbox, ToolContext, ToolOutput, tool

KEY = "sk-ant-api03-" + "AbCdEf12" * 6


async def run(function) -> ToolOutput:
    made = tool(function)
    return await Toolbox([made]).run(made, {}, ToolContext(files=Workspace(Files()), progress=print))


def both(function):
    """The function as a tool of each kind: in a thread, and on the event loop."""

    async def on_loop() -> str:
        """Does it."""
        return function()

    def in_thread() -> str:
        """Does it."""
        return function()

    return in_thread, on_loop


def close_streams():
    sys.stdout.close()
    sys.stderr.close()
    return "done"


def remove_streams():
    sys.stdout = sys.stderr = None
    return "done"


def replace_print():
    builtins.print = None
    return "done"


def replace_asyncio():
    sys.modules["asyncio"] = None
    return "done"


def change_directory():
    os.chdir("/")
    return "done"


@pytest.mark.parametrize(
    ("breaks", "note"),
    [
        (close_streams, "It closed `sys.stdout`, which was kept open.\nIt closed `sys.stderr`"),
        (remove_streams, "It replaced `sys.stdout`; that was put back."),
        (replace_print, "It replaced `print` for all code; that was put back."),
        (replace_asyncio, "It replaced `asyncio` for all code"),
        (change_directory, "The working directory is now /."),
    ],
)
async def test_what_a_tool_breaks_is_put_back_and_told(breaks, note, monkeypatch, capsys, tmp_path):
    for function in both(breaks):
        monkeypatch.chdir(tmp_path)
        output = await run(function)
        assert note in output.text
        assert output.summary == "done"
        assert note.partition("\n")[0] in str(output.outputs)
        print("still", file=sys.stderr)
        assert capsys.readouterr().err == "still\n"
        assert sys.modules["asyncio"] is asyncio
    assert "write" not in vars(sys.stdout)


async def test_a_tool_that_fails_tells_what_it_broke():
    def fail() -> str:
        """Fails."""
        builtins.print = None
        raise ValueError("no")

    with pytest.raises(ToolError, match=r"ValueError: no It replaced `print`"):
        await run(fail)


async def test_a_key_that_a_tool_prints_is_masked(capsys):
    def show() -> str:
        """Prints."""
        print(KEY)
        print(KEY, file=sys.stderr)
        return "done"

    for function in both(show):
        assert (await run(function)).text == "done"
        assert capsys.readouterr() == ("•••\n", "•••\n")
    print(KEY)
    assert KEY in capsys.readouterr().out


async def test_a_tool_that_ends_leaves_the_redirection_of_another_one(capsys):
    redirected, ended = threading.Event(), threading.Event()

    def redirect() -> str:
        """Redirects for a while."""
        import contextlib
        import io

        with contextlib.redirect_stdout(io.StringIO()) as text:
            redirected.set()
            ended.wait(60)
            print("inside")
        return text.getvalue()

    def quick() -> str:
        """Ends at once."""
        redirected.wait(60)
        return "done"

    first = asyncio.create_task(run(redirect))
    assert (await run(quick)).text == "done"
    ended.set()
    assert (await first).text == "inside\n"
    print("outside")
    assert capsys.readouterr().out == "outside\n"


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), GeneratorExit(), BaseExceptionGroup("odd", [KeyboardInterrupt()])]
)
async def test_no_exception_of_a_tool_reaches_the_event_loop(error):
    def fail():
        raise error

    for function in both(fail):
        with pytest.raises(ToolError, match=f" raised {type(error).__name__}"):
            await run(function)


async def test_streams_need_not_have_a_close(monkeypatch):
    """As those of JupyterLite."""

    class Stream:
        def __init__(self) -> None:
            self.written: list[str] = []

        def write(self, text: str) -> None:
            self.written.append(text)

        def flush(self) -> None: ...

    stream = Stream()
    monkeypatch.setattr(sys, "stdout", stream)

    def says() -> str:
        """Says something, and leaves another stream."""
        print(KEY)
        sys.stdout = Stream()
        return "done"

    output = await run(says)
    assert "It replaced `sys.stdout`; that was put back." in output.text
    assert sys.stdout is stream
    assert KEY not in "".join(stream.written)
    assert vars(stream).keys() == {"written"}
