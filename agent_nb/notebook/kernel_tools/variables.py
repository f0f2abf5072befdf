"""The tools `list_variables`, one line per variable, and `describe_variable`, the content of `{{name}}`."""

import contextlib
import inspect
import itertools
import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType
from typing import Any

from agent_nb._base.secrets import MASK, short_line
from agent_nb._base.table import Table
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.core.limited import UnreadableError, call_within
from agent_nb.notebook.user_variables import CODE, is_of, newest_variables
from agent_nb.notebook.values.classes import class_name, counted, shape_text, size_of
from agent_nb.notebook.values.describe_values import describe, read_path
from agent_nb.notebook.values.kinds import kind_of
from agent_nb.notebook.values.schema import heading, read_schema
from agent_nb.notebook.values.tables import ITEMS, brief
from agent_nb.notebook.values.value_masking import MaskedValue, Masks, is_secret
from agent_nb.notebook.values.value_paths import lookup_masked
from agent_nb.tools.base import Name, Schema, Tool, ToolContext, ToolOutput
from agent_nb.tools.function import to_output
from agent_nb.tools.schema import tool_spec

MOST = 200
SECONDS = 1.0
"""Timeout for reading the size or the value of one variable."""
SECONDS_IN_ALL = 5.0
DESCRIBE_SECONDS = 10.0
WIDTH = 100
DEPTH = 3
_SEARCHED = 2_000
"""Characters of a text searched for secrets before it is truncated."""
MOST_KINDS = 12
"""Maximum number of names that a `run_python` call reports to the page."""
_PLAIN = (int, float, complex, bool, type(None))
_CONTAINERS = (list, tuple, set, frozenset, deque, range)


def list_variables(shell: Any) -> Tool:
    return Tool(
        spec=tool_spec(
            "list_variables",
            "List the variables of the user's notebook, newest first: name, type, shape or length, and the"
            " beginning of the value. Reads only. Secrets are masked.",
            {},
        ),
        run=lambda args, context: _listed(newest_variables(shell)),
        packaged=True,
        title=lambda args: "list the variables",
    )


def describe_variable(shell: Any) -> Tool:

    def run(args: Json, context: ToolContext) -> ToolOutput:
        name = args["name"].strip()
        return _description(name, *_value(name, dict(newest_variables(shell))))

    return Tool(
        spec=tool_spec(
            "describe_variable",
            "Describe a variable of the user's notebook: its value, and for a table its columns with types,"
            " missing values and ranges, and all rows or the first and last; for a figure or an image the image."
            " Reads only. Secrets are masked.",
            {"name": {"type": "string", "description": 'Its name, such as `df`, or `config["paths"]`.'}},
            required=("name",),
        ),
        run=run,
        packaged=True,
        title=lambda args: f"describe {args['name']}" if "name" in args else "describe a variable",
    )


def _listed(variables: list[tuple[str, Any]]) -> ToolOutput:
    if not variables:
        return ToolOutput(text="The notebook has no variables yet.")
    end = time.monotonic() + SECONDS_IN_ALL
    rows = [_row(name, value, end) for name, value in variables[:MOST]]
    older = len(variables) - len(rows)
    count = counted(len(variables), "variable")
    note = f"and {older:,} older" if older else ""
    lines = [
        f"- {name}: {', '.join(filter(None, (kind, extent)))}; {value}" for name, kind, extent, value in rows
    ]
    table = Table(("name", "type", "size", "value"), rows, "", note)
    bundle = {"text/html": table._repr_html_(), "text/plain": table.to_text()}
    return ToolOutput(
        text="\n".join(filter(None, [f"{count}, newest first:", *lines, note])),
        summary=count,
        outputs=(bundle,),
        schema=(count, *itertools.chain(*(_schema_line(*item, end) for item in variables[:MOST]))),
    )


def _schema_line(name: str, value: Any, end: float) -> Schema:
    seconds = min(SECONDS, max(0.0, end - time.monotonic()))
    return ("\n- ", Name(name), ": ", *read_schema(value, seconds, heading))


def _row(name: str, value: Any, end: float) -> tuple[str, str, str, str]:
    seconds = min(SECONDS, end - time.monotonic())
    if seconds <= 0:
        return name, "", "", "(not read: the variables before took too long)"
    try:
        row = call_within(seconds, lambda: (type_name(value), size(value), one_line(name, value)))
    except UnreadableError as problem:
        row = type_name(value), "", f"(not readable: {problem})"
    return name, *row


