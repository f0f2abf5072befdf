"""The tool `describe_variable`: what `{{name}}` puts into a prompt."""

import itertools
import re
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from IPython.core.error import UsageError

from agent_nb._base.secrets import mask
from agent_nb._base.wire import Json
from agent_nb.errors import ToolError
from agent_nb.images.convert import to_image
from agent_nb.notebook.kernel_tools.variables import size, type_name
from agent_nb.notebook.user_variables import newest_variables
from agent_nb.notebook.values.describe_values import TEXT_LIMIT, Described, describe, read_path
from agent_nb.notebook.values.limited import UnreadableError, call_within
from agent_nb.notebook.values.schema import read_schema
from agent_nb.notebook.values.table_masking import is_of
from agent_nb.notebook.values.value_masking import Masked, is_secret
from agent_nb.notebook.values.value_paths import lookup_masked
from agent_nb.tools import Tool, ToolContext, ToolOutput
from agent_nb.tools.output import to_output
from agent_nb.tools.schema import tool_spec

SECONDS = 10.0
"""How long one part of a description may take."""
MOST_ITEMS = 1_000
"""Items of a container that are described."""
_BORDER = 500
"""Characters after the limit that are searched too, so that no secret is cut in two."""


def describe_variable(shell: Any) -> Tool:
    """The tool, for the variables of this shell."""

    def run(args: Json, context: ToolContext) -> ToolOutput:
        name = args["name"].strip()
        return _description(name, *_value(name, dict(newest_variables(shell))))

    return Tool(
        spec=tool_spec(
            "describe_variable",
            "Describe a variable of the person's notebook: its value, and for a table its columns with types,"
            " missing values and ranges, and all rows or the first and last; for a figure or an image the image."
            " Reads only. Secrets are masked.",
            {"name": {"type": "string", "description": 'Its name, such as `df`, or `config["paths"]`.'}},
            required=("name",),
        ),
        run=run,
        packaged=True,
        title=lambda args: f"describe {args['name']}" if "name" in args else "describe a variable",
    )


def _value(path: str, variables: dict[str, Any]) -> tuple[Any, list[str]]:
    """The value at a path that begins with one of these variables, and the names that were masked on the way."""
    if re.search(r"\.\s*_", path):
        raise ToolError(f"`{path}` is private.", hint="Describe the variable itself.")
    try:
        return read_path(path, lambda: lookup_masked(path, variables), SECONDS)
    except UsageError as error:
        raise ToolError(str(error), hint="`list_variables` has the names.") from None


def _description(name: str, value: Any, masked_before: list[str]) -> ToolOutput:
    heading = ", ".join(filter(None, (_part(lambda: type_name(value)), _part(lambda: size(value)))))
    if type(value) is Masked:  # `isinstance` would ask the value, which may raise
        heading = "masked"
    try:
        described = call_within(SECONDS, lambda: _described(name, value, masked_before))
    except UnreadableError as problem:
        reason = (
            problem.__cause__ if isinstance(problem.__cause__, UsageError) else f"describing it {problem}"
        )
        return ToolOutput(text=f"`{name}`: {heading}\n({reason})", summary=f"{heading} (not readable)")
    masked = f"Masked: {', '.join(described.masked)}." if described.masked else ""
    parts = (f"`{name}`: {heading}", described.text, masked)
    images = to_output(list(described.images)) if described.images else ToolOutput(text="")
    return ToolOutput(
        text="\n".join(filter(None, parts)),
        summary=heading,
        images=images.images,
        outputs=images.outputs,
        schema=read_schema(value, SECONDS),
    )


def _part(function: Callable[[], str]) -> str:
    try:
        return call_within(SECONDS, function)
    except UnreadableError as problem:
        return f"(not readable: {problem})"


def _described(name: str, value: Any, masked_before: list[str]) -> Described:
    # `subplots` returns an array of axes. Figures need nothing special.
    is_array = is_of(value, "numpy", "ndarray") and value.dtype.kind == "O" and value.size
    axes = value.flat[0] if is_array else value
    if is_of(axes, "matplotlib", "Axes"):
        return Described(f"(image of the figure of `{name}`)", (to_image(axes, name=name),))
    if isinstance(value, Masked) or is_secret(name, value):
        return describe(name, value)
    beginning, note = _beginning(value)
    described = describe(name, beginning, masked_before)
    if not note:
        return described
    return Described(f"{note}\n{described.text}", masked=described.masked)


def _beginning(value: Any) -> tuple[Any, str]:
    """A value that takes no long time to describe, and what is left out."""
    if isinstance(value, str):
        if len(value) <= TEXT_LIMIT:
            return value, ""
        text = mask(value[: TEXT_LIMIT + _BORDER])[:TEXT_LIMIT]
        return text, f"The first {TEXT_LIMIT:,} of {len(value):,} characters:"
    if not isinstance(value, Mapping | list | tuple | set | frozenset | deque) or len(value) <= MOST_ITEMS:
        return value, ""
    items: Any = value.items() if isinstance(value, Mapping) else value
    first = list(itertools.islice(items, MOST_ITEMS))
    note = f"The first {MOST_ITEMS:,} of {len(value):,} items:"
    return dict(first) if isinstance(value, Mapping) else first, note
