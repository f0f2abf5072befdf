"""Calls functions of the notebook for a page: in the thread of the event loop, one at a time, under the watchdog."""

import asyncio
import contextlib
import inspect
import io
import sys
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from agent_nb._base.secrets import short_line
from agent_nb._base.wire import Json
from agent_nb.core.errors import AgentError, ConfigError, error_text
from agent_nb.notebook.kernel_tools.execute import Watchdog, alone
from agent_nb.notebook.page.bindings import Binding
from agent_nb.tools.schema import compile_schema

SECONDS = 60.0
MAX_MESSAGE = 2_000
_MAX_PRINTED = 10_000


class _Printed(io.StringIO):
    """The printed text of a function, up to a limit."""

    def write(self, text: str) -> int:
        return super().write(text[: max(0, _MAX_PRINTED - self.tell())]) and len(text)


async def call(row: Binding, args: Any) -> tuple[Any, str]:
    """Call a bound function; return its result and printed text. Raises `ConfigError` with a message for the page."""
    if not isinstance(args, dict):
        raise ConfigError(f"`{row.name}` takes its arguments as an object, by name.")
    try:
        compile_schema(row.schema)(args)
    except AgentError as error:
        raise ConfigError(f"{row.name}: {error}") from None
    printed = _Printed()
    async with alone():
        watchdog = Watchdog(_is_inside, SECONDS, lambda: None, lambda: None)
        with _no_new_figures(), watchdog:
            watchdog.task = asyncio.create_task(_called(row, args, watchdog, printed))
            value, raised = await watchdog.task
    if (current := asyncio.current_task()) and current.cancelling():
        raise asyncio.CancelledError  # `_called` returned it
    if watchdog.timed_out:
        raise ConfigError(f"{row.name} took longer than {SECONDS:g} s and was stopped.")
    if raised is not None:
        raise ConfigError(f"{row.name}: {short_line(error_text(raised), MAX_MESSAGE)}")
    return value, printed.getvalue()


async def _called(
    row: Binding, args: Json, watchdog: Watchdog, printed: _Printed
) -> tuple[Any, BaseException | None]:
    """Return the result and the exception: raising KeyboardInterrupt or SystemExit would end the loop."""
    try:
        arguments = row.read(args) if row.read else args
        with contextlib.redirect_stdout(printed):
            value = watchdog.call(lambda: _run_bound_function(row.value, arguments))
        return (await value if inspect.isawaitable(value) else value), None
    except BaseException as error:
        return None, error


def _run_bound_function(function: Callable[..., Any], arguments: Json) -> Any:
    return function(**arguments)


def _is_inside(code: CodeType) -> bool:
    return code is _run_bound_function.__code__ or code is _called.__code__


@contextlib.contextmanager
def _no_new_figures() -> Iterator[None]:
    """Close the figures that a function creates, which the next cell would display."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    before = set(pyplot.get_fignums()) if pyplot else set()
    try:
        yield
    finally:
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None:
            for number in set(pyplot.get_fignums()) - before:
                pyplot.close(number)
