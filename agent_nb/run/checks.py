"""Checks that are given as text: `--check` and the checks of `compare`."""

import ast

from agent_nb.errors import ConfigError


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
