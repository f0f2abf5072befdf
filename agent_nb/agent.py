"""The Agent class: a model with tools and limits that starts runs."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from copy import copy
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, Unpack

import agent_nb.plugins  # noqa: F401 - it registers the vendors of plugins
from agent_nb._base.constants import ACP, DEMO, REPLAY
from agent_nb._base.threads import run_blocking
from agent_nb._base.wire import Json, to_wire
from agent_nb.cassette.recording import CassetteRecording
from agent_nb.core.bound_pages import BoundNames, bound_pages
from agent_nb.core.errors import ConfigError, check_type, wrong_type
from agent_nb.core.events import Event
from agent_nb.core.feature import Feature, features, plugins_code
from agent_nb.core.keywords import Keywords
from agent_nb.core.messages import Message
from agent_nb.core.run_settings import (
    DERIVED,
    SETTINGS,
    TYPED,
    Limits,
    RunSettings,
    check_stack,
    count_variants,
    had_data,
    stricter,
)
from agent_nb.engine import parts
from agent_nb.engine.approval import Policy, read_policy
from agent_nb.engine.batch.runs import Models, Prompts, Runs, Store, plan_jobs
from agent_nb.engine.batch.runs_handle import RunsHandle
from agent_nb.engine.draft import Draft
from agent_nb.engine.handle import Handle
from agent_nb.engine.middleware import AfterTool, BeforeTool, Hooks
from agent_nb.engine.run_input import InputArgs, RunInput, as_sequence, open_run, read_images
from agent_nb.engine.start import Prepared, RunDriver, VariantsHandle, check_loop, start_variants
from agent_nb.images.maker import INPUTS, Studio
from agent_nb.pages.page_check import PageViewer
from agent_nb.prompts import prompt_text, stack_text
from agent_nb.providers import model
from agent_nb.providers.base import Provider
from agent_nb.providers.registry import MAKERS
from agent_nb.providers.studio import studio_for
from agent_nb.run import Run
from agent_nb.tools import Tool, Toolbox
from agent_nb.tools.toolbox import FAMILIES
from agent_nb.tools.variant_tools import BASE_VARIANTS

__all__ = ["Agent", "model"]

Subscriber = TypeVar("Subscriber", bound=Callable[[Event], None])
Before = TypeVar("Before", bound=BeforeTool)
After = TypeVar("After", bound=AfterTool)
SEEING = frozenset(tool.name for family in ("images", "variants", "preview") for tool in FAMILIES[family])
"""Tools that send images or files. They are not offered in a run that sends no values."""


class Agent:
    """A model, its tools and its limits, shared by runs. Each run has its own files and conversation.

    `model` is a name such as `"anthropic:claude-opus-5-5"`, or a provider. `bind` maps names to values and functions
    that pages may use; pages set those that are None. It requires `%load_ext agent_nb`. `answer` is the type of
    `run.answer`: a dataclass, a TypedDict, a pydantic model, `list[...]`, or text such as `"slope: float, p: float"`.
    With `branch`, the tools of `kernel_tools()` work in a copy of the kernel, one for each run.
    """

    def __init__(  # noqa: PLR0913 - everything that an agent is made of
        self,
        model: str | Provider,
        *,
        tools: Iterable[Tool | Callable[..., Any]] | None = None,
        system: str | None = None,
        limits: Limits | None = None,
        approve: Policy = "ask",
        middleware: Iterable[Any] = (),
        bind: Mapping[str, Any] | None = None,
        **keywords: Unpack[Keywords],
    ) -> None:
        self.provider = read_model(model)
        self.toolbox = read_tools(tools)
        check_type("system", system, str | None, "text")
        check_type("limits", limits, Limits | None, "a `Limits`, such as `Limits(steps=8, usd=0.20)`")
        self.settings = RunSettings(limits=limits or Limits(), instructions=system)
        self.approve = approve
        read_policy(approve, self.toolbox)  # raises early, not at the first run
        self.viewer: PageViewer | None = None
        self._record: partial[CassetteRecording] | None = None
        self._hooks = Hooks().plus(middleware)
        check_type("bind", bind, Mapping | None, "a dict such as {'sales': sales}")
        self._bound: BoundNames | None = bound_pages().bound_values(bind) if bind else None
        self._given = read_keywords(keywords)
        self._cell: str | None = None
        self._studio: tuple[Provider, Studio] | None = None
        self._in_budgeted_batch = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_studio": None}  # it may have open connections

    def prepare(
        self,
        prompt: str,
        *,
        files: Mapping[str, str | bytes] | None = None,
        images: Any = (),
        base: Run | None = None,
        messages: Sequence[Message | Mapping[str, Any]] | None = None,
    ) -> Prepared:
        """Prepare a run without starting it: its system text, messages, tools and fingerprint. Nothing is sent.

        Images passed as paths or URLs are read here, which blocks the event loop. To avoid that, pass
        `images=await read_images(paths)`; `run`, `stream` and `sse` do so automatically.
        """
        return self._prepare(self._open(prompt, files=files, images=images, base=base, messages=messages))

    def start(self, prompt: str, **input_args: Unpack[InputArgs]) -> Handle:
        """Start a run in the running event loop and return its handle.

        `input_args` contains arguments of `prepare`; images are read in the same way.
        """
        return self.prepare(prompt, **input_args).start()

    def start_variants(
        self,
        prompt: str,
        *,
        models: Sequence[str | Provider] = (),
        variants: int = 1,
        **input_args: Unpack[InputArgs],
    ) -> VariantsHandle:
        """Start several runs of one prompt at once, `variants` on each model; `await` it for the `Run`.

        `input_args` are arguments of `prepare`; images are read in the same way. A cassette plays all its variants.
        """
        prepared = self.prepare_variants(prompt, models=models, variants=variants, **input_args)
        return VariantsHandle(start_variants(prepared))

    def prepare_variants(
        self,
        prompt: str,
        *,
        models: Sequence[str | Provider] = (),
        variants: int = 1,
        **input_args: Unpack[InputArgs],
    ) -> list[Prepared]:
        """Prepare the runs that `start_variants` would start."""
        if not models and variants == 1 and isinstance(self.provider, RunDriver):
            models = self.provider.variants
        models = [models] if isinstance(models, str) else models
        several = count_variants(len(models), variants) > 1
        agents = [self.with_model(model) for model in models] or [self]
        run_input = agents[0]._open(prompt, **input_args)
        runs = [agent._prepare(run_input, several=several) for agent in agents]
        return [prepared for prepared in runs for _ in range(variants)]

    def map(  # noqa: PLR0913 - everything about a batch
        self,
        prompts: Prompts,
        *,
        models: Models = None,
        concurrency: int = 8,
        save: str | PathLike[str] | None = None,
        budget: float | None = None,
        executor: Executor | None = None,
        **input_args: Unpack[InputArgs],
    ) -> RunsHandle:
        """Run each prompt on each model, `concurrency` at a time; `await` it for the `Runs`.

        Finished runs are saved in the folder `save`; a later call loads them and runs only the missing ones. `budget`
        limits the cost of the whole call in US dollars; the agent's limits apply to each run. `input_args` contains
        arguments of `prepare`; images are read in the same way.

        With an `executor` the runs execute in its workers: a process pool, Dask's `client.get_executor()`,
        ipyparallel's `view.executor`. At most `concurrency` jobs are submitted at a time. The cost of a run is
        counted at its end, so up to `concurrency` runs may exceed the budget. A job whose worker dies is retried once.
        """
        check_loop("agent.map_sync(prompts)")
        if self._record is not None:
            raise ConfigError(
                "A cassette holds one prompt. Leave `recording` out, or use `save` to store the runs."
            )
        agent = self._copy(_in_budgeted_batch=True) if budget is not None else self
        jobs = plan_jobs(agent, prompts, models, input_args, saved=save is not None)
        store = Store(save) if save is not None else None
        return RunsHandle(jobs, concurrency=concurrency, store=store, budget=budget, executor=executor)

    def map_sync(self, prompts: Prompts, **map_args: Any) -> Runs:
        """Like `map`, for synchronous code: wait for all runs and return the `Runs`."""

        async def work() -> Runs:
            return await self.map(prompts, **map_args)

        return run_blocking(work())

    def with_model(self, model: str | Provider) -> Self:
        """Return a copy of this agent with another model."""
        return self._copy(provider=read_model(model))

    def with_settings(self, **changed: Any) -> Self:
        """Return a copy of this agent with other settings, by option name: `stack`, `data`, `lean`, `compact`.

        Parameters that are sent to the vendor, such as `effort`, are arguments of `agent_nb.model`.
        """
        for name, value in changed.items():
            if name not in TYPED or name in DERIVED:
                raise ConfigError(f"An agent has no setting {name!r} that can be changed.")
            if SETTINGS[name].sent == "request" and not self.provider.offline:
                provider_value = getattr(self.provider, name, None) or self.provider.sampling.get(name)
                if provider_value != value:
                    raise ConfigError(f"Set `{name}` on the model: `agent_nb.model(NAME, {name}=...)`.")
        return self._copy(settings=replace(self.settings, **changed))

    def with_run_settings(self, settings: RunSettings) -> Self:
        """Return a copy of this agent with these settings; its model must have those that the vendor receives."""
        return self._copy(settings=settings)

    def with_stack(self, stack: str) -> Self:
        """Return a copy of this agent that builds pages with `html`, `tailwind`, `react`, `vue` or `bootstrap`.

        An agent without a stack uses the stack of the run it continues.
        """
        return self.with_settings(stack=check_stack(stack))

    def with_viewer(self, viewer: PageViewer | None, *, looks: int = RunSettings().looks) -> Self:
        """Return a copy of this agent whose model can check its page with this viewer, at most `looks` times in a run.

        If `viewer` is None or `looks` is 0, the model is not offered the tool `check_preview`.
        """
        return self._copy(viewer=viewer, settings=replace(self.settings, looks=looks))

    def with_bound(self, bound: BoundNames | None) -> Self:
        """Return a copy of this agent whose pages are bound to these names."""
        return self._copy(_bound=bound)

    def with_given(self, given: Mapping[str, Any]) -> Self:
        """Return a copy of this agent with what was given for features, by their names."""
        return self._copy(_given={**self._given, **given})

    def with_cell(self, prompt: str) -> Self:
        """Return a copy of this agent for a cell's prompt, before its `{{name}}` are replaced."""
        return self._copy(_cell=prompt)

    def with_network(self) -> Self:
        """Return a copy of this agent that tells the model that its page may load from any https URL."""
        return self.with_settings(network=True)

    def with_data(self, data: Literal["all", "schema"]) -> Self:
        """Return a copy of this agent whose runs send all tool results, or only names, types and shapes of data.

        With `schema`, the model receives the prompt as you wrote it and schemas of the results of `run_python` and the
        other kernel tools. Results of other tools, images and values in errors are not sent. An agent for which neither
        is chosen sends no values if the run that it continues sent none.
        """
        if data not in ("all", "schema"):
            raise ConfigError(f"`data` must be 'all' or 'schema', not {data!r}.")
        return self.with_settings(data="" if data == "all" else data)

    def with_lean(self, lean: bool = True) -> Self:
        """Return a copy of this agent with or without lean requests, which are as short as possible.

        A lean request contains a few lines of instructions, your tools and the file tools, and what options such as a
        stack or images require. It is the default for your own server, and for a run that continues a lean one.
        """
        return self.with_settings(lean=lean)

    def compacting(self) -> Self:
        """Return a copy of this agent that omits earlier file contents from the conversation that a run continues.

        The model can read the files again. This is automatic if a conversation would exceed the model's context window.
        """
        return self.with_settings(compact=True)

    async def run(self, prompt: str, **input_args: Unpack[InputArgs]) -> Run:
        """Run to the end. Limits, refusals and failures are reported in `run.reason`, never raised."""
        input_args["images"] = await read_images(input_args.get("images"))
        handle = self.start(prompt, **input_args)
        try:
            return await handle
        except asyncio.CancelledError:
            handle.stop("interrupted")
            await handle
            raise
        finally:
            handle.stop("interrupted")

    def run_sync(self, prompt: str, **input_args: Unpack[InputArgs]) -> Run:
        """Like `run`, for synchronous code; also works inside a running event loop."""
        return run_blocking(self.run(prompt, **input_args))

    async def stream(self, prompt: str, **input_args: Unpack[InputArgs]) -> AsyncIterator[Event]:
        """Yield the events of a run as they happen; the last is always `RunFinished`."""
        input_args["images"] = await read_images(input_args.get("images"))
        handle = self.start(prompt, **input_args)
        try:
            async for batch in handle.batches():
                for event in batch:
                    yield event
        finally:
            handle.stop()
            await handle

    async def sse(self, prompt: str, **input_args: Unpack[InputArgs]) -> AsyncIterator[tuple[str, str]]:
        """Yield the events of a run as `(event type, JSON text)` pairs, for server-sent events of a web back end."""
        async for event in self.stream(prompt, **input_args):
            yield event.type, json.dumps(to_wire(event), ensure_ascii=False)

    def recording(
        self,
        path: str | PathLike[str],
        *,
        folder: Path | None = None,
        quiet: bool = False,
    ) -> Self:
        """Return a copy of this agent that records its runs to a cassette for `agent_nb.replay`.

        A cassette of another prompt is not replaced. A relative path is resolved against `folder`.
        A cassette that cannot be written is logged as a warning; with `quiet` it is only reported by `handle.recorded`.
        """
        return self._copy(_record=partial(CassetteRecording, Path(path), folder or Path(), quiet))

    def on_event(self, subscriber: Subscriber) -> Subscriber:
        """Call `subscriber(event)` for every event of later runs. Its exceptions are logged."""
        self._hooks.subscribers.append(subscriber)
        return subscriber

    def before_tool(self, hook: Before) -> Before:
        """Call `hook(call)` before each tool; it may return another call, or raise `ToolError` to reject it."""
        self._hooks.before_tool.append(hook)
        return hook

    def after_tool(self, hook: After) -> After:
        """Call `hook(call, result)` after each tool; it may return another result."""
        self._hooks.after_tool.append(hook)
        return hook

    async def close(self) -> None:
        """Close the model's connections."""
        await self.provider.close()
        if self._studio is not None:
            await self._studio[1].close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        tools = ", ".join(tool.name for tool in self.toolbox) or "no tools"
        return f"<Agent {self.provider.name} with {tools}>"

    def _copy(self, **changed: Any) -> Self:
        """Return a copy with these attributes and independent hooks."""
        clone = copy(self)
        fresh = {"_hooks": self._hooks.plus(), "_studio": None}  # each agent closes its own studio
        clone.__dict__.update({**fresh, **changed})
        return clone

    def _open(self, prompt: str, **input_args: Unpack[InputArgs]) -> RunInput:
        if self._bound:
            base, images = input_args.get("base"), input_args.get("images", ())
            data = self._data(base.settings if isinstance(base, Run) else {})
            text, bound_images = self._bound.description(data)
            prompt = f"{prompt}\n\n{text}" if text else prompt
            input_args["images"] = (*bound_images, *as_sequence(images))
        if unknown := input_args.keys() - InputArgs.__annotations__.keys():
            raise TypeError(f"A run has no argument {min(unknown)!r}.")
        return open_run(prompt, input_args, can_read=any(tool.reads for tool in self.toolbox))

    def _prepare(self, run_input: RunInput, *, several: bool = False) -> Prepared:
        """Prepare a run; `several` says that it is one of several variants."""
        if isinstance(self.provider, RunDriver):
            return self.provider.prepare(self._prepared(self._draft(run_input, several)))
        self._check_data(run_input)
        draft, studio, lean = self._draft(run_input, several), self._image_studio(), self._is_lean(run_input)
        available = {INPUTS: run_input.inputs, BASE_VARIANTS: run_input.base_variants}
        needs = draft.needs | {need for need, value in available.items() if value}
        toolbox = draft.toolbox.offered(needs if lean else needs | studio.serves, lean=lean)
        draft.toolbox = toolbox if draft.sends_values else toolbox.without(SEEING).without_values()
        prepared = self._prepared(draft, studio)
        if self.settings.limits.usd is not None:
            prepared.check_price()
        return prepared

    def _draft(self, run_input: RunInput, several: bool) -> Draft:
        prompt = run_input.prompt if self._cell is None else self._cell
        is_agent = self.provider.name.partition(":")[0] == ACP
        is_driven, lean = isinstance(self.provider, RunDriver), self._is_lean(run_input)
        if unknown := self._given.keys() - {feature.name for feature in features()}:
            raise ConfigError(f"The feature `{min(unknown)}` is not loaded here: register its plugin first.")
        draft = Draft(
            provider=self.provider,
            run_input=run_input,
            toolbox=self.toolbox,
            all_tools=self.toolbox,
            settings=replace(self.settings, lean=lean),
            viewer=self.viewer,
            system=self._built_in_text(lean=lean),
            given=self._given,
            cell=self._cell,
            sends_values=not self._data(run_input.base_settings),
            makes_page=bool(self._bound or self.settings.stack or run_input.is_about_page(prompt)),
            runs_by="agent" if is_agent else "recording" if is_driven else "engine",
            several=several,
            is_bound=self._bound is not None,
        )
        parts.prepare(draft)
        return draft

    def _check_data(self, run_input: RunInput) -> None:
        data = self._data(run_input.base_settings)
        if data and (others := plugins_code()):
            raise ConfigError(
                f"The feature `{others[0]}` of a plugin may add values, and this run sends none (`--data schema`)."
            )
        if data and run_input.documents:
            raise ConfigError(
                "A PDF contains values, and this run sends none (`--data schema`). Leave it out."
            )
        if data and run_input.history and run_input.base_settings.get("data") != data:
            raise ConfigError(
                "The conversation to continue may contain values, and this run sends none (`--data schema`)."
                " Continue a run that sent none, or begin a new one."
            )

    def _data(self, base: Json) -> Literal["schema", ""]:
        """Return `schema` if no values are sent, for an agent that continues a run with the settings `base`."""
        data = self.settings.data
        return stricter("data", "", base.get("data")) if data is None else data

    def _is_lean(self, run_input: RunInput) -> bool:
        """Whether requests are lean. Inherited within a conversation, so that the server can reuse its cache."""
        lean = self.settings.lean
        return self.provider.lean or bool(run_input.base_settings.get("lean")) if lean is None else lean

    def _prepared(
        self,
        draft: Draft,
        studio: Studio | None = None,
    ) -> Prepared:
        run_input = draft.run_input
        lean, rules = self._is_lean(run_input), read_policy(self.approve, self.toolbox)
        toolbox = draft.toolbox
        settings = replace(
            self.settings,
            data=self._data(run_input.base_settings),
            stack=self.settings.stack or run_input.base_settings.get("stack"),
            tools=tuple(tool.name for tool in toolbox),
            approve=str(rules),
            window=self.provider.window,
            bind=self._bound.types if self._bound else None,
            of_features=draft.recorded,
            **self._requested(),
        )
        if self._bound and (settings.network or (settings.stack or "html") != "html"):
            raise ConfigError(
                "A bound page loads nothing from the network, and no library of a stack: leave out `--network`, and"
                " `--stack` or use `--stack html`."
            )
        data_fact = {"has_data": True} if had_data(run_input.base_settings) else {}
        return Prepared(
            run_input=run_input,
            settings=settings,
            recorded_settings={**replace(settings, lean=lean).recorded(), **data_fact},
            provider=self.provider,
            toolbox=toolbox,
            all_tools=draft.all_tools,
            system=self._system(draft, settings),
            rules=rules,
            hooks=self._hooks.plus(),
            studio=studio,
            viewer=self.viewer,
            record=self._record,
            bind=self._bound.open if self._bound else None,
            given=self._given,
            runs_by=draft.runs_by,
            kept=draft.kept,
            specs=draft.specs,
        )

    def _requested(self) -> dict[str, Any]:
        """Return the settings sent as vendor parameters; the provider may override the agent's values."""
        sampling = dict(self.provider.sampling)
        names = [name for name, row in SETTINGS.items() if row.sent == "request" and name != "sampling"]
        overrides = {name: sampling.pop(name, None) or getattr(self.provider, name, None) for name in names}
        values = {name: value or getattr(self.settings, name) for name, value in overrides.items()}
        return {**values, "sampling": sampling or None}

    def _system(self, draft: Draft, settings: RunSettings) -> str:
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

    def _built_in_text(self, *, lean: bool) -> str:
        network = self.settings.network
        files = ["lean_files"] if any(tool.stream for tool in self.toolbox) else []
        names = ["lean", *files] if lean else ["system"]
        return " ".join(prompt_text(name, network=network) for name in names)

    def _image_studio(self) -> Studio:
        """Return the image studio, cached per provider because it may have open connections."""
        if self._studio is None or self._studio[0] is not self.provider:
            budget = self._in_budgeted_batch or self.settings.limits.usd is not None
            self._studio = self.provider, studio_for(self.provider, budget=budget)
        return self._studio[1]


