"""Turns a cell and its options into a run that is ready to start. Mistakes are found here, before anything is sent."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from IPython.core.error import UsageError

from agent_nb._base.model_name import DEMO_MODEL, is_demo
from agent_nb._base.secrets import safe_text
from agent_nb._base.table import Table
from agent_nb._base.text import sha256, whole_text
from agent_nb._base.threads import off_loop
from agent_nb.agent import Agent
from agent_nb.engine.approval_rules import MODES, Mode, Rules
from agent_nb.engine.middleware import check_middleware, methods_of
from agent_nb.engine.prepared import Prepared
from agent_nb.engine.race import count_variants
from agent_nb.errors import ConfigError
from agent_nb.looking.chromium import installed_viewer
from agent_nb.looking.page_check import PageViewer
from agent_nb.notebook.cell_request import CassettePlan, Request, providers
from agent_nb.notebook.kernel_tools import find_kernel_tools
from agent_nb.notebook.live.viewer import LiveViewer
from agent_nb.notebook.magic.cell_rules import CellRules
from agent_nb.notebook.magic.inputs import find_system, load_images
from agent_nb.notebook.magic.mcp import absent_tools, is_server, start_tools
from agent_nb.notebook.magic.mode import plan_cassette
from agent_nb.notebook.magic.names import check_name
from agent_nb.notebook.magic.stubs import is_stub
from agent_nb.notebook.retry_cells import line_options
from agent_nb.notebook.session import Session
from agent_nb.notebook.user_variables import user_names
from agent_nb.notebook.values.cells import recent_cells
from agent_nb.notebook.values.describe_values import Described, describe_path, expand, finished_run, joined
from agent_nb.notebook.values.schema import describe_schema, known_names
from agent_nb.notebook.values.value_paths import lookup
from agent_nb.options import OPTIONS, Options
from agent_nb.plugins import TOOLS
from agent_nb.prompts import check_stack
from agent_nb.providers import default_model_name
from agent_nb.providers.base import Provider
from agent_nb.run.run import Run, request_key
from agent_nb.run.store import RunStore
from agent_nb.run_settings import DERIVED, MONEY, SETTINGS, Limits, RunSettings
from agent_nb.tools import Tool, Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A cell that is ready to run."""

    name: str
    prepared: tuple[Prepared, ...]
    """The run of each variant, ready to start."""
    key: str
    note: str
    """Lines to show first, such as what was masked; can be empty."""
    middleware: str = ""
    """The names of the middleware in use."""
    rules: CellRules
    """What plugins say about the cell."""

    @property
    def replays(self) -> bool:
        return any("replayed" in each.run_settings for each in self.prepared)

    @property
    def models(self) -> list[str]:
        """The model of each variant, by name."""
        return [prepared.provider.name for prepared in self.prepared]


