"""`%agent fix [N] [OPTION]...`: a run like any other, whose prompt is made from a cell that failed."""

import ast
import builtins
import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from IPython.core.error import UsageError

from agent_nb._base.secrets import MASK
from agent_nb._base.text import fenced
from agent_nb.engine.data_gate import known_words
from agent_nb.errors import AgentError
from agent_nb.notebook.failures import Failure
from agent_nb.notebook.parsing import parse_line
from agent_nb.notebook.session import Session
from agent_nb.notebook.user_variables import user_data, user_names
from agent_nb.notebook.values.cells import mask_named
from agent_nb.notebook.values.describe_values import TEXT_LIMIT, describe_path, escaped, limited
from agent_nb.notebook.values.schema import describe_schema, known_names
from agent_nb.notebook.values.value_masking import is_secret
from agent_nb.options import Options
from agent_nb.prompts import prompt_text
from agent_nb.run.code_names import parsed

NAME = "fix"
MOST_VARIABLES = 8
SHORTEST_SECRET = 4
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")


def read_fix(session: Session, line: str) -> Options:
    """The options of `fix 5 -m MODEL`; raises `UsageError` if there is nothing to fix."""
    rest = line.strip().removeprefix("fix").strip()
    found = re.match(r"(\d{1,9})(?:\s+|$)", rest)
    number = int(found[1]) if found else None
    failure = session.failures.find(number)
    if failure is None and number is not None:
        raise UsageError(f"Cell [{number}] has not failed in this session, or it has been run again since.")
    if failure is None:
        raise UsageError("No cell has failed in this session.")
    options = parse_line(rest[found.end() :] if found else rest, session.defaults.magic_name)
    return replace(options, name=options.name if options.is_named else NAME, failure=failure)


def fix_prompt(session: Session, options: Options, *, schema_only: bool) -> tuple[str, Options]:
    """The prompt, and the options with the variables that the cell names."""
    failure: Failure = options.failure
    names = user_names(session.shell)
    known = known_names(names) if schema_only else frozenset[str]()
    error = _without_secrets(failure.error, names)
    if schema_only:
        words = known.union(_WORD.findall(failure.source))
        error = known_words(failure.message, words) + (f" (line {failure.line})" if failure.line else "")
    near = _near(failure.undefined, names)
    parts = [
        prompt_text(NAME),
        f"The cell:\n{fenced(limited(mask_named(failure.source.strip()), TEXT_LIMIT), 'python')}",
        f"The error:\n{fenced(error)}",
        f"Names like `{failure.undefined}` that the notebook has: {', '.join(near)}." if near else "",
    ]
    describe = partial(describe_schema, known=known) if schema_only else describe_path
    named = dict.fromkeys([*_names_in(failure.source), *near])
    variables = [name for name in named if name in user_data(session.shell) and name not in options.variables]
    readable = [*_readable(variables, session.namespace, describe)][:MOST_VARIABLES]
    text = "\n\n".join(escaped(part) for part in parts if part)
    return text, replace(options, variables=(*options.variables, *readable))


def _without_secrets(text: str, names: Mapping[str, Any]) -> str:
    """A message may quote a variable that `{{name}}` would mask."""
    for name, value in names.items():
        if type(value) is str and len(value) >= SHORTEST_SECRET and is_secret(name, value):
            text = text.replace(value, MASK)
    return mask_named(text)


def _names_in(source: str) -> list[str]:
    """The names in the code, or all words of what is not Python."""
    tree = parsed(source)
    if tree is None:
        return _WORD.findall(source)
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]


def _near(name: str, names: Mapping[str, Any]) -> list[str]:
    return difflib.get_close_matches(name, [*names, *dir(builtins)], 3, 0.7) if name else []


def _readable(variables: list[str], namespace: Mapping[str, Any], describe: Any) -> Iterator[str]:
    """Those that can be described: one whose `repr` fails is no reason to leave the cell unfixed."""
    for name in variables:
        try:
            describe(name, namespace)
        except (UsageError, AgentError):
            continue
        yield name
