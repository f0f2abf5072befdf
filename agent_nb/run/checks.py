"""Checks that are given as text: `--check` and the checks of `compare`."""

import ast
from collections.abc import Mapping
from typing import Any

from agent_nb._base.text import shortened
from agent_nb.errors import ConfigError

_PURE = {"len", "sum", "min", "max", "sorted", "set", "str", "int", "float", "any", "all", "bool"}
"""Functions that may be called a second time to show what they return."""
_PURE_OWNERS = {"run", "files", "html", "text"}
_LONGEST_SHOWN = 60


def read_check(expression: str) -> str:
    """The expression, without the quotes around it if it is quoted as a whole.

    Raises `ConfigError` if it is not valid, or if it cannot depend on the run.
    """
    source = expression.strip()
    tree = _parse(source)
    if isinstance(tree.body, ast.Constant) and isinstance(tree.body.value, str):
        source = tree.body.value.strip()
        tree = _parse(source)
    if not any(isinstance(node, ast.Name) for node in ast.walk(tree)):
        raise ConfigError(
            f"The check {source!r} is the same for every run. Use run, files, html or text in it."
        )
    return source


def _parse(source: str) -> ast.Expression:
    try:
        return ast.parse(source, "<check>", "eval")
    except (SyntaxError, ValueError) as error:
        raise ConfigError(f"The check {source!r} is not a valid expression: {error}.") from None


def failure_of(expression: str, scope: Mapping[str, Any]) -> str:
    """Evaluates a check: why it failed, as `EXPRESSION: what was seen`, or an empty string if it holds."""
    # All names are globals, because a comprehension inside `eval` does not see its locals.
    names = dict(scope)
    try:
        result = eval(expression, names)
        if result:
            return ""
        seen = [
            f"{ast.unparse(part)} is {_shown(eval(ast.unparse(part), names))}" for part in _parts(expression)
        ]
        return f"{expression}: {' and '.join(seen) or f'it is {_shown(result)}'}"
    except Exception as error:
        return f"{expression}: {type(error).__name__}: {error}"


def _parts(expression: str) -> list[ast.expr]:
    """What was seen, if it may be evaluated again: what is negated, or the sides of a comparison but for constants."""
    match _parse(expression).body:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            sides = [operand]
        case ast.Compare(left=left, comparators=[right]):
            sides = [side for side in (left, right) if not isinstance(side, ast.Constant)]
        case _:
            sides = []
    return sides if all(_is_pure(side) for side in sides) else []


def _is_pure(part: ast.expr) -> bool:
    calls = [node.func for node in ast.walk(part) if isinstance(node, ast.Call)]
    return all(
        (isinstance(function, ast.Name) and function.id in _PURE)
        or (
            isinstance(function, ast.Attribute)
            and isinstance(function.value, ast.Name)
            and function.value.id in _PURE_OWNERS
        )
        for function in calls
    )


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, tuple) and all(isinstance(one, str) for one in value):
        return shortened(", ".join(value), _LONGEST_SHOWN) or "empty"
    if isinstance(value, str):
        return (
            f'"{value}"'
            if len(value) <= _LONGEST_SHOWN and "\n" not in value
            else f"{len(value):,} characters"
        )
    if hasattr(value, "__len__"):
        return "empty" if not len(value) else f"{len(value):,} items" if len(value) > 1 else "1 item"
    return f"of type {type(value).__name__}"