async def make_plan(session: Session, options: Options, cell: str, *, watched: bool) -> Plan:
    """Reads variables, files and options; raises `UsageError` if the cell cannot run as written."""
    name = check_name(options.name, session.namespace)
    if not cell.strip():
        raise UsageError(
            f"The cell is empty. Write the prompt below the %%{session.defaults.magic_name} line."
        )
    if await off_loop(is_stub, cell, session.home):
        raise UsageError(
            "The cell still has the placeholder of an exercise and no prompt, so nothing was sent. Write your prompt in"
            " its place."
        )
    rules = await off_loop(CellRules.of, session, name)
    options = rules.options(options)
    base = _base(session, options, name)
    sent = options.data or (base and base.settings.get("data")) or session.defaults.data
    stack = options.stack or (base and base.settings.get("stack")) or session.defaults.stack or None
    stack = check_stack(stack) if stack else None
    options = replace(options, stack=stack, data="schema" if rules.sends_schema_only else sent)
    if options.data == "schema" and (options.cells or options.images or options.network):
        raise UsageError(
            "--cells, -i and --network send values, and --data schema sends none. Leave them out."
        )
    if options.data == "schema" and options.system in session.namespace:
        raise UsageError(
            f"`{options.system}` is a variable, and --data schema sends no values. Write the text itself after"
            " --system, or name a file."
        )
    count_variants(len(options.models), options.variants)
    cassette = plan_cassette(session, options, base, rules)
    prompt = await _read_prompt(session, options, cell, cassette)
    # If nobody is watching, a demo or replay does not wait. The times in its events stay the same.
    pace = options.pace if options.pace is not None else (1.0 if watched else 0.0)
    servers = [name for name in options.tools if is_server(name)]
    written = _Cell(
        session=session,
        options=options,
        base=base,
        prompt=prompt,
        cassette=cassette,
        pace=pace,
        viewer=_viewer(session, options, watched=watched),
        server_tools=absent_tools(servers),
        rules=rules,
    )
    if replayed := await off_loop(written.replay):
        return replayed
    if servers:
        written = replace(written, server_tools=await start_tools(session, servers))
    return await off_loop(written.ask)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """What a cell says, read and checked."""

    session: Session
    options: Options
    base: Run | None
    prompt: Described
    cassette: CassettePlan
    pace: float
    viewer: PageViewer | None
    """Shows the page to the model; None if nothing can."""
    server_tools: Sequence[Tool]
    """The tools of MCP servers. They stand for those of the cassette until the servers are started."""
    rules: CellRules

    def replay(self) -> Plan | None:
        """Plays the cassette, if there is one for this request."""
        prepared = self._request().replay(self.pace)
        return self._plan(prepared) if prepared else None

    def ask(self) -> Plan:
        """Asks the models, and records them if the cell is to do so."""
        cassette, defaults, default = self.cassette, self.session.defaults, self.rules.default_model
        names, note = choose_models(self.session, cassette.named_models or ((default,) if default else ()))
        for name in names:
            cassette.check_network(name)
        if self.options.pace is not None and not any(map(is_demo, names)):
            raise UsageError(f"--pace works only for a demo or a replay, not for {names[0]!r}. Leave it out.")
        requested = RunSettings(**self._chosen()).requested()
        models = providers(names, self.pace, **requested, silence=defaults.silence)
        record_to = cassette.path if cassette.mode == "record" else None
        prepared = self._request(names).ask(models, record_to, quiet=True)
        if self.options.data == "schema":
            known = known_names(user_names(self.session.shell))
            prepared = [each.knowing(known) for each in prepared]
        return self._plan([each.pointing_at(self.prompt.elements) for each in prepared], note)

    def _request(self, models: Sequence[str] = ()) -> Request:
        return Request(
            prompt=self.prompt.text,
            material={"images": self.prompt.images, "base": self.base},
            variants=self.options.variants,
            cassette=self.cassette,
            make_agent=lambda provider: self._agent(provider, models),
        )

    def _agent(self, provider: Provider, models: Sequence[str] = ()) -> Agent:
        """The agent. Plugins limit what it may use and cost, unless it replays a cassette and so names no models."""
        options, defaults = self.options, self.session.defaults
        tools = _tools(options.tools, self.session, self.server_tools)
        approve = _read_rules(options.approve, defaults.approve)
        limits = Limits.read(
            lambda name: getattr(options, name) or getattr(defaults, name, None), **{MONEY: "budget"}
        )
        if models:
            limits, tools = self.rules.limits(limits, models), tools.without(self.rules.without_tools)
        system = find_system(options.system, self.session.namespace, self.session.home)
        agent = Agent(
            provider,
            tools=tools,
            system="\n\n".join(filter(None, (defaults.instructions, system))) or None,
            limits=limits,
            approve=self.rules.approve(approve),
            middleware=used(self.session).values(),
        ).with_viewer(self.viewer, looks=defaults.looks)
        return agent.with_settings(**self._chosen())

    def _chosen(self) -> dict[str, Any]:
        """The settings that options of the same name, or else the defaults, have chosen."""
        names = (SETTINGS.keys() & OPTIONS.keys()) - DERIVED
        values = {
            name: getattr(self.options, name) or getattr(self.session.defaults, name, None) for name in names
        }
        return {name: value for name, value in values.items() if value and value != "all"}

    def _plan(self, prepared: Sequence[Prepared], note: str = "") -> Plan:
        prepared = tuple(_with_line(self.rules.prepare(each), self.options.line) for each in prepared)
        opening = prepared[0].opening
        schema = "The model gets names, types and shapes of your data, and no values (`--data schema`)."
        sent = schema if self.options.data == "schema" else ""
        notes = (*self.rules.notes(), note, sent, self._lacking(), *_notes(self.prompt, opening.shortened))
        return Plan(
            name=self.options.name,
            prepared=prepared,
            key=self._key(prepared),
            middleware=", ".join(self.session.middleware),
            rules=self.rules,
            note="\n".join(filter(None, notes)),
        )

    def _lacking(self) -> str:
        """What to add where the run to continue had tools that this cell has not."""
        had = line_options(self.base.settings).tools if self.base else ()
        lacking = " ".join(f"-t {name}" for name in had if name not in self.options.tools)
        if not self.base or not lacking:
            return ""
        return f"`{self.base.name}` had the tools of `{lacking}`, and this cell has not. Add `{lacking}`."

    def _key(self, prepared: Sequence[Prepared]) -> str:
        """Identifies the output: the same request has the same key."""
        first, *others = (each.provider.name for each in prepared)
        request, base = prepared[0], self.base.key if self.base else ""
        images = [sha256(image.data) for image in self.prompt.images]
        own = (request.opening.prompt, first, base, request.settings.instructions or "")
        # Left out if empty, so that a request without them has the key that it always had.
        extras = (others, *request.settings.matched().values(), images)
        return request_key(self.options.name, *own, *(extra for extra in extras if extra))


