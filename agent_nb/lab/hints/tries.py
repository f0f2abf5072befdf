"""What counts as a try of one's own: a cell that defines, assigns or runs something, not one that only looks."""

import ast
import builtins
from collections.abc import Collection

_CHANGES = (
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.NamedExpr,
    ast.Delete,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)
_LOOKS = frozenset((*dir(builtins), "display"))
_NOT_CODE = ("%", "!", "#", "?")
_RUNS_PYTHON = ("%%time", "%%timeit", "%%capture", "%%prun")
"""Cell magics around Python code. The body of any other is not Python."""


def is_try(source: str, runs: Collection[str]) -> bool:
    """Whether a cell changes or runs the user's own work; `runs` are the names of variables that hold runs.

    It does if it defines, assigns or deletes something, or calls anything but builtins and methods of a run. Code
    that Python cannot parse counts: it was tried.
    """
    lines = [line for line in source.splitlines() if line.strip()]
    # Without line magics, shell commands, comments, and questions to IPython such as `hero?`.
    code = [
        line for line in lines if not line.strip().startswith(_NOT_CODE) and not line.rstrip().endswith("?")
    ]
    if not code:
        return False
    if lines[0].startswith("%%") and not lines[0].startswith(_RUNS_PYTHON):
        return True
    try:
        tree = ast.parse("\n".join(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    known = {*_LOOKS, *runs}
    return any(isinstance(node, _CHANGES) or _calls_own(node, known) for node in ast.walk(tree))


def _calls_own(node: ast.AST, known: Collection[str]) -> bool:
    if not isinstance(node, ast.Call):
        return False
    root: ast.AST = node
    while isinstance(root, ast.Call | ast.Attribute | ast.Subscript | ast.Await):
        root = root.func if isinstance(root, ast.Call) else root.value
    if isinstance(root, ast.Name):
        return root.id not in known
    return not isinstance(root, ast.Constant | ast.JoinedStr)
