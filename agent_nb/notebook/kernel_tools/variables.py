"""The tool `list_variables`: what the notebook holds, one line for each variable.

Nothing in a line takes time in proportion to the size of its value, except for the `repr` of unknown types. Values can
raise anywhere: all that reads them is called with `call_within`.
"""

import inspect
import itertools
import reprlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from agent_nb._base.secrets import MASK, mask, masked_line
from agent_nb._base.table import Table
from agent_nb._base.text import shortened
from agent_nb._base.wire import Json
from agent_nb.notebook.user_variables import newest_variables
from agent_nb.notebook.values.limited import UnreadableError, call_within
from agent_nb.notebook.values.schema import read_heading
from agent_nb.notebook.values.table_masking import is_of
from agent_nb.notebook.values.value_masking import Masked, Masks, is_secret
from agent_nb.tools.base import Name, Schema, Tool, ToolContext, ToolOutput
from agent_nb.tools.schema import tool_spec

MOST = 200
"""Variables that are listed."""
SECONDS = 1.0
"""How long reading the size or the value of one variable may take."""
SECONDS_IN_ALL = 5.0
WIDTH = 100
ITEMS = 8
"""Items of a container that are looked at."""
DEPTH = 3
_SEARCHED = 2_000
"""Characters of a text that are searched for secrets before it is cut."""
MOST_KINDS = 12
"""Names that a call of `run_python` tells the page about."""
_CODE = (type, ModuleType, FunctionType, BuiltinFunctionType)
_SIZED = {
    "list", "tuple", "set", "frozenset", "dict", "str", "bytes", "range", "numpy.ndarray", "pandas.DataFrame",
    "pandas.Series", "polars.DataFrame", "polars.Series", "pyarrow.Table",
}  # fmt: skip
_PLAIN = (int, float, complex, bool, type(None))
_CONTAINERS = (list, tuple, set, frozenset, deque, range)

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
    lines = [
        f"- {name}: {', '.join(filter(None, (kind, extent)))}; {value}" for name, kind, extent, value in rows
    ]
    table = Table(("name", "type", "size", "value"), rows, "", note)
    bundle = {"text/html": table._repr_html_(), "text/plain": table.to_text()}
    return ToolOutput(
        text="\n".join(filter(None, [f"{count}, newest first:", *lines, note])),
        summary=count,
        outputs=(bundle,),
        schema=(
            count,
            *itertools.chain(*(_schema_line(name, value, end) for name, value in variables[:MOST])),
        ),
    )


def _schema_line(name: str, value: Any, end: float) -> Schema:
    seconds = min(SECONDS, max(0.0, end - time.monotonic()))
    return ("\n- ", Name(name), ": ", *read_heading(value, seconds))


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


_repr = reprlib.Repr()
"""Stops after a few items and levels."""
_repr.maxlevel, _repr.maxstring = DEPTH, 40
_repr.maxlist = _repr.maxtuple = _repr.maxset = _repr.maxfrozenset = _repr.maxdeque = _repr.maxdict = ITEMS


def type_name(value: Any) -> str:
    """`int`, `pandas.DataFrame`: the class, with its library if it is not the notebook's own or Python's."""
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library in ("builtins", "__main__", "agent_nb"):
        return kind.__name__
    return f"{library}.{kind.__name__}"


def kinds(variables: Mapping[str, Any]) -> dict[str, str]:
    """What each name holds, as `pandas.DataFrame, 12 rows x 3 columns`; not what code is made of, such as modules."""
    end = time.monotonic() + SECONDS
    held = {name: value for name, value in variables.items() if not isinstance(value, _CODE)}
    return {
        name: _read("type", partial(_kind, value), end) for name, value in list(held.items())[-MOST_KINDS:]
    }


def _kind(value: Any) -> str:
    """Only types whose size is at hand are asked for it: the length of a `GroupBy` is computed, and kept in it."""
    name = type_name(value)
    return ", ".join(filter(None, (name, size(value) if name in _SIZED else "")))