def _with_line(prepared: Prepared, line: str) -> Prepared:
    """With the first line of this cell among its settings, unless it has a secret in it; a cassette has another's."""
    settings = {name: value for name, value in prepared.run_settings.items() if name != "line"}
    if line and safe_text(line) == line:
        settings["line"] = line
    return replace(prepared, run_settings=settings)


def _viewer(session: Session, options: Options, *, watched: bool) -> PageViewer | None:
    """The user's browser, if it shows the run; else headless Chromium, if it is installed."""
    shown = watched and hasattr(session.shell, "kernel") and not options.plain
    return LiveViewer(installed_viewer()) if shown else installed_viewer()


async def _read_prompt(session: Session, options: Options, cell: str, cassette: CassettePlan) -> Described:
    """The cell's text and images, with what `-w`, `--cells` and `-i` add to them."""
    namespace = session.namespace
    describe: Callable[..., Described] = describe_path
    if options.data == "schema":
        describe = partial(describe_schema, known=known_names(user_names(session.shell)))
    parts = [expand(cell.strip(), namespace, describe)]
    for variable in options.variables:
        described = describe(variable, namespace)
        parts.append(replace(described, text=f"Variable `{variable}`:\n{described.text}"))
    if options.cells:
        parts.append(Described(recent_cells(session.shell, options.cells)))
    images = await load_images(options.images, namespace, cassette)
    text = "\n\n".join(part.text for part in parts if part.text)
    prompt = joined(whole_text(text), parts)
    return replace(prompt, images=(*prompt.images, *images), broken=prompt.text != text)


