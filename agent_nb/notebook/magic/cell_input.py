"""A cell whose inputs are read, and the runs that it becomes: of a recording or of models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from agent_nb._base.constants import is_demo
from agent_nb._base.secrets import safe_text
from agent_nb._base.text import sha256
from agent_nb.cassette.recording import CassetteRecording
from agent_nb.core.errors import CassetteError, ConfigError
from agent_nb.core.options import Options
from agent_nb.core.run_settings import (
    RunSettings,
)
from agent_nb.engine.approval import read_policy
from agent_nb.engine.description import Description
from agent_nb.engine.request import CellRequest, read_input
from agent_nb.engine.run_input import InputArgs
from agent_nb.engine.start import Prepared
from agent_nb.notebook.cell_request import Plan, all_demo, play, providers
from agent_nb.notebook.magic.cassette_choice import CassetteChoice
from agent_nb.notebook.magic.cell_rules import CellRules
from agent_nb.notebook.magic.model_choice import ModelChoice
from agent_nb.notebook.magic.prompt import prompt_notes
from agent_nb.notebook.magic.tool_groups import read_tools
from agent_nb.notebook.page.bindings import Bindings
from agent_nb.notebook.page.pages import BoundPage
from agent_nb.notebook.retry_cells import is_plain, line_options
from agent_nb.notebook.session import Session
from agent_nb.pages.page_check import PageViewer
from agent_nb.run.run import Run, request_key
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
        request = self._request(self._tools(server_tools), self.settings)
        home, models = self.session.home, cassette.recorded_models(options.variants)
        for path in cassette.paths(self.prompt.text, home, prefers_replay=options.prefers_replay):
            try:
                return self._plan(play(path, home, self.pace, request, models))
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
        request = self._request(tools, settings)
        if cassette.mode == "record":
            recording = partial(CassetteRecording, Path(cassette.path), session.home, True)
            request = replace(request, record=recording)
        return self._plan(request.prepare_variants(models, options.variants), self.models.note(session))

    def _tools(self, server_tools: Sequence[Tool]) -> Toolbox:
        names = self.options.tools
        return read_tools(self.session, names, server_tools, schema_only=bool(self.settings.data))

    def _request(self, tools: Toolbox, settings: RunSettings) -> CellRequest:
        prompt, rules = self.prompt, self.rules.approve(self.options.approve, self.session.defaults.approve)
        bound = BoundPage(self.bindings, is_in_prompt=True) if self.bindings else None
        inputs = InputArgs(images=prompt.images, base=self.base)
        run_input = read_input(prompt.text, inputs, settings, tools, bound)
        return CellRequest(
            run_input=replace(run_input, names=frozenset(prompt.names)),
            settings=settings,
            toolbox=tools,
            rules=read_policy(rules, tools),
            given={**self.given, "elements": tuple(prompt.elements)},
            viewer=self.viewer,
            bound=bound,
            cell=self.source,
        )

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
