"""Agent: a model with its tools and limits, which starts runs."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, Unpack

import agent_nb.plugins  # noqa: F401 - it registers the vendors of plugins
from agent_nb._base.model_name import DEMO, REPLAY
from agent_nb._base.threads import run_blocking
from agent_nb._base.wire import to_wire
from agent_nb.batch.jobs import Models, Prompts, plan_jobs
from agent_nb.batch.runs import Store
from agent_nb.batch.runs_handle import RunsHandle
from agent_nb.cassette import CassetteRecording, Target, replay
from agent_nb.engine.agent_parts import AgentParts, read_model
from agent_nb.engine.handle import RunHandle
from agent_nb.engine.middleware import AfterTool, BeforeTool
from agent_nb.engine.opening import Material, Opening, open_run, read_images
from agent_nb.engine.prepared import Prepared, RunMaker, start_variants
from agent_nb.engine.race import Race, count_variants
from agent_nb.errors import ConfigError
from agent_nb.events import Event
from agent_nb.looking.page_check import LOOKS, PageViewer
from agent_nb.messages import Message
from agent_nb.prompts import check_stack
from agent_nb.providers import model
from agent_nb.providers.base import Provider
from agent_nb.providers.registry import MAKERS
from agent_nb.run import Run

__all__ = ["Agent", "model"]

Subscriber = TypeVar("Subscriber", bound=Callable[[Event], None])
Before = TypeVar("Before", bound=BeforeTool)
After = TypeVar("After", bound=AfterTool)


class Agent(AgentParts):
    """A model, its tools and its limits, shared by runs. Each run has its own files and conversation.

    `model` is a name such as `"anthropic:claude-opus-5-5"`, or a provider.
    """

    _target: Target | None = None
    """The cassette that its runs are recorded to."""

    def prepare(
        self,
        prompt: str,
        *,
        files: Mapping[str, str | bytes] | None = None,
        images: Any = (),
        base: Run | None = None,
        messages: Sequence[Message | Mapping[str, Any]] | None = None,
    ) -> Prepared:
        """Prepares a run without starting it: its system text, messages, tools and fingerprint. Nothing is sent.

        Images given as paths or addresses are read here, which blocks the event loop. To avoid that, pass
        `images=await read_images(paths)`; `run`, `stream` and `sse` do so themselves.
        """
        material = Material(files=files, images=images, base=base, messages=messages)
        return self._prepare(open_run(prompt, material, can_read=any(tool.reads for tool in self.toolbox)))

    def start(self, prompt: str, **material: Unpack[Material]) -> RunHandle:
        """Starts a run in the running event loop and returns its handle.

        `material` is what `prepare` takes, and images are read in the same way.
        """
        return self.prepare(prompt, **material).start()

    def race(
        self,
        prompt: str,
        *,
        models: Sequence[str | Provider] = (),
        variants: int = 1,
        **material: Unpack[Material],
    ) -> Race:
        """Starts several runs of one prompt at once, `variants` on each model; `await` it for the `Run`.

        `material` is what `prepare` takes, and images are read in the same way. A cassette plays all its variants.
        """
        prepared = self.prepare_variants(prompt, models=models, variants=variants, **material)
        return Race(start_variants(prepared))

    def prepare_variants(
        self,
        prompt: str,
        *,
        models: Sequence[str | Provider] = (),
        variants: int = 1,
        **material: Unpack[Material],
    ) -> list[Prepared]:
        """Prepares the runs that `race` would start."""
        if not models and variants == 1 and isinstance(self.provider, RunMaker):
            models = self.provider.variants
        models = [models] if isinstance(models, str) else models
        count_variants(len(models), variants)
        agents = [self.with_model(model) for model in models] or [self]
        first = agents[0].prepare(prompt, **material)
        each = [first, *(agent._prepare(first.opening) for agent in agents[1:])]
        return [prepared for prepared in each for _ in range(variants)]

    def map(  # noqa: PLR0913 - everything about a batch
        self,
        prompts: Prompts,
        *,
        models: Models = None,
        concurrency: int = 8,
        save: str | PathLike[str] | None = None,
        budget: float | None = None,
        executor: Executor | None = None,
        **material: Unpack[Material],
    ) -> RunsHandle:
        """Runs each prompt on each model, `concurrency` at a time; `await` it for the `Runs`.

        Finished runs are saved in the folder `save`; a later call loads those and runs only the rest. `budget`
        limits the cost of the whole call in US dollars, the agent's limits apply to each run. `material` is what
        `prepare` takes, and images are read in the same way.

        With an `executor` the runs are made in its workers: a process pool, Dask's `client.get_executor()`,
        ipyparallel's `view.executor`. At most `concurrency` jobs are submitted at a time. A cost counts when its run
        has ended, so at most `concurrency` runs exceed the budget. A job whose worker dies is submitted once more.
        """
        if self._target is not None:
            raise ConfigError(
                "A cassette holds one prompt. Leave `recording` out, or use `save` to store the runs."
            )
        agent = self._copy(_in_budgeted_batch=True) if budget is not None else self
        jobs = plan_jobs(agent, prompts, models, material, saved=save is not None)
        store = Store(save) if save is not None else None
        return RunsHandle(jobs, concurrency=concurrency, store=store, budget=budget, executor=executor)

    def with_model(self, model: str | Provider) -> Self:
        """A copy of this agent with another model."""
        return self._copy(provider=read_model(model))

    def with_stack(self, stack: str) -> Self:
        """A copy of this agent that builds pages with `html`, `tailwind`, `react`, `vue` or `bootstrap`.

        Without a stack of its own, an agent uses the stack of the run it continues.
        """
        return self._copy(stack=check_stack(stack))

    def with_viewer(self, viewer: PageViewer | None, *, looks: int = LOOKS) -> Self:
        """A copy of this agent whose model can look at its page with this viewer, at most `looks` times in a run.

        With None or 0 looks, the model is not offered the tool `check_preview`.
        """
        return self._copy(viewer=viewer, looks=looks)

    def with_network(self) -> Self:
        """A copy of this agent that tells the model that its page may load from any https address."""
        return self._copy(network=True)

    def with_data(self, data: Literal["all", "schema"]) -> Self:
        """A copy of this agent whose runs send all that tools give back, or only names, types and shapes of data.

        With `schema`, the model gets the prompt as you wrote it and schemas of what `run_python` and the other kernel
        tools find. Results of other tools, images and values in errors are held back.
        """
        if data not in ("all", "schema"):
            raise ConfigError(f"`data` is 'all' or 'schema', not {data!r}.")
        return self._copy(data="" if data == "all" else data)

    def with_lean(self, lean: bool = True) -> Self:
        """A copy of this agent whose requests are as short as possible, or not.

        A lean request has a few lines of instructions, your tools and those for files, and what options such as a stack
        or images ask for. It is the default for a server of your own, and for a run that continues a lean one.
        """
        return self._copy(lean=lean)

    def compacting(self) -> Self:
        """A copy of this agent that leaves earlier file contents out of the conversation that a run continues.

        The model can read the files again. Where a conversation would not fit the model, this happens by itself.
        """
        return self._copy(compact=True)

    async def run(self, prompt: str, **material: Unpack[Material]) -> Run:
        """Runs to the end. Limits, refusals and failures are reported in `run.reason`, never raised."""
        material["images"] = await read_images(material.get("images"))
        handle = self.start(prompt, **material)
        try:
            return await handle
        except asyncio.CancelledError:
            handle.stop("interrupted")
            await handle
            raise
        finally:
            handle.stop("interrupted")

    def run_sync(self, prompt: str, **material: Unpack[Material]) -> Run:
        """`run` for synchronous code; also works inside a running event loop."""
        return run_blocking(self.run(prompt, **material))

    async def stream(self, prompt: str, **material: Unpack[Material]) -> AsyncIterator[Event]:
        """Yields the events of a run as they happen; the last is always `RunFinished`."""
        material["images"] = await read_images(material.get("images"))
        handle = self.start(prompt, **material)
        try:
            async for batch in handle.batches():
                for event in batch:
                    yield event
        finally:
            handle.stop()
            await handle

    async def sse(self, prompt: str, **material: Unpack[Material]) -> AsyncIterator[tuple[str, str]]:
        """Yields the events of a run as `(event type, JSON text)` pairs, for server-sent events of a web back end."""
        async for event in self.stream(prompt, **material):
            yield event.type, json.dumps(to_wire(event), ensure_ascii=False)

    def recording(
        self,
        path: str | PathLike[str],
        *,
        folder: Path | None = None,
        quiet: bool = False,
    ) -> Self:
        """A copy of this agent that records its runs to a cassette, which `agent_nb.replay` plays.

        A cassette of another prompt is not replaced. A relative path is resolved against `folder`.
        A cassette that cannot be written is logged as a warning; with `quiet` only `handle.recorded` says so.
        """
        target = Target(path=Path(path), folder=folder or Path(), quiet=quiet)
        return self._copy(_target=target)

    def on_event(self, subscriber: Subscriber) -> Subscriber:
        """Calls `subscriber(event)` for every event of later runs. Exceptions it raises are logged."""
        self._hooks.subscribers.append(subscriber)
        return subscriber

    def before_tool(self, hook: Before) -> Before:
        """Calls `hook(call)` before each tool; it may return another call, or raise `ToolError` to refuse."""
        self._hooks.before.append(hook)
        return hook

    def after_tool(self, hook: After) -> After:
        """Calls `hook(call, result)` after each tool; it may return another result."""
        self._hooks.after.append(hook)
        return hook

    async def close(self) -> None:
        """Closes the model's connections."""
        await self.provider.close()
        if self._studio is not None:
            await self._studio[1].close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return (
            f"<Agent {self.provider.name} with {', '.join(tool.name for tool in self.toolbox) or 'no tools'}>"
        )

    def _prepare(self, opening: Opening) -> Prepared:
        prepared = super()._prepare(opening)
        return (
            replace(prepared, record=partial(CassetteRecording, self._target)) if self._target else prepared
        )


def _demo(name: str, **options: Any) -> Provider:
    from agent_nb.demo import DemoProvider

    return DemoProvider(name, **options)


MAKERS.update({DEMO: _demo, REPLAY: replay})
