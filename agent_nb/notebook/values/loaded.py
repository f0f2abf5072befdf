"""Describes the variables of a prompt to a model that is asked for code: names, columns, types and a few rows."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

from agent_nb._base.secrets import mask_values
from agent_nb.core.limited import UnreadableError, call_within
from agent_nb.engine.description import Description
from agent_nb.notebook.user_variables import newest_variables, user_data, user_names
from agent_nb.notebook.values.classes import LAZY, class_of
from agent_nb.notebook.values.describe_values import (
    describe,
    describe_path,
    expand,
    is_data,
    limited,
    paths_in,
    read_path,
)
from agent_nb.notebook.values.kinds import has_columns
from agent_nb.notebook.values.schema import column_names, describe_schema, known_names
from agent_nb.notebook.values.tables import ENDS
from agent_nb.notebook.values.value_paths import first_name, is_python, lookup, lookup_masked
from agent_nb.prompts import exact_name
from agent_nb.tools.base import LoadedData

_WORD = re.compile(r"`?\b[^\W\d]\w*")
_MOST_NAMES, _MOST_COLUMNS = 12, 40
_LONGEST_VALUE = 600
_MOST_ENTRIES = 1000


def loaded_data(
    shell: Any, prompt: str, variables: Sequence[str] | None, *, schema_only: bool
) -> LoadedData | None:
    """The variables that a prompt names, or None; `variables` are those of a cell's `-w` (see `Tool.loaded`)."""
    namespace = shell.user_ns
    references = [] if variables is None else [*paths_in(prompt, variables)]
    computable = [path for path in references if _is_computable(lookup(path, namespace)) and is_python(path)]
    paths = [*dict.fromkeys([*computable, *_mentioned(prompt, shell)])]
    if not paths:
        return None
    allowed_names = known_names(user_names(shell))
    describe_other = partial(describe_schema, allowed_names=allowed_names) if schema_only else describe_path

    def name_or_text(path: str, namespace: Any, braces: str = "") -> Description:
        return Description(f"`{path}`") if path in paths else describe_other(path, namespace, braces)

    question = prompt if variables is None else expand(prompt, namespace, name_or_text).text
    others = [path for path in variables or () if path not in paths]
    texts = [question, *(f"Variable `{path}`:\n{describe_other(path, namespace).text}" for path in others)]
    descriptions = [_describe(path, namespace, None if not schema_only else allowed_names) for path in paths]
    facts = [] if schema_only else [*filter(None, (_named_values(path, namespace, prompt) for path in paths))]
    descriptions, facts = ([*map(mask_values, values)] for values in (descriptions, facts))
    return LoadedData(
        question="\n\n".join([*texts, *facts]),
        description="\n\n".join(descriptions),
        tables=[path for path in paths if has_columns(lookup(path, namespace))],
        names=partial(_existing_names, shell, paths),
        has=shell.user_ns.__contains__,
    )


def _is_computable(value: Any) -> bool:
    return is_data(value) and not isinstance(value, str | bytes | bool)


def _mentioned(prompt: str, shell: Any) -> Iterator[str]:
    """The tables that a prompt names, and other variables that it names in backticks: names may be ordinary words."""
    data = user_data(shell)
    for word in _WORD.findall(prompt):
        name = word.removeprefix("`")
        value = data.get(name)
        if (has_columns(value) and len(name) > 1) or (name != word and _is_computable(value)):
            yield name


def _describe(path: str, namespace: Any, allowed_names: frozenset[str] | None) -> str:
    """Describe the variable: its columns and types, and its first rows unless only `allowed_names` may be sent."""
    names = known_names({path: lookup(path, namespace)}) if allowed_names is None else allowed_names
    heading, *columns = describe_schema(path, namespace, allowed_names=names).text.splitlines()
    kind, _, size = heading.partition(", ")
    kind = kind.rpartition(".")[2]
    article = "An" if kind[:1] in "aeiouAEIOU" else "A"
    lines = [
        f"{article} {kind} `{path}` is loaded (read no file).{f' It has {size}:' if size else ''}",
        *_exact_names(columns, path, namespace),
    ]
    if allowed_names is None:
        beginning = read_path(path, lambda: _beginning(path, namespace))
        lines += [f"First rows of `{path}`:" if beginning.head else "It begins with:"]
        lines += [beginning.head.rstrip() or limited(beginning.text, _LONGEST_VALUE)]
    return "\n".join(lines)


def _exact_names(lines: Sequence[str], path: str, namespace: Any) -> Iterator[str]:
    """The lines of columns, with names whose spaces a model could overlook as Python literals."""
    value = lookup(path, namespace)
    names = column_names(value) if has_columns(value) else []
    exact = {f"- {name}: ": f"- {exact_name(name)}: " for name in names}
    for line in lines:
        name = next((start for start in exact if line.startswith(start)), "")
        yield exact.get(name, "") + line.removeprefix(name)


def _named_values(path: str, namespace: Any, prompt: str) -> str:
    """A line with the columns of the entries named in the prompt: without it, small models do not filter by them."""
    value, _ = lookup_masked(path, namespace)

    def is_named(entry: Any) -> bool:
        is_word = isinstance(entry, str) and len(entry) > 1
        return is_word and bool(re.search(rf"(?<!\w){re.escape(entry)}(?!\w)", prompt, re.IGNORECASE))

    def entries() -> list[str]:
        return [
            f"'{entry}' is a value of `{name}`"
            for name in (column_names(value) if class_of(value) not in LAZY else ())
            for entry in islice(value[name].unique(), _MOST_ENTRIES)
            if is_named(entry)
        ]

    with suppress(UnreadableError):
        named = call_within(1.0, entries)[:_MOST_NAMES]
        return f"In this question, {' and '.join(named)} in `{path}`." if named else ""
    return ""


def _beginning(path: str, namespace: Any) -> Description:
    value, masked = lookup_masked(path, namespace)
    if has_columns(value) and class_of(value) not in LAZY:
        value = value.head(ENDS) if hasattr(value, "head") else value[:ENDS]
    return describe(path, value, masked)


def _existing_names(shell: Any, paths: Sequence[str]) -> dict[str, list[str]]:
    """The variables of the prompt and the newest others that exist now, with the columns of tables."""
    values = {name: value for name, value in newest_variables(shell) if _is_computable(value)}
    first = [name for name in dict.fromkeys(map(first_name, paths)) if name in values]
    names = [*first, *(name for name in values if name not in first)][:_MOST_NAMES]
    return {name: column_names(values[name])[:_MOST_COLUMNS] for name in names}