def type_name(value: Any) -> str:
    """The class name, such as `int` or `pandas.DataFrame`; third-party classes include the library."""
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library in ("builtins", "__main__", "agent_nb"):
        return kind.__name__
    return f"{library}.{kind.__name__}"


def kinds(variables: Mapping[str, Any]) -> dict[str, str]:
    """Type and size of each name, such as `pandas.DataFrame, 12 rows x 3 columns`, without modules and functions."""
    data = [(name, value) for name, value in variables.items() if not isinstance(value, CODE)]
    # Only known classes: for others, the size may have to be computed.
    return {name: _title(value, size_of) for name, value in data[-MOST_KINDS:]}


def _title(value: Any, size: Callable[[Any], str]) -> str:
    extent = ""
    with contextlib.suppress(UnreadableError):
        extent = call_within(SECONDS, lambda: size(value))
    return ", ".join(filter(None, (type_name(value), extent)))


def size(value: Any) -> str:
    """The shape or the length; empty if there is none."""
    if isinstance(value, (type, *_PLAIN)):
        return ""
    if class_name(type(value)):
        return size_of(value)
    # A proxy's `__getattr__` accepts any name, and may fetch it.
    if inspect.getattr_static(value, "shape", None) is not None:
        return shape_text(value.shape, has_columns=False)
    if is_of(value, "agent_nb", "Run") or not hasattr(type(value), "__len__"):
        return ""
    return counted(len(value), "item")


def one_line(name: str, value: Any) -> str:
    if is_secret(name, value):
        return MASK
    return short_line(_text(value)[:_SEARCHED], WIDTH)


def _text(value: Any) -> str:
    if isinstance(value, str | bytes):
        return repr(value[:_SEARCHED])
    if isinstance(value, FunctionType | BuiltinFunctionType | type):
        return _signature(value)
    if kind := kind_of(value):
        return kind.line(value, lambda inner: Masks().over(inner, DEPTH))
    if isinstance(value, Mapping):
        return brief.repr(Masks().over(dict(itertools.islice(value.items(), ITEMS + 1)), DEPTH))
    if isinstance(value, _CONTAINERS):
        return _items(value)
    return repr(Masks().over(value, DEPTH))


def _items(value: Any) -> str:
    if isinstance(value, range | set | frozenset | deque):
        items: Any = list(itertools.islice(value, ITEMS + 1))
    else:  # a named tuple keeps its names
        items = value if len(value) <= ITEMS else value[: ITEMS + 1]
    return brief.repr(Masks().over(items, DEPTH))


def _signature(value: Any) -> str:
    """The signature without defaults, which may be secrets."""
    try:
        return f"{value.__name__}({', '.join(inspect.signature(value).parameters)})"
    except (TypeError, ValueError):  # some built-in functions and classes have none
        return str(value.__name__)


def _value(path: str, variables: dict[str, Any]) -> tuple[Any, list[str]]:
    """The masked value at a path that starts with one of these variables, and the masked names."""
    if re.search(r"\.\s*_", path):
        raise ToolError(f"`{path}` is private.", hint="Describe the variable itself.")
    try:
        return read_path(path, lambda: lookup_masked(path, variables), DESCRIBE_SECONDS)
    except ConfigError as error:
        raise ToolError(str(error), hint="`list_variables` has the names.") from None


def _description(name: str, value: Any, masked_before: list[str]) -> ToolOutput:
    # `isinstance` may run the value's own code, which may raise
    title = "masked" if type(value) is MaskedValue else _title(value, size)
    try:
        description = call_within(DESCRIBE_SECONDS, lambda: describe(name, value, masked_before))
    except UnreadableError as problem:
        reason = (
            problem.__cause__ if isinstance(problem.__cause__, ConfigError) else f"describing it {problem}"
        )
        return ToolOutput(text=f"`{name}`: {title}\n({reason})", summary=f"{title} (not readable)")
    masked_note = f"Masked: {', '.join(description.masked)}." if description.masked else ""
    parts = (f"`{name}`: {title}", description.text, masked_note)
    images = to_output(list(description.images)) if description.images else ToolOutput(text="")
    return ToolOutput(
        text="\n".join(filter(None, parts)),
        summary=title,
        images=images.images,
        outputs=images.outputs,
        schema=read_schema(value, DESCRIBE_SECONDS),
    )
