"""What code does besides Python: shell commands and magics, named on the card before the user approves it."""

import ast
import warnings
from collections.abc import Iterator
from typing import Any

from agent_nb._base.text import shortened

MAX_COMMAND = 60

_SHELL_METHODS = {"system", "getoutput", "getoutput_split"}
_SHELL_MAGICS = {
    "sx", "sc", "system", "bash", "sh", "script", "cmd", "perl", "ruby", "pip", "conda", "mamba", "uv",
}  # fmt: skip
_PROCESS_CALLS = {
    "os.system", "os.popen", "os.execv", "os.execvp", "os.spawnl", "os.posix_spawn", "subprocess.run",
    "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.getoutput",
    "subprocess.Popen", "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell",
}  # fmt: skip


def mentions(code: str, shell: Any) -> list[str]:
    """Such as `runs a shell command: ls`, `uses %timeit`; what cannot be parsed is not mentioned."""
    try:
        tree = ast.parse(shell.input_transformer_manager.transform_cell(code))
    except Exception:  # invalid code fails when it is run; transformers of others may fail too
        return []
    return list(dict.fromkeys(_found(tree)))


def syntax_problem(code: str, shell: Any) -> str:
    """Why the code cannot be compiled; empty if it can."""
    try:
        source = shell.input_transformer_manager.transform_cell(code)
        with warnings.catch_warnings(action="ignore"):
            compile(source, "<code>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return f"Line {error.lineno}: {error.msg}." if error.lineno else f"{error.msg}."
    except ValueError as error:  # a NUL
        return f"{error}."
    return ""


def magics(code: str, shell: Any) -> set[str]:
    """The names of the magics that the code uses."""
    prefix = "uses %"
    return {
        mention.removeprefix(prefix).lstrip("%") for mention in mentions(code, shell) if prefix in mention
    }


def _found(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="get_ipython")), attr=method)):
                yield from _of_shell(method, [_text(argument) for argument in node.args])
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name), args=args):
                if (called := f"{owner}.{name}") in _PROCESS_CALLS:
                    yield f"runs a shell command: {_short(_text(args[0]) if args else called)}"


def _of_shell(method: str, arguments: list[str]) -> Iterator[str]:
    first = arguments[0] if arguments else ""
    if method in _SHELL_METHODS:
        yield f"runs a shell command: {_short(first)}"
    elif method in ("run_line_magic", "run_cell_magic") and first in _SHELL_MAGICS:
        yield f"runs a shell command: {_short(' '.join([first, *arguments[1:]]))}"
    elif method in ("run_line_magic", "run_cell_magic"):
        yield f"uses {'%' if method == 'run_line_magic' else '%%'}{first}"


def _text(node: ast.AST) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def _short(command: str) -> str:
    return shortened(" ".join(command.split()), MAX_COMMAND)
