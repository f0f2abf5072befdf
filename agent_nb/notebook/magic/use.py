"""`%agent use`: variables that hold middleware for the cells that follow."""

from typing import Any

from IPython.core.error import UsageError

from agent_nb._base.table import Table
from agent_nb.engine.middleware import check_middleware, methods_of
from agent_nb.errors import ConfigError
from agent_nb.notebook.session import Session


def use_command(session: Session, rest: str) -> Table | str:
    """Adds the middleware in these variables and takes away those written as `-NAME`; lists it without names."""
    if not rest:
        in_use = used(session).items()
        rows = [(name, type(value).__name__, ", ".join(methods_of(value))) for name, value in in_use]
        empty = f"No middleware in use. `{session.command('use NAME')}` uses the object in a variable."
        return Table(("name", "type", "methods"), rows, empty)
    for word in rest.split():
        name = word.removeprefix("-")
        if word.startswith("-"):
            if name not in session.middleware:
                raise UsageError(f"`{name}` is not in use.{_in_use(session)}")
            session.middleware.remove(name)
        else:
            _find(session, name)
            session.middleware += [] if name in session.middleware else [name]
    return _in_use(session).strip() or "No middleware in use."


def used(session: Session) -> dict[str, Any]:
    """The middleware in use, by the name of its variable; raises `UsageError` if one of them is gone."""
    return {name: _find(session, name) for name in session.middleware}


def _find(session: Session, name: str) -> Any:
    """The middleware that a variable holds now. A missing one must not be skipped: it may hide what is private."""
    remedy = f" `{session.command(f'use -{name}')}` takes it away." if name in session.middleware else ""
    if name not in session.namespace:
        raise UsageError(f"`{name}` is not defined.{remedy}")
    try:
        check_middleware(session.namespace[name])
    except ConfigError as error:
        raise UsageError(f"`{name}` cannot be used. {error}{remedy}") from None
    return session.namespace[name]


def _in_use(session: Session) -> str:
    names = ", ".join(f"`{name}`" for name in session.middleware)
    return f" In use, in this order: {names}." if names else ""
