"""The Agent class: a model with tools and limits that starts runs."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, Unpack

import agent_nb.plugins  # noqa: F401 - it registers the demo, replays, outside agents and the vendors of plugins
from agent_nb._base.log import log
from agent_nb._base.threads import run_blocking
from agent_nb._base.wire import to_wire
from agent_nb.cassette.recording import CassetteRecording
from agent_nb.core.bound_pages import bound_pages
from agent_nb.core.errors import ConfigError, check_type, wrong_type
from agent_nb.core.events import Event
from agent_nb.core.keywords import Keywords
from agent_nb.core.run_settings import Limits, RunSettings, check_stack, read_data
from agent_nb.engine.approval import Policy, read_policy
from agent_nb.engine.batch.runs import Models, Prompts, Runs, Store, plan_jobs
from agent_nb.engine.batch.runs_handle import RunsHandle
from agent_nb.engine.handle import Handle
from agent_nb.engine.middleware import AfterTool, BeforeTool, Hooks, read_middleware
from agent_nb.engine.parts import keyword_features, read_keywords
from agent_nb.engine.request import CellRequest, read_input
from agent_nb.engine.run_input import InputArgs, Messages, read_images
from agent_nb.engine.start import Prepared, RunDriver, VariantsHandle, check_loop, start_request
from agent_nb.pages.page_check import PageViewer
from agent_nb.providers import model
from agent_nb.providers.base import Provider
from agent_nb.providers.studio import Studios
from agent_nb.run import Run
from agent_nb.tools import Tool, Toolbox

__all__ = ["Agent", "model"]

Subscriber = TypeVar("Subscriber", bound=Callable[[Event], None])
Before = TypeVar("Before", bound=BeforeTool)
After = TypeVar("After", bound=AfterTool)


class Agent:
    """A model, its tools and its limits, shared by runs. Each run has its own files and conversation.

    `model` is a name such as `"anthropic:claude-opus-5-5"`, or a provider. `bind` maps names to values and functions
    that pages may use; pages set those that are None. It requires `%load_ext agent_nb`. `answer` is the type of
    `run.answer`: a dataclass, a TypedDict, a pydantic model, `list[...]`, or text such as `"slope: float, p: float"`.
    With `branch`, the tools of `kernel_tools()` work in a copy of the kernel, one for each run. With `network`, the
    model is told that its page may load from any https URL. `record` is the path of a cassette to write.

    The arguments are read-only attributes; `replace` returns an agent with others.
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
        stack: str | None = None,
        data: Literal["all", "schema"] | None = None,
        lean: bool | None = None,
        compact: bool = False,
        network: bool = False,
        viewer: PageViewer | None = None,
        looks: int = RunSettings().looks,
        record: str | PathLike[str] | None = None,
        **keywords: Unpack[Keywords],
    ) -> None:
        check_type("system", system, str | None, "text")
        check_type("limits", limits, Limits | None, "a `Limits`, such as `Limits(steps=8, usd=0.20)`")
        check_type("bind", bind, Mapping | None, "a dict such as {'sales': sales}")
        self._given = read_keywords(keywords)
        vars(self).update({name: keywords.get(name) for name in keyword_features()})
        self.model, self.tools, self.system, self.bind = read_model(model), read_tools(tools), system, bind
        self.limits, self.approve, self.middleware = limits or Limits(), approve, read_middleware(middleware)
        self.stack, self.data, self.lean, self.compact, self.network = stack, data, lean, compact, network
        self.viewer, self.looks, self.record = viewer, looks, record
        self._rules = read_policy(approve, self.tools)
        self._bound = bound_pages().bound_values(bind) if bind else None
        self._settings = RunSettings(
            limits=self.limits,
            instructions=system,
            stack=stack and check_stack(stack),
            data=read_data(data),
            lean=lean,
            compact=compact,
            network=network,
            looks=looks,
        )
        self._added: list[tuple[str, Callable[..., Any]]] = []
        """The functions of `on_event`, `before_tool` and `after_tool`, with their names in `Hooks`."""
        self._studios = Studios(self.model, budget=self.limits.usd is not None)

    def __setattr__(self, name: str, value: object) -> None:
        if "_studios" in vars(self):
            raise AttributeError(f"An agent does not change. Use `agent.replace({name}=...)`.")
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the functions of `on_event`, which belong to this process."""
        listeners = [function for name, function in self._added if name == "subscribers"]
        if listeners:
            log.warning("A pickled agent does not call its functions of `on_event`: %s.", listeners)
        added = [pair for pair in self._added if pair[1] not in listeners]
        return {**vars(self), "_added": added}

    def replace(self, **arguments: Any) -> Self:
        """Return an agent with these arguments of `Agent(...)` in place of its own, and the functions added so far."""
        own = {name: value for name, value in vars(self).items() if name[0] != "_"}
        agent = type(self)(**{**own, **arguments})
        agent._added[:] = self._added
        return agent

    def request(self, prompt: str, **input_args: Unpack[InputArgs]) -> CellRequest:
        """Return what a run asks for, apart from its model. `input_args` are arguments of `prepare`."""
        return CellRequest(
            run_input=read_input(prompt, input_args, self._settings, self.tools, self._bound),
            settings=self._settings,
            toolbox=self.tools,
            rules=self._rules,
            hooks=Hooks().plus(self.middleware, self._added),
            given=self._given,
            viewer=self.viewer,
            bound=self._bound,
            record=partial(CassetteRecording, Path(self.record), Path(), False) if self.record else None,
            studio=self._studios.of,
        )

    def prepare(
        self,
        prompt: str,
        *,
        files: Mapping[str, str | bytes] | None = None,
        images: Any = (),
        base: Run | None = None,
        messages: Messages | None = None,
    ) -> Prepared:
        """Prepare a run without starting it: its system text, messages, tools and fingerprint. Nothing is sent.

        Images passed as paths or URLs are read here, which blocks the event loop. To avoid that, pass
        `images=await read_images(paths)`; `run`, `stream` and `sse` do so automatically.
        """
        request = self.request(prompt, files=files, images=images, base=base, messages=messages)
        return request.prepare(self.model)

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
        handle = start_request(self.prepare_variants(prompt, models=models, variants=variants, **input_args))
        return handle if isinstance(handle, VariantsHandle) else VariantsHandle(handle.runs)

    def prepare_variants(
        self,
        prompt: str,
        *,
        models: Sequence[str | Provider] = (),
        variants: int = 1,
        **input_args: Unpack[InputArgs],
    ) -> list[Prepared]:
        """Prepare the runs that `start_variants` would start."""
        models = [models] if isinstance(models, str) else models
        providers = [read_model(model) for model in models] or [self.model]
        if not models and variants == 1 and isinstance(self.model, RunDriver):
            providers = [*self.model.variants]
        return self.request(prompt, **input_args).prepare_variants(providers, variants)

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
        if self.record is not None:
            raise ConfigError(
                "A cassette holds one prompt. Leave `recording` out, or use `save` to store the runs."
            )
        agent = self.replace()
        agent._studios.budget |= budget is not None
        jobs = plan_jobs(agent, prompts, models, input_args, saved=save is not None)
        store = Store(save) if save is not None else None
        return RunsHandle(jobs, concurrency=concurrency, store=store, budget=budget, executor=executor)

    def map_sync(self, prompts: Prompts, **map_args: Any) -> Runs:
        """Like `map`, for synchronous code: wait for all runs and return the `Runs`."""

        async def work() -> Runs:
            return await self.map(prompts, **map_args)

        return run_blocking(work())

    def with_stack(self, stack: str) -> Self:
        """Return a copy of this agent that builds pages with `html`, `tailwind`, `react`, `vue` or `bootstrap`.

        An agent without a stack uses the stack of the run it continues.
        """
        return self.replace(stack=stack)

    def with_viewer(self, viewer: PageViewer | None, *, looks: int = RunSettings().looks) -> Self:
        """Return a copy of this agent whose model can check its page with this viewer, at most `looks` times in a run.

        If `viewer` is None or `looks` is 0, the model is not offered the tool `check_preview`.
        """
        return self.replace(viewer=viewer, looks=looks)

    def with_data(self, data: Literal["all", "schema"]) -> Self:
        """Return a copy of this agent whose runs send all tool results, or only names, types and shapes of data.

        With `schema`, the model receives the prompt as you wrote it and schemas of the results of `run_python` and the
        other kernel tools. Results of other tools, images and values in errors are not sent. An agent for which neither
        is chosen sends no values if the run that it continues sent none.
        """
        return self.replace(data=data)

    def with_lean(self, lean: bool = True) -> Self:
        """Return a copy of this agent with or without lean requests, which are as short as possible.

        A lean request contains a few lines of instructions, your tools and the file tools, and what options such as a
        stack or images require. It is the default for your own server, and for a run that continues a lean one.
        """
        return self.replace(lean=lean)

    def compacting(self) -> Self:
        """Return a copy of this agent that omits earlier file contents from the conversation that a run continues.

        The model can read the files again. This is automatic if a conversation would exceed the model's context window.
        """
        return self.replace(compact=True)

    def recording(self, path: str | PathLike[str]) -> Self:
        """Return a copy of this agent that records its runs to a cassette for `agent_nb.replay`.

        A cassette of another prompt is not replaced. One that cannot be written is logged as a warning.
        """
        return self.replace(record=path)

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
            async for event in handle:
                yield event
        finally:
            handle.stop()
            await handle

    async def sse(self, prompt: str, **input_args: Unpack[InputArgs]) -> AsyncIterator[tuple[str, str]]:
        """Yield the events of a run as `(event type, JSON text)` pairs, for server-sent events of a web back end."""
        async for event in self.stream(prompt, **input_args):
            yield event.type, json.dumps(to_wire(event), ensure_ascii=False)

    def on_event(self, subscriber: Subscriber) -> Subscriber:
        """Call `subscriber(event)` for every event of later runs. Its exceptions are logged."""
        self._added.append(("subscribers", subscriber))
        return subscriber

    def before_tool(self, hook: Before) -> Before:
        """Call `hook(call)` before each tool; it may return another call, or raise `ToolError` to reject it."""
        self._added.append(("before_tool", hook))
        return hook

    def after_tool(self, hook: After) -> After:
        """Call `hook(call, result)` after each tool; it may return another result."""
        self._added.append(("after_tool", hook))
        return hook

    async def close(self) -> None:
        """Close the model's connections."""
        await self.model.close()
        await self._studios.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        tools = ", ".join(tool.name for tool in self.tools) or "no tools"
        return f"<Agent {self.model.name} with {tools}>"


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
