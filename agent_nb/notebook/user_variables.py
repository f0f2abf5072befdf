"""The user's variables, for Tab completion and the kernel tools.

A dict keeps the position of a reassigned name, so the namespace is in the order of first assignments. Later ones
are found in the source of the cells: the age of a name is that of the last cell that assigns it, assigns an item or
attribute of it, or calls a method of it. A name assigned by a magic or `exec` instead of a cell has the age of
the name before it.
"""

from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from agent_nb.run.code_names import names_in

CODE = (FunctionType, BuiltinFunctionType, type, ModuleType)
"""Types of names that contain code, not data."""
_TYPING = frozenset({"typing", "__future__"})


def is_of(value: Any, module: str, name: str) -> bool:
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0] == module for kind in type(value).__mro__
    )


def user_names(shell: Any) -> dict[str, Any]:
    """The user's names and values, without private names and those that IPython defines."""
    ipython_names = shell.user_ns_hidden
    return {
        name: value
        for name, value in list(shell.user_ns.items())
        if isinstance(name, str) and name[:1] != "_" and ipython_names.get(name, ipython_names) is not value
    }


def user_data(shell: Any) -> dict[str, Any]:
    """The user's names that contain data, without modules, functions and classes."""
    # `isinstance` may run the value's own code, which may raise.
    return {name: value for name, value in user_names(shell).items() if not issubclass(type(value), CODE)}


def newest_variables(shell: Any) -> list[tuple[str, Any]]:
    """The user's names and values, newest first, without modules, imported code and tools."""
    first, last = _cells(shell)
    ages: dict[str, tuple[int, int]] = {}
    newest = 0
    for place, name in enumerate(list(shell.user_ns)):
        newest = max(newest, first.get(name, 0))
        ages[name] = last.get(name, newest), place
    variables = [item for item in user_names(shell).items() if not _is_imported(item[1])]
    return sorted(variables, key=lambda item: ages[item[0]], reverse=True)


def _is_imported(value: Any) -> bool:
    kind = type(value)
    if issubclass(kind, ModuleType) or is_of(value, "agent_nb", "Tool") or kind.__module__ in _TYPING:
        return True
    return issubclass(kind, CODE) and getattr(value, "__module__", None) != "__main__"


def _cells(shell: Any) -> tuple[dict[str, int], dict[str, int]]:
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, source in enumerate(list(shell.history_manager.input_hist_raw)):
        numbers = dict.fromkeys(names_in(str(source)).changes, number)
        first = numbers | first
        last |= numbers
    return first, last
