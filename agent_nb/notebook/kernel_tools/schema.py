"""Values by name, type and shape alone: `--data schema`."""

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agent_nb.engine.data_gate import name_mark, unmarked
from agent_nb.notebook.kernel_tools.variables import type_and_size, type_name
from agent_nb.notebook.values.describe_values import Described, read_path
from agent_nb.notebook.values.limited import UnreadableError, call_within
from agent_nb.notebook.values.table_masking import is_of
from agent_nb.notebook.values.tables import MOST_COLUMNS, read_table
from agent_nb.notebook.values.value_paths import lookup_masked

_FRAMES = (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch"))
_LIBRARIES = frozenset({"pandas", "polars", "pyarrow", "numpy"})


def schema_of(value: Any) -> str:
    """The type and shape of a value, and of a table the names and types of its columns. Names are marked."""
    lines = [", ".join(filter(None, (type_and_size(value), _dtype(value))))]
    columns = list(_columns(value))
    lines += [f"- {name_mark(label)}: {_dtype(column)}" for label, column in columns[:MOST_COLUMNS]]
    if len(columns) > MOST_COLUMNS:
        lines.append(f"- and {len(columns) - MOST_COLUMNS:,} more columns")
    return "\n".join(lines)


def read_schema(value: Any, seconds: float = 1.0) -> str:
    """The schema of a value whose code may fail or take long. What that says is not part of it."""
    try:
        return call_within(seconds, lambda: schema_of(value))
    except UnreadableError:
        return "not readable"


def known_names(variables: Mapping[str, Any]) -> frozenset[str]:
    """The names of variables, of their types and of the columns of tables."""
    names = {*variables}
    for value in variables.values():
        with contextlib.suppress(Exception):  # the code of a value; its names are then held back
            names.add(type_name(value))
            names.update(label for label, _ in _columns(value))
    return frozenset(names)


def describe_schema(path: str, namespace: Mapping[str, Any], braces: str = "") -> Described:
    """What the model may know of the value at a path, as `describe_path` for runs that send no values."""
    return Described(unmarked(read_path(path, lambda: schema_of(lookup_masked(path, namespace, braces)[0]))))


def _columns(value: Any) -> Iterator[tuple[str, Any]]:
    if any(is_of(value, *kind) for kind in _FRAMES) and (table := read_table(value)):
        yield from table.columns


def _dtype(column: Any) -> str:
    """The type of cells without its parameters: those of a category are values."""
    if type(column).__module__.partition(".")[0] not in _LIBRARIES:
        return ""  # a field of that name may hold anything
    found = re.match(r"\w+", str(getattr(column, "dtype", getattr(column, "type", ""))))
    return found[0] if found else ""
