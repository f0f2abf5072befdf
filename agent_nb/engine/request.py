"""What a cell or a call of `Agent` asks for, and how it becomes a run of one model."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent_nb._base.read_only import ReadOnly
from agent_nb._base.wire import Json
from agent_nb.core.bound_pages import BoundNames
from agent_nb.core.errors import ConfigError
from agent_nb.core.feature import features, plugins_code
from agent_nb.core.run_settings import SETTINGS, RunSettings, count_variants, had_data, stricter
from agent_nb.engine import parts
from agent_nb.engine.approval import ApprovalRules
from agent_nb.engine.draft import Draft
from agent_nb.engine.middleware import Hooks
from agent_nb.engine.prepared import Recorder
from agent_nb.engine.run_input import InputArgs, RunInput, as_sequence, open_run
from agent_nb.engine.start import Prepared, RunDriver
from agent_nb.images.maker import INPUTS, Studio
from agent_nb.pages.page_check import PageViewer
from agent_nb.prompts import prompt_text, stack_text
from agent_nb.providers.base import Provider
from agent_nb.providers.studio import studio_for
from agent_nb.run.run import Run
from agent_nb.tools import Toolbox
from agent_nb.tools.toolbox import FAMILIES
from agent_nb.tools.variant_tools import BASE_VARIANTS

SEEING = frozenset(tool.name for family in ("images", "variants", "preview") for tool in FAMILIES[family])
"""Tools that send images or files. They are not offered in a run that sends no values."""


def read_input(
    prompt: str, input_args: InputArgs, settings: RunSettings, toolbox: Toolbox, bound: BoundNames | None
) -> RunInput:
    """Read the images and files of a request; raises `ConfigError` for invalid or contradictory arguments."""
    if bound:
        base, images = input_args.get("base"), input_args.get("images", ())
        data = _data(settings, base.settings if isinstance(base, Run) else {})
        text, bound_images = bound.description(data)
        prompt = f"{prompt}\n\n{text}" if text else prompt
        input_args = {**input_args, "images": (*bound_images, *as_sequence(images))}
    if unknown := input_args.keys() - InputArgs.__annotations__.keys():
        raise TypeError(f"A run has no argument {min(unknown)!r}.")
    return open_run(prompt, input_args, can_read=any(tool.reads for tool in toolbox))


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRequest:
    run_input: RunInput
    settings: RunSettings
    toolbox: Toolbox
    rules: ApprovalRules
    hooks: Hooks = field(default_factory=Hooks)
    given: Mapping[str, Any]
    """What was given for features, by their names."""
    viewer: PageViewer | None
    bound: BoundNames | None
    cell: str | None = None
    """The cell's prompt, before its `{{name}}` are replaced; empty if other cells are part of it."""
    system: str = ""
    """The text of plugins in place of all others but the user's instructions."""
    record: Recorder | None = None
    studio: Callable[[Provider], Studio] | None = None
    """Returns the image studio of a model; None to make a new one for each run."""

    def prepare_variants(self, providers: Sequence[Provider], variants: int = 1) -> list[Prepared]:
        """Prepare as many variants of each model."""
        several = count_variants(len(providers), variants) > 1
        runs = [self.prepare(provider, several=several) for provider in providers]
        return [prepared for prepared in runs for _ in range(variants)]

    def prepare(self, provider: Provider, *, several: bool = False) -> Prepared:
        """Prepare a run of this model; `several` says that it is one of several variants."""
        draft = self._draft(provider, several=several)
        parts.prepare(draft)
        if isinstance(provider, RunDriver):
            return provider.prepare(self._prepared(draft))
        has_budget = self.settings.limits.usd is not None
        studio = self.studio(provider) if self.studio else studio_for(provider, budget=has_budget)
        available = {INPUTS: self.run_input.inputs, BASE_VARIANTS: self.run_input.base_variants}
        needs = draft.needs | {need for need, value in available.items() if value}
        lean = bool(draft.settings.lean)
        toolbox = draft.toolbox.offered(needs if lean else needs | studio.serves, lean=lean)
        draft.toolbox = toolbox if draft.sends_values else toolbox.without(SEEING).without_values()
        prepared = self._prepared(draft, studio)
        if has_budget:
            prepared.check_price()
        return prepared

    def _draft(self, provider: Provider, *, several: bool) -> Draft:
        run_input, settings = self.run_input, self.settings
        base, network = run_input.base_settings, settings.network
        data = _data(settings, base)
        if unknown := self.given.keys() - {feature.name for feature in features()}:
            raise ConfigError(f"The feature `{min(unknown)}` is not loaded here: register its plugin first.")
        if data and not isinstance(provider, RunDriver):
            self._check_sends_no_values()
        # Inherited within a conversation, so that the server can reuse its cache.
        lean = provider.lean or bool(base.get("lean")) if settings.lean is None else settings.lean
        files = ["lean_files"] if any(tool.stream for tool in self.toolbox) else []
        texts = ["lean", *files] if lean else ["system"]
        prompt = run_input.prompt if self.cell is None else self.cell
        return Draft(
            provider=provider,
            run_input=run_input,
            toolbox=self.toolbox,
            all_tools=self.toolbox,
            settings=replace(settings, lean=lean, data=data, stack=settings.stack or base.get("stack")),
            viewer=self.viewer,
            system=" ".join(prompt_text(name, network=network) for name in texts),
            given=self.given,
            cell=self.cell,
            sends_values=not data,
            makes_page=bool(self.bound or settings.stack or run_input.is_about_page(prompt)),
            runs_by=provider.runs_by if isinstance(provider, RunDriver) else "engine",
            several=several,
            is_bound=self.bound is not None,
        )

    def _check_sends_no_values(self) -> None:
        run_input = self.run_input
        if others := plugins_code():
            raise ConfigError(
                f"The feature `{others[0]}` of a plugin may add values, and this run sends none (`--data schema`)."
            )
        if run_input.documents:
            raise ConfigError(
                "A PDF contains values, and this run sends none (`--data schema`). Leave it out."
            )
        if run_input.history and run_input.base_settings.get("data") != "schema":
            raise ConfigError(
                "The conversation to continue may contain values, and this run sends none (`--data schema`)."
                " Continue a run that sent none, or begin a new one."
            )

    def _prepared(self, draft: Draft, studio: Studio | None = None) -> Prepared:
        bound, base = self.bound, draft.run_input.base_settings
        recorded = replace(
            draft.settings,
            tools=tuple(tool.name for tool in draft.toolbox),
            approve=str(self.rules),
            window=draft.provider.window,
            bind=ReadOnly(bound.types) if bound else None,
            of_features=ReadOnly(draft.recorded),
            **_requested(draft.provider, self.settings),
        )
        if bound and (recorded.network or (recorded.stack or "html") != "html"):
            raise ConfigError(
                "A bound page loads nothing from the network, and no library of a stack: leave out `--network`, and"
                " `--stack` or use `--stack html`."
            )
        return Prepared(
            run_input=draft.run_input,
            settings=replace(recorded, lean=self.settings.lean),
            recorded_settings={**recorded.recorded(), **({"has_data": True} if had_data(base) else {})},
            provider=draft.provider,
            toolbox=draft.toolbox,
            all_tools=draft.all_tools,
            system=_system(draft, recorded, self.system),
            rules=self.rules,
            hooks=self.hooks,
            studio=studio,
            viewer=self.viewer,
            record=self.record,
            bind=bound.open if bound else None,
            given=self.given,
            runs_by=draft.runs_by,
            kept=draft.kept,
            specs=draft.specs,
        )


