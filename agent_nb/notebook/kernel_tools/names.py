"""The user's own variables, newest first.

A dict keeps the place of a name that is assigned again, so the order of the namespace is that of first
assignments. The source of the cells shows later ones: a name is as new as the last cell that assigns it, or an
item or attribute of it. A name that no cell assigns, because a magic or `exec` did, is as new as the one before it.
"""

import ast
from collections.abc import Iterator
from functools import lru_cache
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from agent_nb.tools import Tool

_IPYTHON = frozenset({"In", "Out", "exit", "quit", "get_ipython"})
_CODE = (FunctionType, BuiltinFunctionType, type)
_TYPING = frozenset({"typing", "__future__"})


def user_variables(shell: Any) -> list[tuple[str, Any]]:
    """Names and values, newest first: no modules, private names, imported code, tools, nothing of IPython's."""
    namespace = dict(shell.user_ns)
    hidden = shell.user_ns_hidden
    own = {
        name: value
        for name, value in namespace.items()
        if isinstance(name, str)
        and not name.startswith("_")
        and name not in _IPYTHON
        and hidden.get(name, hidden) is not value
        and not _is_imported(value)
    }
    first, last = _cells(shell)
    ages: dict[str, tuple[int, int]] = {}
    newest = 0
    for place, name in enumerate(namespace):
        newest = max(newest, first.get(name, 0))
        ages[name] = last.get(name, newest), place
    return sorted(own.items(), key=lambda item: ages[item[0]], reverse=True)


def _is_imported(value: Any) -> bool:
    """Whether it is a module, a tool, or code from elsewhere. `isinstance` would ask the value, which may raise."""
    kind = type(value)
    if issubclass(kind, ModuleType | Tool) or kind.__module__ in _TYPING:
        return True
    return issubclass(kind, _CODE) and getattr(value, "__module__", None) != "__main__"


def _cells(shell: Any) -> tuple[dict[str, int], dict[str, int]]:
    """The numbers of the first and of the last cell that assigns each name."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, source in enumerate(list(shell.history_manager.input_hist_parsed)):
        numbers = dict.fromkeys(_assigned(source), number)
        first = numbers | first
        last |= numbers
    return first, last


@lru_cache(maxsize=1024)
def _assigned(source: str) -> frozenset[str]:
    try:
        return frozenset(_names(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()


def _names(node: ast.AST) -> Iterator[str]:
    """The names of the cell's own scope that are assigned in this node."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
            return
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return
        case ast.Name(ctx=ast.Store()):
            yield node.id
        case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
            yield from _base_name(node)
        case ast.ImportFrom():
            yield from (alias.asname or alias.name for alias in node.names)
        case ast.Call(
            func=ast.Attribute(attr="run_cell_magic" | "run_line_magic"), args=[*_, ast.Constant(str(code))]
        ):
            yield from _assigned(code)  # as in `%time` and `%%capture`
    for child in ast.iter_child_nodes(node):
        yield from _names(child)


def _base_name(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
