"""Turns a cell and its options into a run that is ready to start. Validates everything before anything is sent."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from agent_nb._base.constants import is_demo
from agent_nb._base.secrets import safe_text
from agent_nb._base.text import listed, sha256
from agent_nb._base.threads import off_loop
from agent_nb.agent import Agent
from agent_nb.core.errors import CassetteError, ConfigError
from agent_nb.core.feature import features
from agent_nb.core.options import OPTIONS, Options
from agent_nb.core.run_settings import (
    DERIVED,
    MONEY,
    STRICTNESS,
    TYPED,
    Limits,
    Mode,
    RunSettings,
    check_stack,
    count_variants,
    stricter,
)
from agent_nb.engine.approval import ApprovalRules
from agent_nb.engine.description import Description
from agent_nb.engine.draft import CellDraft, CellPrompt
from agent_nb.engine.parts import code_of, plan_cell
from agent_nb.engine.start import Prepared
from agent_nb.notebook.cell_request import Plan, all_demo, play, providers
from agent_nb.notebook.front_end import needs_view
from agent_nb.notebook.live.viewer import LiveViewer
from agent_nb.notebook.magic.cassette_choice import CassetteChoice, check_network, choose_cassette
from agent_nb.notebook.magic.cell_rules import CellRules
from agent_nb.notebook.magic.fix import fix_prompt
from agent_nb.notebook.magic.inputs import check_prompt
from agent_nb.notebook.magic.mcp import absent_tools, allow_agents, is_server, start_tools
from agent_nb.notebook.magic.model_choice import ModelChoice
from agent_nb.notebook.magic.names import check_name
from agent_nb.notebook.magic.prompt import prompt_notes, read_prompt
from agent_nb.notebook.magic.tool_groups import tool_groups
from agent_nb.notebook.page.bindings import Bindings, bind, read_names
from agent_nb.notebook.page.pages import BoundPage, BoundViewer, follow_variables, store_of
from agent_nb.notebook.retry_cells import is_plain, line_options
from agent_nb.notebook.session import Session
from agent_nb.notebook.values.describe_values import finished_run
from agent_nb.notebook.values.value_paths import NAME, lookup
from agent_nb.pages.chromium import installed_viewer
from agent_nb.pages.page_check import PageViewer
from agent_nb.plugins import TOOLS
from agent_nb.providers.base import Provider
from agent_nb.run.run import Run, request_key
from agent_nb.run.store import RunStore
from agent_nb.tools import Tool, Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPlan(Plan):
    session: Session
    options: Options
    rules: CellRules
    given: Mapping[str, Any]
    """What the cell gives to features, by their names."""
    dry_run: Sequence[str] = ()
    """Lines of features for `--dry-run`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellInput:
    """A cell whose options, variables and files are read."""

    session: Session
    options: Options
    models: ModelChoice
    cassette: CassetteChoice
    settings: RunSettings
    rules: CellRules
    base: Run | None
    prompt: Description
    source: str
    """The cell's text, in which `{{name}}` is not replaced; empty if the prompt is not the cell's alone."""
    pace: float
    viewer: PageViewer | None
    bindings: Bindings
    given: Mapping[str, Any]
    """What the cell gives to features, by their names."""

    def replay(self, server_tools: Sequence[Tool]) -> CellPlan | None:
        """The plan that plays a cassette of this request; None if there is none."""
        options, cassette = self.options, self.cassette
        tools = self._tools(server_tools)

        def prepare(provider: Provider) -> list[Prepared]:
            return self._prepare(self._agent(provider, tools, self.settings))

        home, models = self.session.home, cassette.recorded_models(options.variants)
        for path in cassette.paths(self.prompt.text, home, prefers_replay=options.prefers_replay):
            try:
                return self._plan(play(path, home, self.pace, prepare, models))
            except CassetteError:
                is_optional = options.prefers_replay or all_demo(cassette.models)
                if cassette.mode != "auto" or not is_optional:
                    raise
        return None

    def from_models(self, server_tools: Sequence[Tool]) -> CellPlan:
        """The plan that calls the models and records the run with `--record`. Plugins limit tools and cost."""
        options, session, cassette = self.options, self.session, self.cassette
        names = self.models.names
        if options.pace is not None and not any(map(is_demo, names)):
            raise ConfigError(
                f"--pace works only for a demo or a replay, not for {names[0]!r}. Leave it out."
            )
        settings = replace(self.settings, limits=self.rules.limits(self.settings.limits, names))
        tools = self._tools(server_tools).without(self.rules.without_tools)
        models = providers(names, self.pace, **settings.requested(), silence=session.defaults.silence)
        agent = self._agent(models[0], tools, settings)
        agent = agent.with_cell(self.source)
        if cassette.mode == "record":
            agent = agent.recording(cassette.path, folder=session.home, quiet=True)
        prepared = self._prepare(agent, models=models, variants=options.variants)
        return self._plan(
            [item.pointing_at(self.prompt.elements, self.prompt.names) for item in prepared],
            self.models.note(session),
        )

    def _tools(self, server_tools: Sequence[Tool]) -> Toolbox:
        groups = tool_groups(self.session, schema_only=bool(self.settings.data))
        return _tools(self.options.tools, self.session.namespace, groups, server_tools)

    def _agent(self, provider: Provider, tools: Toolbox, settings: RunSettings) -> Agent:
        approve = _read_rules(self.options.approve, self.session.defaults.approve)
        agent = Agent(
            provider,
            tools=tools,
            approve=self.rules.approve(approve),
        )
        bound_page = BoundPage(self.bindings, is_in_prompt=True) if self.bindings else None
        return (
            agent.with_run_settings(settings)
            .with_given(self.given)
            .with_viewer(self.viewer, looks=settings.looks)
            .with_bound(bound_page)
        )

    def _prepare(self, agent: Agent, **variants: Any) -> list[Prepared]:
        return agent.prepare_variants(self.prompt.text, images=self.prompt.images, base=self.base, **variants)

    def _plan(self, prepared: Sequence[Prepared], note: str = "") -> CellPlan:
        runs = tuple(self._with_facts(self.rules.prepare(item)) for item in prepared)
        schema = "The model gets names, types and shapes of your data, and no values (`--data schema`)."
        data_note = schema if self.settings.data else ""
        shortened, prompt = runs[0].run_input.shortened, self.prompt
        if runs[0].run_input.asked:  # a feature says what the model sees instead
            prompt = replace(prompt, tables=())
        notes = (
            *self.rules.notes(), note, data_note, self._missing_tools_note(),
            self._variant_note(), self.bindings.note, *prompt_notes(prompt, shortened),
        )  # fmt: skip
        return CellPlan(
            session=self.session,
            options=self.options,
            rules=self.rules,
            given=self.given,
            prepared=runs,
            key=self._key(runs),
            note="\n".join(filter(None, notes)),
        )

    def _with_facts(self, prepared: Prepared) -> Prepared:
        """Store facts about the cell in the settings, in place of a cassette's: whether its prompt has data, its first
        line, unless it contains a secret, and its masked text, unless it is the prompt."""
        settings = {
            name: value for name, value in prepared.recorded_settings.items() if name not in ("line", "cell")
        }
        if (line := self.options.line) and safe_text(line) == line:
            settings["line"] = line
        if self.source not in ("", prepared.run_input.prompt):
            settings["cell"] = safe_text(self.source)
        if self.prompt.has_data:
            settings["has_data"] = True
        return replace(prepared, recorded_settings=settings)

    def _key(self, runs: Sequence[Prepared]) -> str:
        first, *others = (prepared.provider.name for prepared in runs)
        settings, base = runs[0].settings, self.base.key if self.base else ""
        images = [sha256(image.data) for image in self.prompt.images]
        request = (runs[0].run_input.prompt, first, base, settings.instructions or "")
        # Omitted if empty, so that the key of a request without them stays the same.
        extras = (others, *settings.matched().values(), images)
        return request_key(self.options.name, *request, *(extra for extra in extras if extra))

    def _missing_tools_note(self) -> str:
        """A note on tools that the continued run had and this cell lacks."""
        base_tools = line_options(self.base.settings).tools if self.base else ()
        names = [name for name in base_tools if name not in self.options.tools and is_plain(name)]
        if not self.base or not names:
            return ""
        flags = " ".join(f"-t {name}" for name in names)
        return f"`{self.base.name}` had the tools of `{flags}`, and this cell does not."

    def _variant_note(self) -> str:
        """A note on which variant is continued, if the cell does not name one."""
        base = self.base
        name, _, part = (self.options.base or self.options.name).partition(".")
        if not base or len(base.variants) < 2 or part[:1].isdigit():
            return ""
        taken, other = f"variant {base.variant + 1} of {len(base.variants)}", 1 if base.variant else 2
        return f"This continues {taken} of `{name}`; `--from {name}.{other}` continues another."


