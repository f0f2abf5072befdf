"""The user's variables, for Tab completion and the kernel tools.

A dict keeps the position of a reassigned name, so the namespace is in the order of first assignments. Later ones
are found in the source of the cells: the age of a name is that of the last cell that assigns it, assigns an item or
attribute of it, or calls a method of it. A name assigned by a magic or `exec` instead of a cell has the age of
the name before it.
"""

import dis
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from agent_nb.run.code_names import names_in, needed_by, words_in

CODE = (FunctionType, BuiltinFunctionType, type, ModuleType)
"""Types of names that contain code, not data."""
_WRAPPERS = {
    MethodType: "__func__", staticmethod: "__func__", classmethod: "__func__", property: "fget", partial: "func",
    type(lru_cache(len)): "__wrapped__",
}  # fmt: skip
"""Types of callables that contain a function, and where."""
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


def names_read(codes: Iterable[str], known: Collection[str], namespace: Mapping[str, Any]) -> list[str]:
    """Those of the known names that the code reads, also in strings and in functions and classes of the notebook."""
    names = [name for name in needed_by(codes, known) if name in known]
    for name in names:
        inner = {*_names_in_code_of(namespace.get(name), namespace)}
        names += sorted(inner.intersection(known).difference(names))
    return names


def _names_in_code_of(value: Any, namespace: Mapping[str, Any]) -> Iterator[str]:
    values, seen = [value], set[int]()
    for part in values:
        if id(part) in seen:
            continue
        seen.add(id(part))
        kind: Any = type(part)
        if kind is CodeType:
            values += part.co_consts
            yield from (name for constant in part.co_consts for name in words_in(constant))
            yield from (step.argval for step in dis.get_instructions(part) if "GLOBAL" in step.opname)
        elif kind is FunctionType and part.__globals__ is namespace:
            cells = [cell for cell in part.__closure__ or () if cell != CellType()]
            values += [part.__code__, *(cell.cell_contents for cell in cells)]
        elif kind in _WRAPPERS:
            values.append(getattr(part, _WRAPPERS[kind]))
        else:  # a class of the notebook, or an instance of one
            classes = (part if issubclass(kind, type) else kind).__mro__
            values += [item for cls in classes if cls.__module__ == "__main__" for item in vars(cls).values()]


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