def read_keywords(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """What an agent was given for features, by their names."""
    by_name: dict[str, Feature[Any]] = {feature.name: feature for feature in features() if feature.keyword}
    if unknown := keywords.keys() - by_name.keys():
        raise TypeError(f"Agent.__init__() got an unexpected keyword argument {min(unknown)!r}")
    return {
        name: parts.read_given(by_name[name], value, {})
        for name, value in keywords.items()
        if value is not None
    }


def read_model(given: str | Provider) -> Provider:
    if isinstance(given, str):
        return model(given)
    if not hasattr(given, "stream") or not hasattr(given, "left_out"):
        raise wrong_type("model", given, "a name such as 'anthropic:', or a `Provider`")
    return given


def read_tools(tools: Any) -> Toolbox:
    """Return a toolbox of these tools; None means the built-in tools."""
    if tools is None:
        return Toolbox.default()
    if isinstance(tools, Toolbox):
        return tools
    if isinstance(tools, str) or not isinstance(tools, Iterable):
        raise wrong_type("tools", tools, "a list of functions and tools")
    return Toolbox(tools)


MAKERS.update(
    {
        DEMO: "agent_nb.demo:DemoProvider",
        REPLAY: "agent_nb.cassette.player:replay",
        ACP: "agent_nb.acp.provider:AgentProvider",
    }
)
