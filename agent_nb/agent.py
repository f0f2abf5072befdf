"""Agent: a model, its tools and its limits, ready to be asked."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, replace
from functools import partial
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from agent_nb._base.bridge import run_blocking
from agent_nb.batch.jobs import Models, Prompts, plan_jobs
from agent_nb.batch.runs import RunsHandle
from agent_nb.batch.store import Store
from agent_nb.cassette import (
    Recorder,
    Recording,
    ReplayProvider,
    Target,
    as_recorded,
    differences,
    ours_of,
    yours_of,
)
from agent_nb.engine.limits import Limits
from agent_nb.engine.loop import RunHandle
from agent_nb.engine.opening import Opening, open_run, with_images_read
from agent_nb.engine.race import Race, count_variants
from agent_nb.engine.setup import Lane, Setup
from agent_nb.engine.tool_runner import AfterTool, BeforeTool, Hooks, Policy
from agent_nb.errors import CassetteError, ConfigError
from agent_nb.events import Event
from agent_nb.images.maker import INPUTS, Studio
from agent_nb.messages import Message, ToolSpec
from agent_nb.prompts import check_stack, prompt_text, stack_text
from agent_nb.providers import model as make_model
from agent_nb.providers.base import Provider
from agent_nb.providers.prices import has_price, price_of
from agent_nb.providers.studio import local_studio, studio_for
from agent_nb.run import Run
from agent_nb.tools import Tool, Toolbox
from agent_nb.tools.variants import OPTIONS
from agent_nb.web.vocabulary import translator

Subscriber = TypeVar("Subscriber", bound=Callable[[Event], None])
Before = TypeVar("Before", bound=BeforeTool)
After = TypeVar("After", bound=AfterTool)


class Agent:
    """What runs share. Give it a model name or a provider; each run has its own files and conversation."""

    def __init__(
        self,
        model: str | Provider,
        *,
        tools: Iterable[Tool | Callable[..., Any]] | None = None,
        system: str | None = None,
        limits: Limits | None = None,
        approve: Policy = "ask",
    ) -> None:
        self.provider = _provider(model)
        self.toolbox = Toolbox.default() if tools is None else _toolbox(tools)
        if not isinstance(system, str | None):
            raise ConfigError(f"`system` is text, not {_a(system)}.")
        self.instructions = system
        if not isinstance(limits, Limits | None):
            raise ConfigError(
                f"`limits` is a `Limits`, such as `Limits(steps=8, usd=0.20)`, not {_a(limits)}."
            )
        self.limits = limits or Limits()
        if not callable(approve) and approve not in ("ask", "auto", "deny"):
            raise ConfigError(f"`approve` is 'ask', 'auto', 'deny' or a function, not {approve!r}.")
        self.approve = approve
        self.stack: str | None = None
        self._hooks = Hooks()
        self._subscribers: list[Callable[[Event], None]] = []
        self._target: Target | None = None
        self._studio: tuple[Provider, Studio] | None = None
        self._counted = False
        """Whether somebody else holds its runs to a budget."""

    def start(
        self,
        prompt: str,
        *,
        files: Mapping[str, str | bytes] | None = None,
        images: Any = (),
        base: Run | None = None,
        messages: Sequence[Message | Mapping[str, Any]] | None = None,
    ) -> RunHandle:
        """Starts a run in the running loop and gives its handle.

        It reads the `images` first, and fetches those given as addresses; `run` and `stream` do so off the loop.
        """
        return self._start(open_run(prompt, files, images, base, messages), [self])[0]

    def race(
        self, prompt: str, *, models: Sequence[str | Provider] = (), variants: int = 1, **material: Any
    ) -> Race:
        """Starts several runs of one prompt at once, `variants` on each model; `await` it for the `Run`.

        `material` is what `start` takes. A cassette plays all the variants it has.
        """
        entrants = self._entrants(models, variants)
        return Race(self._start(self._open(prompt, material), entrants))

    def map(
        self,
        prompts: Prompts,
        *,
        models: Models = None,
        concurrency: int = 8,
        save: str | PathLike[str] | None = None,
        budget: float | None = None,
        **material: Any,
    ) -> RunsHandle:
        """Asks each prompt of each model, `concurrency` at a time; `await` it for the `Runs`.

        Runs that are in the folder `save` and ended well are brought back, the others are asked and kept there.
        `budget` is what the call may spend; the agent's limits hold for each run. `material` is what `start` takes.
        """
        if self._target is not None:
            raise ConfigError(
                "A cassette holds one prompt. Leave `recording` out, or use `save` to keep the runs."
            )
        agent = self._copy() if budget is not None else self
        agent._counted |= budget is not None
        jobs = plan_jobs(agent, prompts, models, material, saved=save is not None)
        store = Store(save) if save is not None else None
        return RunsHandle(jobs, concurrency=concurrency, store=store, budget=budget)

    def with_model(self, model: str | Provider) -> Self:
        """This agent on another model."""
        other = self._copy()
        other.provider = _provider(model)
        return other

    def with_stack(self, stack: str) -> Self:
        """This agent, building with `html`, `tailwind`, `react`, `vue` or `bootstrap`: one page that the preview runs.

        A run that goes on from another keeps that one's stack unless it is given its own.
        """
        other = self._copy()
        other.stack = check_stack(stack)
        return other

    def fingerprint(self, prompt: str, **material: Any) -> dict[str, Any]:
        """What makes two requests the same: prompt, model, own texts, pictures, files, tools, effort."""
        opening = self._open(prompt, material)
        setup = self._setup(opening)
        tools, effort = [tool.name for tool in self.toolbox], setup.settings.get("effort")
        return {**self._yours(opening, [setup]), "toolbox": tools, "effort": effort}

    def preview(self, prompt: str, **material: Any) -> tuple[str, tuple[Message, ...]]:
        """The system text and the messages that a run would begin with; nothing is sent."""
        opening = self._open(prompt, material)
        return self._setup(opening).system, (*opening.history, opening.question)

    def offered(self, prompt: str, **material: Any) -> tuple[ToolSpec, ...]:
        """The tools that a run would be offered: those whose needs this model and this prompt meet."""
        return self._setup(self._open(prompt, material)).toolbox.specs

    async def run(self, prompt: str, **material: Any) -> Run:
        """Runs to the end. Limits, refusals and failures are in `run.reason`, never raised."""
        handle = self.start(prompt, **await with_images_read(material))
        try:
            return await handle
        finally:
            handle.stop("interrupted")

    def run_sync(self, prompt: str, **material: Any) -> Run:
        """`run` for scripts and old notebooks; works inside a running event loop too."""
        return run_blocking(self.run(prompt, **material))

    async def stream(self, prompt: str, **material: Any) -> AsyncIterator[Event]:
        """The events of a run as they happen; the last is always `RunFinished`."""
        handle = self.start(prompt, **await with_images_read(material))
        try:
            async for batch in handle.batches():
                for event in batch:
                    yield event
        finally:
            handle.stop()
            await handle

    async def sse(
        self, prompt: str, *, vocabulary: str = "agent_nb", **material: Any
    ) -> AsyncIterator[tuple[str, str]]:
        """`(event name, JSON text)` pairs for a web back end, in our words or those of another system."""
        translate = translator(vocabulary)
        async for event in self.stream(prompt, **material):
            for pair in translate(event):
                yield pair

    def recording(
        self, path: str | PathLike[str], *, force: bool = False, folder: Path | None = None
    ) -> Self:
        """This agent, writing its runs to a cassette that `agent_nb.replay` plays.

        A cassette of another prompt is only replaced with `force`; relative paths are in `folder`.
        """
        recording = self._copy()
        recording._target = Target(path=Path(path), folder=folder or Path(), force=force)
        return recording

    def differences(
        self, prompt: str, *, models: Sequence[str | None] = (None,), **material: Any
    ) -> list[str]:
        """Why this agent's cassette was not recorded for this; empty when it plays.

        `models` has one for each variant; None where any will do.
        """
        opening = self._open(prompt, material)
        return self._differences(opening, self._setup(opening), models)

    def on_event(self, subscriber: Subscriber) -> Subscriber:
        """Calls `subscriber(event)` for every event of later runs. What it raises never breaks a run."""
        self._subscribers.append(subscriber)
        return subscriber

    def before_tool(self, hook: Before) -> Before:
        """Calls `hook(call)` before each tool; it may give back another call, or raise `ToolError` to refuse."""
        self._hooks.before.append(hook)
        return hook

    def after_tool(self, hook: After) -> After:
        """Calls `hook(call, result)` after each tool; it may give back another result."""
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

    def _copy(self) -> Self:
        """An agent that starts with the same; what either is given later is its own."""
        other = copy(self)
        other._hooks = Hooks(before=[*self._hooks.before], after=[*self._hooks.after])
        other._subscribers = [*self._subscribers]
        other._studio = None  # each closes its own
        return other

    def _open(self, prompt: str, material: Mapping[str, Any]) -> Opening:
        nothing = {"files": None, "images": (), "base": None, "messages": None}
        return open_run(prompt, **{**nothing, **material})

    def _entrants(self, models: Sequence[str | Provider], variants: int) -> list[Self]:
        if isinstance(self.provider, ReplayProvider) and not models and variants == 1:
            return [self.with_model(provider) for provider in self.provider.variants]
        models = [models] if isinstance(models, str) else models
        count_variants(len(models), variants)
        agents = [self.with_model(model) for model in models] or [self]
        return [agent for agent in agents for _ in range(variants)]

    def _start(self, opening: Opening, agents: Sequence["Agent"]) -> list[RunHandle]:
        """One run on each agent, as variants of each other."""
        setups = [agent._setup(opening) for agent in agents]
        if told := self._differences(opening, setups[0], [None] * len(agents)):
            raise CassetteError(f"The cassette was recorded with {' and '.join(told)}. Record it again.")
        recording = self._recording(opening, setups)
        lane = Lane()
        handles = []
        for variant, setup in enumerate(setups):
            recorder = Recorder(recording, setup) if recording else None
            tapped = replace(setup, provider=recorder.tap()) if recorder else setup
            handle = RunHandle(tapped, opening, replace(lane, variant=variant))
            handle.recording = recording
            if recorder:
                handle.subscribe(partial(recorder.hear, run=handle))
            for subscriber in self._subscribers:
                handle.subscribe(subscriber)
            handles.append(handle)
        return handles

    def _recording(self, opening: Opening, setups: Sequence[Setup]) -> Recording | None:
        if self._target is None:
            return None
        yours = self._yours(opening, setups)
        return Recording(self._target, yours=yours, ours=ours_of(setups[0]), variants=len(setups))

    def _differences(self, opening: Opening, setup: Setup, models: Sequence[str | None]) -> list[str]:
        if not isinstance(self.provider, ReplayProvider):
            return []
        missing = [name for name in self.provider.repeats if name not in self.toolbox]
        yours = {**self._yours(opening, [setup]), "model": models[0], "variants": models}
        return [
            *differences(self.provider.cassette.yours, yours),
            *(f"the tool `{name}`" for name in missing),
        ]

    def _yours(self, opening: Opening, setups: Sequence[Setup]) -> dict[str, Any]:
        own = "\n\n".join(text for text in (opening.system, self.instructions) if text)
        yours = yours_of(opening, setups, own)
        stack = self.stack or opening.stack
        return {**yours, "stack": stack} if stack else yours

    def _setup(self, opening: Opening) -> Setup:
        if (
            self.limits.usd is not None
            and not isinstance(self.provider, ReplayProvider)
            and not has_price(self.provider.name)
        ):
            raise ConfigError(
                f"A budget needs a known price, and {self.provider.name!r} has none. Leave the budget out, "
                "or limit `steps` and `seconds` instead."
            )
        stack = self.stack or opening.stack
        texts = (
            prompt_text("system") if opening.system is None else opening.system,
            stack_text(stack) if stack else "",
            self.instructions,
        )
        studio = self._image_studio()
        there = {INPUTS: opening.inputs, OPTIONS: opening.options}
        toolbox = self.toolbox.offered(studio.serves | {need for need, given in there.items() if given})
        if isinstance(self.provider, ReplayProvider):
            toolbox = self.provider.offered(self.toolbox)
        setup = Setup(
            provider=self.provider,
            toolbox=toolbox,
            studio=studio,
            system="\n\n".join(text for text in texts if text),
            limits=self.limits,
            policy=self.approve,
            hooks=self._hooks,
            price=partial(price_of, self.provider.name),
            settings={
                **asdict(self.limits),
                "tools": [tool.name for tool in toolbox],
                "effort": getattr(self.provider, "effort", None),
                "approve": self.approve if isinstance(self.approve, str) else "function",
                **({"stack": stack} if stack else {}),
            },
        )
        return as_recorded(setup, self.provider) if isinstance(self.provider, ReplayProvider) else setup

    def _image_studio(self) -> Studio:
        """Who makes the pictures; kept while the model stays, because it may hold connections."""
        if isinstance(self.provider, ReplayProvider):
            return local_studio()
        if self._studio is None or self._studio[0] is not self.provider:
            budget = self._counted or self.limits.usd is not None
            self._studio = self.provider, studio_for(self.provider, budget=budget)
        return self._studio[1]


def _provider(model: str | Provider) -> Provider:
    if isinstance(model, str):
        return make_model(model)
    if not hasattr(model, "stream"):
        raise ConfigError(f"`model` is a name such as 'anthropic:', or a provider, not {_a(model)}.")
    return model


def _toolbox(tools: Any) -> Toolbox:
    if isinstance(tools, Toolbox):
        return tools
    if isinstance(tools, str) or not isinstance(tools, Iterable):
        raise ConfigError(f"`tools` is a list of functions and tools, not {_a(tools)}.")
    return Toolbox(tools)


def _a(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