def _notes(prompt: Described, files: Sequence[str]) -> Iterator[str]:
    """What the user should know about the prompt: what the model does not see of it."""
    if prompt.tables:
        yield f"The model sees {_listed(prompt.tables)}."
    if prompt.masked:
        yield f"Masked as secrets, so the model does not see them: {_listed(prompt.masked)}."
    if prompt.broken:
        yield "Half characters (lone surrogates) in the prompt are sent as \ufffd: they cannot be encoded."
    if prompt.shortened:
        yield f"Too long for the prompt, so the model sees part of it: {_listed(prompt.shortened)}."
    if files:
        names = _listed([f"`{path}`" for path in files])
        yield f"Too long for the prompt, so the model sees the first lines and can read the rest: {names}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def choose_models(session: Session, models: Sequence[str]) -> tuple[Sequence[str], str]:
    """These models if there are any, else that of the first vendor with a key, else the demo; and a note, once."""
    if models:
        return models, ""
    if default := default_model_name():
        return (default,), ""
    if session.demo_noted:
        return (DEMO_MODEL,), ""
    session.demo_noted = True
    remedy = f"`{session.command('models')}` shows how to use another."
    return (DEMO_MODEL,), f"No API key found, so the offline demo model answers. {remedy}"


def _base(session: Session, options: Options, name: str) -> Run | None:
    """The run to continue from."""
    if options.base and options.continues:
        raise UsageError("Use either --from NAME or -c, not both.")
    wanted = options.base or (name if options.continues else None)
    if wanted is None:
        if options.compact:
            raise UsageError(
                "--compact shortens an earlier conversation: add -c or --from NAME to continue one."
            )
        return None
    wanted, variant, moment = _part(wanted)
    value = finished_run(wanted, session.namespace.get(wanted))
    if isinstance(value, Run):
        value = value if variant is None else value.pick(variant)
        return value if moment is None else value.at(moment)
    if value is not None:
        raise UsageError(
            f"`{wanted}` is of type {type(value).__name__}, not a Run, so there is nothing to continue from."
        )
    saved = RunStore(session.home).newest(wanted)
    load = session.command(f"load {wanted}")
    remedy = f"`{load}` loads the saved run." if saved else "Run its cell first."
    raise UsageError(f"`{wanted}` is not defined. {remedy}")


def _part(wanted: str) -> tuple[str, int | None, int | None]:
    """`hero.pick(2).at(3)` is variant 2 of `hero` at moment 3. No other expression is evaluated."""
    found = re.fullmatch(r"(\w+)(?:\.pick\((\d{1,6})\))?(?:\.at\((\d{1,6})\))?", wanted)
    name, *numbers = found.groups() if found else (wanted, None, None)
    variant, moment = (None if each is None else int(each) for each in numbers)
    return name, variant, moment


def _tools(names: Iterable[str], session: Session, server_tools: Sequence[Tool]) -> Toolbox:
    """The built-in tools, those in these variables, kernel tools and those of servers.

    A variable that is a tool comes before a kernel tool of that name.
    """
    tools: list[Tool | Callable[..., Any]] = []
    kernel: dict[str, Tool] = {}
    for name in (each for each in names if not is_server(each)):
        of_plugins = [tool for family in TOOLS for tool in TOOLS[family] if name in (family, tool.name)]
        found = find_kernel_tools(name, session.shell)
        if (found or of_plugins) and not callable(session.namespace.get(name)):
            kernel |= found
            tools += [] if found else of_plugins
            continue
        value = lookup(name, session.namespace)
        if not callable(value):
            raise UsageError(
                f"`{name}` is of type {type(value).__name__}, not a tool. Decorate a function with @tool."
            )
        tools.append(value)
    return Toolbox.default([*tools, *kernel.values(), *server_tools])


def _read_rules(values: Iterable[str], default: Mode) -> Rules:
    """What several `--approve` say together: `auto`, `run_python=ask`. The last one about a tool counts."""
    by_name: dict[str, Mode] = {}
    for value in values:
        name, equals, written = value.rpartition("=")
        mode = next((mode for mode in MODES if mode == written), None)
        if mode is None or (equals and not name):
            raise UsageError(
                f"--approve takes ask, auto, deny, or a rule for one tool such as `--approve NAME=ask`, not {value!r}."
            )
        if name:
            by_name[name] = mode
        else:
            default = mode
    return Rules(default, by_name)


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
