"""`%agent fix [N] [OPTION]...` and `%agent explain`: ordinary runs whose prompt is built from a cell."""

import ast
import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from agent_nb._base.secrets import own_values
from agent_nb._base.text import fenced
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.core.options import Options
from agent_nb.engine.data_gate import BUILT_IN, known_words
from agent_nb.notebook.failures import CellToRun, FailedCell, PlainCell
from agent_nb.notebook.parsing import parse_line
from agent_nb.notebook.session import Session
from agent_nb.notebook.user_variables import user_data, user_names
from agent_nb.notebook.values.cells import mask_named, text_outputs
from agent_nb.notebook.values.describe_values import TEXT_LIMIT, describe_path, escaped, limited
from agent_nb.notebook.values.schema import describe_schema, known_names
from agent_nb.prompts import prompt_text
from agent_nb.run.code_names import parse_cell

FIX = "fix"
EXPLAIN = "explain"
LEFT_OUT = "(left out: no values are sent)"
NOTHING = "(no text)"
MOST_VARIABLES = 8
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")


def read_fix(session: Session, arguments: str) -> CellToRun:
    """The options and the cell of `fix 5 -m MODEL`; raises `ConfigError` if no such cell has failed."""
    number, options = _read(session, arguments, FIX)
    return CellToRun(options, _failed(session, number))


def read_explain(session: Session, arguments: str) -> CellToRun:
    number, options = _read(session, arguments, EXPLAIN)
    return CellToRun(options, _executed(session, number))


def _read(session: Session, arguments: str, name: str) -> tuple[int | None, Options]:
    match = re.match(r"\s*(\d{1,9})(?:\s+|$)", arguments)
    options = parse_line(arguments[match.end() :] if match else arguments, session.defaults.magic_name)
    return int(match[1]) if match else None, replace(options, name=options.name if options.is_named else name)


def _failed(session: Session, number: int | None) -> FailedCell:
    if failure := session.failures.find(number):
        return failure
    if number is None:
        raise ConfigError("No cell has failed in this session.")
    raise ConfigError(f"Cell [{number}] has not failed in this session, or it has been run again since.")


def _executed(session: Session, number: int | None) -> PlainCell:
    """A cell of this session, by default the last one that is not an `%agent` cell or command."""
    sources = session.shell.history_manager.input_hist_raw
    magics = (f"%{session.defaults.magic_name}", f"%%{session.defaults.magic_name}")
    earlier = range(min(session.shell.execution_count, len(sources)) - 1, 0, -1)
    plain = (
        count
        for count in earlier
        if sources[count].strip() and not sources[count].lstrip().startswith(magics)
    )
    number = next(plain, 0) if number is None else number
    if number not in earlier:
        raise ConfigError(
            f"There is no cell [{number}] in this session." if number else "No cell has been run."
        )
    failure = session.failures.find(number)
    output = failure.error if failure else _output(session, number)
    return PlainCell(number=number, source=sources[number], output=output)


def _output(session: Session, number: int) -> str:
    """The text output of a cell, as far as IPython has stored it."""
    texts = "\n".join(text.strip("\n") for text in text_outputs(session.shell, number) if text)
    results = session.namespace.get("Out", {})
    return texts or (repr(results[number]) if number in results else "")


def fix_prompt(
    session: Session, target: FailedCell | PlainCell, *, schema_only: bool
) -> tuple[str, list[str]]:
    """The prompt, and the variables that the cell uses."""
    names = user_names(session.shell)
    schema_names = known_names(names) if schema_only else frozenset[str]()
    near: list[str] = []
    values = own_values()
    shown = (target.error, target.undefined) if isinstance(target, FailedCell) else (target.output, "")
    source, output, undefined = (mask_named(text, values) for text in (target.source.strip(), *shown))
    cell = fenced(limited(source, TEXT_LIMIT), "python")
    if isinstance(target, FailedCell):
        error = output
        if schema_only:
            error, undefined = _error_words(target, schema_names)
        parts = [prompt_text(FIX), f"The cell:\n{cell}", f"The error:\n{fenced(error)}"]
        if near := difflib.get_close_matches(undefined, {*names, *BUILT_IN}, 3, 0.7):
            parts.append(f"Names like `{undefined}` that the notebook has: {', '.join(near)}.")
    else:
        output = LEFT_OUT if schema_only else limited(output, TEXT_LIMIT)
        parts = [prompt_text(EXPLAIN), f"The cell:\n{cell}", f"Its output:\n{fenced(output or NOTHING)}"]
    describe = partial(describe_schema, allowed_names=schema_names) if schema_only else describe_path
    names_used = dict.fromkeys([*_names_in(target.source), *near])
    variables = [name for name in names_used if name in user_data(session.shell)]
    readable = [*_readable(variables, session.namespace, describe)][:MOST_VARIABLES]
    text = "\n\n".join(escaped(part) for part in parts)
    return text, readable


def _error_words(failure: FailedCell, schema_names: frozenset[str]) -> tuple[str, str]:
    """The error's message and its undefined name, reduced to the words that `--data schema` may send."""
    words = schema_names.union(_WORD.findall(failure.source))
    line = f" (line {failure.line})" if failure.line else ""
    return known_words(failure.message, words) + line, known_words(failure.undefined, words)


def _names_in(source: str) -> list[str]:
    """The names used in the code, or all words if the code is not valid Python."""
    tree = parse_cell(source)
    if tree is None:
        return _WORD.findall(source)
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]


def _readable(variables: list[str], namespace: Mapping[str, Any], describe: Any) -> Iterator[str]:
    """Skip variables that cannot be described: a failing `repr` must not block the fix."""
    for name in variables:
        try:
            describe(name, namespace)
        except AgentError:
            continue
        yield name