async def make_plan(session: Session, options: Options, cell: str, *, watched: bool) -> CellPlan:
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
    draft = CellDraft(runs=[*plan.prepared], host=session, given=given, has_system=has_system)
    await plan_cell(draft)
    note = "\n".join(filter(None, (plan.note, *draft.notes)))
    runs = tuple(cast("list[Prepared]", draft.runs))
    return replace(plan, prepared=runs, note=note, dry_run=draft.dry_run)


async def _read(session: Session, options: Options, cell: str, *, watched: bool) -> CellInput:
    check_name(options.name, session.namespace)
    if not options.failure:
        await off_loop(check_prompt, session, cell)
    rules = await off_loop(CellRules.of, session, options.name)
    options = rules.options(options)
    base = _base(session, options)
    settings = await off_loop(_settings, session, options, base, rules)
    count_variants(len(options.models), options.variants)
    if options.failure:
        cell, options = await off_loop(fix_prompt, session, options, schema_only=bool(settings.data))
    models = await off_loop(ModelChoice.of, session, options.models, rules)
    cassette = choose_cassette(options, base, models.recorded)
    bindings = await _bind(session, options, base)
    given = _given(session, options, base, rules)
    asked = CellPrompt(
        text=cell.strip(),
        host=session,
        given=given,
        sends_values=not settings.data,
        connect=partial(_connect_page, session, is_watched=watched),
    )
    prompt = await read_prompt(session, asked, bindings, options.failure)
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


