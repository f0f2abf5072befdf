"""The run that a cell continues: `--from NAME.2.at(3)` and `-c`."""

import re

from agent_nb.core.errors import ConfigError
from agent_nb.core.options import Options
from agent_nb.notebook.session import Session
from agent_nb.notebook.values.describe_values import finished_run
from agent_nb.notebook.values.value_paths import NAME
from agent_nb.run.run import Run
from agent_nb.run.store import RunStore


def base_run(session: Session, options: Options) -> Run | None:
    """The run of `--from` or `-c`, or None; raises `ConfigError` if there is no such run."""
    if options.base and options.continues:
        raise ConfigError("Use either --from NAME or -c, not both.")
    name = options.base or (options.name if options.continues else None)
    if name is None:
        if options.compact:
            raise ConfigError(
                "--compact shortens an earlier conversation: add -c or --from NAME to continue one."
            )
        return None
    name, variant, moment = _part(name)
    value = finished_run(name, session.namespace.get(name))
    if isinstance(value, Run):
        value = value if variant is None else value.pick(variant)
        return value if moment is None else value.at(moment)
    if value is not None:
        raise ConfigError(
            f"`{name}` is of type {type(value).__name__}, not a Run, so there is nothing to continue from."
        )
    is_saved = RunStore(session.home).newest(name) is not None
    load = session.command(f"load {name}")
    remedy = f"`{load}` loads the saved run." if is_saved else "Run its cell first."
    raise ConfigError(f"`{name}` is not defined. {remedy}")


def _part(reference: str) -> tuple[str, int | None, int | None]:
    """`hero.2.at(3)` is variant 2 of `hero` at moment 3. No other expression is evaluated."""
    match = re.fullmatch(rf"({NAME})(?:\.(\d{{1,6}}))?(?:\.at\((\d{{1,6}})\))?", reference)
    if match is None:
        raise ConfigError(
            f"--from takes a run such as `hero`, its variant `hero.2`, or `hero.at(3)`, not {reference!r}."
        )
    name, *numbers = match.groups()
    variant, moment = (None if number is None else int(number) for number in numbers)
    return name, variant, moment
