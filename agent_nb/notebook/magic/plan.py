"""Turns a cell and its options into a run that is ready to start. Validates everything before anything is sent."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

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
from agent_nb.engine.draft import CellDraft, CellPrompt
from agent_nb.engine.parts import plan_cell, read_given
from agent_nb.engine.start import Prepared
from agent_nb.notebook.failures import FailedCell, PlainCell
from agent_nb.notebook.front_end import needs_view
from agent_nb.notebook.live.viewer import LiveViewer
from agent_nb.notebook.magic.base_run import base_run
from agent_nb.notebook.magic.cassette_choice import check_network, choose_cassette
from agent_nb.notebook.magic.cell_input import CellInput, CellPlan
from agent_nb.notebook.magic.cell_rules import CellRules
from agent_nb.notebook.magic.fix import fix_prompt
from agent_nb.notebook.magic.inputs import check_prompt
from agent_nb.notebook.magic.mcp import absent_tools, allow_agents, is_server, start_tools
from agent_nb.notebook.magic.model_choice import ModelChoice
from agent_nb.notebook.magic.names import check_name
from agent_nb.notebook.magic.prompt import read_prompt
from agent_nb.notebook.page.bindings import Bindings, bind, read_names
from agent_nb.notebook.page.pages import BoundViewer, follow_variables, store_of
from agent_nb.notebook.session import Session
from agent_nb.pages.chromium import installed_viewer
from agent_nb.pages.page_check import PageViewer
from agent_nb.run.run import Run


async def make_plan(
    session: Session, options: Options, cell: str | FailedCell | PlainCell, *, watched: bool
) -> CellPlan:
    """Read variables, files and options; raises `ConfigError` if the cell cannot run as written."""
    cell_input = await _read(session, options, cell, watched=watched)
    models, given = cell_input.models, cell_input.given
    servers = [name for name in cell_input.options.tools if is_server(name)]
    if replayed := await off_loop(cell_input.replay, absent_tools(servers)):
        return replayed
    check_network(models.names, cell_input.cassette.path)
    models.check(session)
    allow_agents(session, models.names)
    plan = await off_loop(cell_input.from_models, await start_tools(session, servers))
    has_system = cell_input.rules.has_system
    draft = CellDraft(runs=[*plan.prepared], host=session.host, given=given, has_system=has_system)
    await plan_cell(draft)
    note = "\n".join(filter(None, (plan.note, *draft.notes)))
    runs = tuple(cast("list[Prepared]", draft.runs))
    return replace(plan, prepared=runs, note=note, dry_run=draft.dry_run)


async def _read(
    session: Session, options: Options, cell: str | FailedCell | PlainCell, *, watched: bool
) -> CellInput:
    check_name(options.name, session.namespace)
    about = None if isinstance(cell, str) else cell
    if isinstance(cell, str):
        await off_loop(check_prompt, session, cell)
    rules = await off_loop(CellRules.of, session, options.name)
    options = rules.options(options)
    base = base_run(session, options)
    settings = await off_loop(read_settings, session, options, base, rules)
    count_variants(len(options.models), options.variants)
    uses: Sequence[str] = ()
    if not isinstance(cell, str):
        cell, uses = await off_loop(fix_prompt, session, cell, schema_only=bool(settings.data))
    models = await off_loop(ModelChoice.of, session, options.models, rules)
    cassette = choose_cassette(options, base, models.recorded)
    bindings = await _bind(session, options, base)
    given = read_given_values(session, options, base, rules)
    asked = CellPrompt(
        text=cell.strip(),
        host=session.host,
        about=about,
        uses=uses,
        given=given,
        sends_values=not settings.data,
        connect=partial(_connect_page, session, is_watched=watched),
    )
    prompt = await read_prompt(session, asked, bindings)
    instructions = "\n\n".join(filter(None, (session.defaults.instructions, *asked.instructions)))
    return CellInput(
        session=session,
        options=options,
        models=models,
        cassette=cassette,
        settings=replace(settings, instructions=instructions or None),
        rules=rules,
        base=base,
        prompt=prompt,
        source="" if prompt.has_cells else cell.strip(),
        # If nobody is watching, a demo or replay does not wait. The times in its events stay the same.
        pace=options.pace if options.pace is not None else (1.0 if watched else 0.0),
        viewer=_viewer(session, bindings, is_shown=watched and not options.plain),
        bindings=bindings,
        given=given,
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


def _connect_page(session: Session, *, is_watched: bool) -> None:
    """Connect to the page before there is a run to show: it is asked for cells of the notebook."""
    if not is_watched or getattr(session.shell, "kernel", None) is None or needs_view():
        return
    from agent_nb.notebook.live.hub import hub

    hub()


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


def _check_sends_no_values(options: Options) -> None:
    senders = [each for each in features() if each.sends_values]
    if options.network or any(options.value(each.name) for each in senders):
        flags = [each.option.flags[0] for each in senders if each.option]
        raise ConfigError(
            f"{listed([*flags, '--network'])} send values, and --data schema sends none. Leave them out."
        )


def _viewer(session: Session, bindings: Bindings, *, is_shown: bool) -> PageViewer | None:
    """The user's browser, if it shows the run; else headless Chromium, if it is installed."""
    is_shown = is_shown and hasattr(session.shell, "kernel")
    headless: PageViewer | None = installed_viewer()
    headless = BoundViewer(headless, bindings) if headless and bindings else headless
    return LiveViewer(headless) if is_shown else headless


async def _bind(session: Session, options: Options, base: Run | None) -> Bindings:
    """The page's bindings: the names of `--bind`, and those of the continued run."""
    store, names = store_of(base.id, base.variant) if base else None, read_names(options.bind or "")
    ipython_names = session.shell.user_ns_hidden
    for name in names:
        if name in ipython_names and ipython_names[name] is session.namespace.get(name):
            raise ConfigError(f"`{name}` belongs to IPython. Bind variables and functions of your own.")
    bindings = bind(names, session.namespace, store.rows if store else {})
    await bindings.encode()
    session.after_cell.add(follow_variables)
    return bindings