def _data(settings: RunSettings, base: Json) -> Literal["schema", ""]:
    """Return `schema` if no values are sent, for a request that continues a run with the settings `base`."""
    return stricter("data", "", base.get("data")) if settings.data is None else settings.data


def _requested(provider: Provider, settings: RunSettings) -> dict[str, Any]:
    """Return the settings sent as vendor parameters; the provider may override the request's values."""
    sampling = dict(provider.sampling)
    names = [name for name, row in SETTINGS.items() if row.sent == "request" and name != "sampling"]
    overrides = {name: sampling.pop(name, None) or getattr(provider, name, None) for name in names}
    values = {name: value or getattr(settings, name) for name, value in overrides.items()}
    return {**values, "sampling": ReadOnly(sampling) if sampling else None}


def _system(draft: Draft, settings: RunSettings, of_plugins: str) -> str:
    if of_plugins:
        return "\n\n".join(filter(None, (of_plugins, settings.instructions)))
    stack, network, own = settings.stack, settings.network, draft.run_input.system
    texts = (
        draft.system if own is None else own,
        stack_text(stack, network=network) if stack else "",
        prompt_text("schema_only") if settings.data else "",
        prompt_text("bound") if settings.bind else "",
        *draft.sections,
        settings.instructions,
    )
    return sys.intern("\n\n".join(text for text in texts if text))  # shared by the jobs of a batch
