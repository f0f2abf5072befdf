"""What tools print is masked, and what they raise does not reach the event loop."""

import asyncio
import sys
import threading

import pytest

from agent_nb.core.errors import ToolError
from tests.support.tool_desk import run

KEY = "sk-ant-api03-" + "AbCdEf12" * 6


def both(function):
    """The function as a tool of each kind: in a thread, and on the event loop."""

    async def on_loop() -> str:
        """Does it."""
        return function()

    def in_thread() -> str:
        """Does it."""
        return function()

    return in_thread, on_loop


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


async def test_a_stream_is_left_as_it_was(monkeypatch):
    class Stream:
        def __init__(self) -> None:
            self.written: list[str] = []

        def write(self, text: str) -> None:
            self.written.append(text)

        def flush(self) -> None: ...

    stream = Stream()
    monkeypatch.setattr(sys, "stdout", stream)

    def says() -> str:
        """Says something."""
        print(KEY)
        return "done"

    await run(says)
    assert "".join(stream.written) == "•••\n"
    assert vars(stream).keys() == {"written"}