def size(value: Any) -> str:
    """The shape or the length; empty if it has none."""
    if isinstance(value, (type, *_PLAIN)):
        return ""
    # A proxy's `__getattr__` has everything, and may fetch it.
    if inspect.getattr_static(value, "shape", None) is not None:
        return _shape(value)
    if is_of(value, "agent_nb", "Run") or not hasattr(type(value), "__len__"):
        return ""
    unit = "character" if isinstance(value, str) else "byte" if isinstance(value, bytes) else "item"
    return _counted(len(value), unit)


def one_line(name: str, value: Any) -> str:
    """The beginning of the value, with secrets masked."""
    if is_secret(name, value):
        return MASK
    return shortened(masked_line(_text(value)[:_SEARCHED]), WIDTH)


def _shape(value: Any) -> str:
    sides = value.shape
    if not isinstance(sides, Iterable):
        return ""
    sides = list(itertools.islice(sides, ITEMS))
    if len(sides) == 1:
        return _counted(sides[0], "value")
    if len(sides) == 2 and _columns(value) is not None:
        return f"{_counted(sides[0], 'row')} x {_counted(sides[1], 'column')}"
    return " x ".join(map(_number, sides))


def _number(side: Any) -> str:
    """A side of a shape. Lazy tables do not know how many rows they have."""
    return f"{side:,}" if isinstance(side, int) else "?"


def _counted(count: Any, unit: str) -> str:
    return f"{_number(count)} {unit}{'' if count == 1 else 's'}"


def _columns(value: Any) -> list[str] | None:
    """The names of a table's columns; None if it is no table that we know."""
    for module in ("pandas", "polars"):
        if is_of(value, module, "DataFrame"):
            return [str(name) for name in itertools.islice(value.columns, 2 * ITEMS)]
    if is_of(value, "pyarrow", "Table"):
        return [str(name) for name in value.column_names[: 2 * ITEMS]]
    return None


def _text(value: Any) -> str:
    if isinstance(value, str | bytes):
        beginning = value[:_SEARCHED]
        return repr(mask(beginning) if isinstance(beginning, str) else beginning)
    if isinstance(value, FunctionType | BuiltinFunctionType | type):
        return _signature(value)
    if (columns := _columns(value)) is not None:
        return f"columns {', '.join(columns)}" if columns else "no columns"
    if (values := _first_values(value)) is not None:
        return f"{value.dtype}: {_repr.repr(values)}"
    if isinstance(value, Mapping):
        return _repr.repr(Masks().over(dict(itertools.islice(value.items(), ITEMS + 1)), DEPTH))
    if isinstance(value, _CONTAINERS):
        return _items(value)
    return repr(value) if isinstance(value, _PLAIN) else repr(Masks().over(value, DEPTH))


def _items(value: Any) -> str:
    if isinstance(value, range | set | frozenset | deque):
        items: Any = list(itertools.islice(value, ITEMS + 1))
    else:  # a named tuple keeps its names
        items = value if len(value) <= ITEMS else value[: ITEMS + 1]
    return _repr.repr(Masks().over(items, DEPTH))


def _first_values(value: Any) -> list[Any] | None:
    """The first values of a column or an array; None if it is neither."""
    if is_of(value, "pandas", "Series"):
        return list(Masks().over(value.head(ITEMS)).tolist())
    if is_of(value, "polars", "Series"):
        return list(Masks().over(value.head(ITEMS)).to_list())
    if is_of(value, "numpy", "ndarray"):
        first = Masks().over(value.flat[:ITEMS])
        return [str(first)] if isinstance(first, Masked) else list(first.tolist())
    return None


def _signature(value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # some built-in functions and classes have none
        return str(value.__name__)
    parameters = [
        parameter.replace(default=MASK) if is_secret(name, parameter.default) else parameter
        for name, parameter in signature.parameters.items()
    ]
    return f"{value.__name__}{signature.replace(parameters=parameters)}"
