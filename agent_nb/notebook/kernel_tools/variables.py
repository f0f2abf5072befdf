"""The tool `list_variables`: what the notebook holds, one line for each variable."""

import time
from collections.abc import Callable
from typing import Any

from agent_nb._base.table import Table
from agent_nb._base.wire import Json
from agent_nb.notebook.kernel_tools.limited import UnreadableError, call_within
from agent_nb.notebook.kernel_tools.one_line import one_line, size, type_name
from agent_nb.notebook.user_variables import newest_variables
from agent_nb.tools import Tool, ToolContext, ToolOutput
from agent_nb.tools.schema import tool_spec

MOST = 200
"""Variables that are listed."""
SECONDS = 1.0
"""How long reading the size or the value of one variable may take."""
SECONDS_IN_ALL = 5.0

Row = tuple[str, str, str, str]
"""Name, type, size and value."""


def list_variables(shell: Any) -> Tool:
    """The tool, for the variables of this shell."""

    def run(args: Json, context: ToolContext) -> ToolOutput:
        return _listed(newest_variables(shell))

    return Tool(
        spec=tool_spec(
            "list_variables",
            "List the variables of the person's notebook, newest first: name, type, shape or length, and the"
            " beginning of the value. Reads only. Secrets are masked.",
            {},
        ),
        run=run,
        packaged=True,
        title=lambda args: "list the variables",
    )


def _listed(variables: list[tuple[str, Any]]) -> ToolOutput:
    if not variables:
        return ToolOutput(text="The notebook has no variables yet.")
    end = time.monotonic() + SECONDS_IN_ALL
    rows = [_row(name, value, end) for name, value in variables[:MOST]]
    older = len(variables) - len(rows)
    count = f"{len(variables):,} variable{'' if len(variables) == 1 else 's'}"
    note = f"and {older:,} older" if older else ""
    lines = [f"{count}, newest first:", *map(_line, rows), *([note] if note else [])]
    table = Table(("name", "type", "size", "value"), rows, "", note)
    bundle = {"text/html": table._repr_html_(), "text/plain": table.to_text()}
    return ToolOutput(text="\n".join(lines), summary=count, outputs=(bundle,))


def _line(row: Row) -> str:
    name, kind, extent, value = row
    return f"- {name}: {', '.join(filter(None, (kind, extent)))}; {value}"


def _row(name: str, value: Any, end: float) -> Row:
    """The row of a variable. Where something cannot be read, the row says why."""
    return (
        name,
        _read("type", lambda: type_name(value), end),
        _read("size", lambda: size(value), end),
        _read("value", lambda: one_line(name, value), end),
    )


def _read(what: str, function: Callable[[], str], end: float) -> str:
    seconds = min(SECONDS, end - time.monotonic())
    if seconds <= 0:
        return f"({what} not read: the variables before took too long)"
    try:
        return call_within(seconds, function)
    except UnreadableError as problem:
        return f"({what} not readable: {problem})"