def _given(session: Session, options: Options, base: Run | None, rules: CellRules) -> dict[str, Any]:
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
        feature.name: code_of(feature).read(values[feature.name], session.namespace)
        for feature in features()
        if values[feature.name] not in (None, "")
    }


def _connect_page(session: Session, *, is_watched: bool) -> None:
    """Connect to the page before there is a run to show: it is asked for cells of the notebook."""
    if not is_watched or getattr(session.shell, "kernel", None) is None or needs_view():
        return
    from agent_nb.notebook.live.hub import hub

    hub()


def _settings(session: Session, options: Options, base: Run | None, rules: CellRules) -> RunSettings:
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


def _base(session: Session, options: Options) -> Run | None:
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


def _tools(
    names: Iterable[str],
    namespace: dict[str, Any],
    groups: Mapping[str, Sequence[Tool]],
    server_tools: Sequence[Tool],
) -> Toolbox:
    """The built-in tools plus the named ones: variables, tools for the notebook, plugin tools and server tools.

    A variable overrides a tool for the notebook of the same name.
    """
    tools: list[Tool | Callable[..., Any]] = []
    packaged: dict[str, Tool] = {}
    for name in (name for name in names if not is_server(name)):
        plugin_tools = [tool for family in TOOLS for tool in TOOLS[family] if name in (family, tool.name)]
        own_tools = [tool for group in groups for tool in groups[group] if name in (group, tool.name)]
        if (own_tools or plugin_tools) and not callable(namespace.get(name)):
            packaged |= {tool.name: tool for tool in own_tools}
            tools += [] if own_tools else plugin_tools
            continue
        value = lookup(name, namespace)
        if not callable(value):
            raise ConfigError(
                f"`{name}` is of type {type(value).__name__}, not a tool. Decorate a function with @tool."
            )
        tools.append(value)
    return Toolbox.default([*tools, *packaged.values(), *server_tools])


def _read_rules(values: Iterable[str], default: Mode) -> ApprovalRules:
    """The rules of all `--approve` values, such as `auto` and `run_python=ask`. The last one for a tool wins."""
    by_name: dict[str, Mode] = {}
    for value in values:
        name, equals, mode_name = value.rpartition("=")
        mode = next((mode for mode in STRICTNESS if mode == mode_name), None)
        if mode is None or (equals and not name):
            raise ConfigError(
                f"--approve takes ask, auto, deny, or a rule for one tool such as `--approve NAME=ask`, not {value!r}."
            )
        if name:
            by_name[name] = mode
        else:
            default = mode
    return ApprovalRules(default, by_name)
