"""The middleware in use, the command that changes it, and its hooks in the runs of a cell."""

from dataclasses import replace
from typing import Any

from agent_nb._base.table import Table
from agent_nb.features.middleware import MIDDLEWARE
from agent_nb.plugins import CellCode, CellDraft, ConfigError, Host
from agent_nb.plugins.engine import check_middleware, methods_of


class UsesMiddleware(CellCode[Any]):
    async def planned(self, plan: CellDraft) -> None:
        if in_use := _in_use(plan.host):
            plan.runs[:] = [replace(run, hooks=run.hooks.plus(in_use.values())) for run in plan.runs]
            plan.dry_run.append(f"Middleware: {', '.join(in_use)}, which may change what is sent")


def use_command(host: Host, arguments: str) -> Table | str:
    """Add the middleware in these variables and remove `-NAME`; without arguments, list what is in use."""
    names: list[str] = host.memory.setdefault(MIDDLEWARE.name, [])
    for word in arguments.split():
        name = word.removeprefix("-")
        if name == word:
            _find(host, name)
            names += [] if name in names else [name]
        elif name in names:
            names.remove(name)
        else:
            raise ConfigError(f"`{name}` is not in use.{_listed(names)}")
    if arguments:
        return _listed(names).strip() or "No middleware in use."
    objects = _in_use(host).items()
    rows = [(name, type(value).__name__, ", ".join(methods_of(value))) for name, value in objects]
    empty = f"No middleware in use. `{host.command('use NAME')}` uses the object in a variable."
    return Table(("name", "type", "methods"), rows, empty)


def _in_use(host: Host) -> dict[str, Any]:
    """The middleware in use, by variable name; raises `ConfigError` if a variable no longer exists."""
    return {name: _find(host, name) for name in host.memory.get(MIDDLEWARE.name, ())}


def _find(host: Host, name: str) -> Any:
    """The middleware in a variable. Never skip a missing one: it may protect private data."""
    is_used = name in host.memory.get(MIDDLEWARE.name, ())
    remedy = f" `{host.command(f'use -{name}')}` removes it." if is_used else ""
    if name not in host.namespace:
        raise ConfigError(f"`{name}` is not defined.{remedy}")
    try:
        check_middleware(host.namespace[name])
    except ConfigError as error:
        raise ConfigError(f"`{name}` cannot be used. {error}{remedy}") from None
    return host.namespace[name]


def _listed(names: list[str]) -> str:
    return f" In use, in this order: {', '.join(f'`{name}`' for name in names)}." if names else ""
