"""The variables NAME and `files`, which a run sets when it ends."""

import builtins
import keyword
import types
from typing import Any

from agent_nb.core.errors import ConfigError
from agent_nb.engine.handle import Handle
from agent_nb.notebook.session import Session
from agent_nb.run import Run

_RESERVED = {"In", "Out", "get_ipython", "exit", "quit", "open", "display"}


def check_name(name: str, namespace: dict[str, Any]) -> str:
    """Return the name; raises `ConfigError` if it is invalid or would shadow a built-in or a module."""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise ConfigError(f"{name!r} is not a valid name. Use letters, digits and _, such as `hero`.")
    if hasattr(builtins, name) or name in _RESERVED:
        raise ConfigError(f"`{name}` would hide Python's own `{name}`. Choose another name, such as `hero`.")
    if isinstance(namespace.get(name), types.ModuleType):
        raise ConfigError(f"`{name}` is an imported module. Choose another name, such as `{name}_run`.")
    return name


def assign(session: Session, name: str, value: Any) -> None:
    previous = session.namespace.get(name, value)
    is_its_handle = isinstance(previous, Handle) and previous.id == value.id
    if previous is not value and not is_its_handle:
        session.replaced.append((name, previous))
    session.namespace[name] = value


def set_variables(session: Session, run: Run) -> str | None:
    """Set NAME and `files`; return the name of the files variable, or None if it was not set."""
    assign(session, run.name, run)
    return set_files(session, run, run.name)


def set_files(session: Session, run: Run, name: str) -> str | None:
    namespace, files_name = session.namespace, session.defaults.files_name
    if not files_name or files_name == name:
        return None
    if (files := namespace.get(files_name, session.last_files)) is not session.last_files:
        # The user's own variable, unless it was set as in `files = hero.files`.
        runs = [value for value in namespace.values() if isinstance(value, Run)]
        if all(variant.files is not files for other in runs for variant in (other, *other.variants)):
            return None
    namespace[files_name] = session.last_files = run.files
    return files_name
