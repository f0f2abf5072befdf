"""Reads the line of a cell: its options, with the user's defaults, the rules of plugins and the run it continues."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_nb._base.text import listed
from agent_nb._base.threads import off_loop
from agent_nb.core.errors import ConfigError
from agent_nb.core.feature import features
from agent_nb.core.options import OPTIONS, Options
from agent_nb.core.run_settings import (
    DERIVED,
    MONEY,
    TYPED,
    Limits,
    RunSettings,
    check_stack,
    count_variants,
    stricter,
)
from agent_nb.engine.parts import read_given
from agent_nb.notebook.cassette_choice import CassetteChoice, choose_cassette
from agent_nb.notebook.failures import FailedCell, PlainCell
from agent_nb.notebook.magic.base_run import base_run
from agent_nb.notebook.magic.cell_rules import CellRules
from agent_nb.notebook.magic.fix import fix_prompt
from agent_nb.notebook.magic.model_choice import ModelChoice
from agent_nb.notebook.session import Session
from agent_nb.run.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class CellLine:
    """What the line of a cell asks for."""

    session: Session
    options: Options
    rules: CellRules
    base: Run | None
    settings: RunSettings
    models: ModelChoice
    cassette: CassetteChoice
    text: str
    """The cell's text, before its `{{name}}` are replaced."""
    about: FailedCell | PlainCell | None
    """The executed cell that `%agent fix` or `explain` is about."""
    uses: Sequence[str]
    """The variables that this cell uses, which are described."""


async def read_line(session: Session, options: Options, cell: str | FailedCell | PlainCell) -> CellLine:
    """Raises `ConfigError` if the options are not possible here, or not allowed."""
    rules = await off_loop(CellRules.of, session, options.name)
    options = rules.options(options)
    base = base_run(session, options)
    settings = await off_loop(read_settings, session, options, base, rules)
    count_variants(len(options.models), options.variants)
    about = None if isinstance(cell, str) else cell
    uses: Sequence[str] = ()
    if not isinstance(cell, str):
        cell, uses = await off_loop(fix_prompt, session, cell, schema_only=bool(settings.data))
    models = await off_loop(ModelChoice.of, session, options.models, rules)
    return CellLine(
        session=session,
        options=options,
        rules=rules,
        base=base,
        settings=settings,
        models=models,
        cassette=choose_cassette(options, base, models.recorded),
        text=cell.strip(),
        about=about,
        uses=uses,
    )


def read_settings(session: Session, options: Options, base: Run | None, rules: CellRules) -> RunSettings:
    defaults, earlier = session.defaults, base.settings if base else {}
    values: dict[str, Any] = {
        name: getattr(options, name) or stricter(name, getattr(defaults, name, None), earlier.get(name))
        for name in (TYPED & OPTIONS.keys()) - DERIVED
    }
    stack = options.stack or earlier.get("stack") or defaults.stack
    values["stack"] = stack and check_stack(stack)
    data = rules.data(values["data"])
    values["data"] = "" if data == "all" else data
    if values["data"]:
        _check_sends_no_values(options)
    return RunSettings(
        **{name: value for name, value in values.items() if value or name == "data"},
        limits=Limits.read(
            lambda name: getattr(options, name) or getattr(defaults, name, None), **{MONEY: "budget"}
        ),
        looks=defaults.looks,
    )


def read_given_values(
    session: Session, options: Options, base: Run | None, rules: CellRules
) -> dict[str, Any]:
    """What the cell's options, or else the user's defaults, give to features."""
    values = {}
    for feature in features():
        value = options.value(feature.name)
        default = session.defaults.default_of(feature) if feature.default else None
        own = default if value is None else value
        earlier = base.settings.get(feature.name) if base and feature.inherits else None
        values[feature.name] = stricter(feature.name, own, earlier)
    rules.given(values)
    return {
        feature.name: read_given(feature, values[feature.name], session.namespace)
        for feature in features()
        if values[feature.name] not in (None, "")
    }


def _check_sends_no_values(options: Options) -> None:
    senders = [each for each in features() if each.sends_values]
    if options.network or any(options.value(each.name) for each in senders):
        flags = [each.option.flags[0] for each in senders if each.option]
        raise ConfigError(
            f"{listed([*flags, '--network'])} send values, and --data schema sends none. Leave them out."
        )
