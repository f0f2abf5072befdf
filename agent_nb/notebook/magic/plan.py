"""Turns a cell into runs that are ready to start: of a cassette, else of models. Nothing is sent before they start."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from agent_nb._base.constants import is_demo
from agent_nb._base.secrets import has_secret, safe_text
from agent_nb._base.text import sha256
from agent_nb._base.threads import off_loop
from agent_nb.core.errors import ConfigError
from agent_nb.core.options import Options
from agent_nb.engine.description import Description
from agent_nb.engine.draft import CellDraft
from agent_nb.engine.parts import plan_cell
from agent_nb.engine.request import CellRequest
from agent_nb.engine.start import Prepared
from agent_nb.notebook.cassette_choice import all_demo, check_network
from agent_nb.notebook.cell_runs import Cassettes, providers, recorded
from agent_nb.notebook.failures import FailedCell, PlainCell
from agent_nb.notebook.magic.cell_rules import CellRules
from agent_nb.notebook.magic.inputs import check_prompt
from agent_nb.notebook.magic.line import CellLine, read_line
from agent_nb.notebook.magic.mcp import absent_tools, allow_agents, start_tools
from agent_nb.notebook.magic.names import check_name
from agent_nb.notebook.magic.prompt import prompt_notes
from agent_nb.notebook.magic.request import read_request
from agent_nb.notebook.retry_cells import is_plain, line_options
from agent_nb.notebook.session import Session
from agent_nb.run.run import request_key


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRuns:
    """The runs of a cell, and what showing them needs."""

    session: Session
    options: Options
    rules: CellRules
    given: Mapping[str, Any]
    """What the cell gives to features, by their names."""
    prepared: Sequence[Prepared]
    """One per variant."""
    key: str
    """Identifies the output; equal requests have equal keys."""
    note: str
    """Lines to show first, such as a list of masked names."""
    dry_run: Sequence[str] = ()
    """Lines of features for `--dry-run`."""

    @property
    def replays(self) -> bool:
        return self.prepared[0].runs_by == "recording"


async def make_plan(
    session: Session, options: Options, cell: str | FailedCell | PlainCell, *, watched: bool
) -> CellRuns:
    """Read variables, files and options; raises `ConfigError` if the cell cannot run as written."""
    check_name(options.name, session.namespace)
    if isinstance(cell, str):
        await off_loop(check_prompt, session, cell)
    line = await read_line(session, options, cell)
    request, prompt = await read_request(line, watched=watched)
    # If nobody is watching, a demo or replay does not wait. The times in its events stay the same.
    pace = line.options.pace if line.options.pace is not None else float(watched)
    if runs := await off_loop(_replay, line, request, pace):
        return await _planned(line, prompt, runs)
    check_network(line.models.names, line.cassette.path)
    line.models.check(session)
    allow_agents(session, line.models.names)
    started = await start_tools(session, line.options.tools)
    absent = {tool.name for tool in absent_tools(line.options.tools)}
    request = replace(request, toolbox=request.toolbox.without(absent).plus(*started))
    runs = await off_loop(_of_models, line, request, pace)
    return await _planned(line, prompt, runs, line.models.note(session))


def _replay(line: CellLine, request: CellRequest, pace: float) -> list[Prepared]:
    """The runs of a cassette of this request; empty if there is none."""
    cassette, options, home = line.cassette, line.options, line.session.home
    prompt, prefers_replay = request.run_input.prompt, options.prefers_replay
    cassettes = Cassettes(
        paths=cassette.paths(prompt, home, prefers_replay=prefers_replay),
        folder=home,
        pace=pace,
        models=cassette.recorded_models(options.variants),
        are_optional=cassette.mode == "auto" and (prefers_replay or all_demo(cassette.models)),
    )
    return cassettes.play(request)


def _of_models(line: CellLine, request: CellRequest, pace: float) -> list[Prepared]:
    """The runs that call the models. Plugins limit their cost."""
    options, session, cassette, names = line.options, line.session, line.cassette, line.models.names
    if options.pace is not None and not any(map(is_demo, names)):
        raise ConfigError(f"--pace works only for a demo or a replay, not for {names[0]!r}. Leave it out.")
    settings = replace(request.settings, limits=line.rules.limits(request.settings.limits, names))
    models = providers(names, pace, **settings.requested(), silence=session.defaults.silence)
    request = replace(request, settings=settings)
    if cassette.mode == "record":
        request = recorded(request, cassette.path, session.home, quiet=True)
    return request.prepare_variants(models, options.variants)


async def _planned(
    line: CellLine, prompt: Description, runs: Sequence[Prepared], demo_note: str = ""
) -> CellRuns:
    session, rules = line.session, line.rules
    runs = [_with_facts(line, prompt, run) for run in runs]
    notes = await off_loop(lambda: [*rules.notes(), demo_note, *_notes(line, prompt, runs[0])])
    key, given, has_system = _key(line, prompt, runs), runs[0].given, bool(rules.system)
    draft = CellDraft(runs=[*runs], host=session.host, given=given, has_system=has_system, notes=notes)
    if runs[0].runs_by != "recording":
        await plan_cell(draft)
    return CellRuns(
        session=session,
        options=line.options,
        rules=rules,
        given=given,
        prepared=cast("Sequence[Prepared]", draft.runs),
        key=key,
        note="\n".join(filter(None, draft.notes)),
        dry_run=draft.dry_run,
    )


def _notes(line: CellLine, prompt: Description, run: Prepared) -> Iterator[str]:
    if line.settings.data:
        yield "The model gets names, types and shapes of your data, and no values (`--data schema`)."
    base = line.base
    base_tools = line_options(base.settings).tools if base else ()
    names = [name for name in base_tools if name not in line.options.tools and is_plain(name)]
    if base and names:
        flags = " ".join(f"-t {name}" for name in names)
        yield f"`{base.name}` had the tools of `{flags}`, and this cell does not."
    name, _, part = (line.options.base or line.options.name).partition(".")
    if base and len(base.variants) > 1 and not part[:1].isdigit():
        taken, other = f"variant {base.variant + 1} of {len(base.variants)}", 1 if base.variant else 2
        yield f"This continues {taken} of `{name}`; `--from {name}.{other}` continues another."
    if run.run_input.asked:  # a feature says what the model sees instead
        prompt = replace(prompt, tables=())
    yield from prompt_notes(prompt, run.run_input.shortened)


def _with_facts(line: CellLine, prompt: Description, prepared: Prepared) -> Prepared:
    """Record facts about the cell, in place of a cassette's: whether its prompt has data, its first line, unless it
    contains a secret, and its masked text, unless it is the prompt."""
    facts = {
        name: value for name, value in prepared.recorded_settings.items() if name not in ("line", "cell")
    }
    if (first := line.options.line) and not has_secret(first):
        facts["line"] = first
    if not prompt.has_cells and line.text not in ("", prepared.run_input.prompt):
        facts["cell"] = safe_text(line.text)
    if prompt.has_data:
        facts["has_data"] = True
    return replace(prepared, recorded_settings=facts)


def _key(line: CellLine, prompt: Description, runs: Sequence[Prepared]) -> str:
    first, *others = (prepared.provider.name for prepared in runs)
    settings, base = runs[0].settings, line.base.key if line.base else ""
    images = [sha256(image.data) for image in prompt.images]
    request = (runs[0].run_input.prompt, first, base, settings.instructions or "")
    # Omitted if empty, so that the key of a request without them stays the same.
    extras = (others, *settings.matched().values(), images)
    return request_key(line.options.name, *request, *(extra for extra in extras if extra))
