"""A run that has not started: what would be sent, what identifies it, and how to start it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from agent_nb._base.log import log
from agent_nb._base.wire import Json
from agent_nb.engine.fingerprint import fingerprint_of, release_fingerprint
from agent_nb.engine.handle import Recording, RunHandle
from agent_nb.engine.journal import OBSERVERS
from agent_nb.engine.loop import EngineRun
from agent_nb.engine.middleware import Listener
from agent_nb.engine.opening import Opening
from agent_nb.engine.run_config import RunConfig, VariantGroup
from agent_nb.engine.window import Window
from agent_nb.errors import CassetteError
from agent_nb.events import Event
from agent_nb.looking.element_look import Element
from agent_nb.messages import Message, ToolSpec
from agent_nb.providers.base import Provider
from agent_nb.tools import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Prepared:
    """A run that has not started. `agent.prepare(prompt)` makes one; nothing is sent before `start()`."""

    opening: Opening
    config: RunConfig
    toolbox: Toolbox
    """All tools of the agent; `tools` are those that the model is offered."""
    subscribers: Sequence[Callable[[Event], None]] = ()
    record: "Callable[[Sequence[Prepared]], Recording] | None" = None
    """Opens a recording for variants that are about to start."""

    @property
    def maker(self) -> "RunMaker | None":
        """What makes the run instead of the engine, if anything does."""
        return self.config.provider if isinstance(self.config.provider, RunMaker) else None

    @property
    def system(self) -> str:
        """The system text that is sent."""
        return self.config.system

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far, and the prompt as its last message; compacted if it would be."""
        window = Window(self.config, self.opening)
        if shorter := window.before_turn(1):
            window.replace(shorter)
        return tuple(window.messages)

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that the model is offered: those whose needs this model and this prompt meet."""
        return self.config.toolbox.specs

    @property
    def left_out(self) -> tuple[str, ...]:
        """A sentence for each tool that the model's vendor cannot be told of.

        Raises `ConfigError` if there are more tools than it takes.
        """
        return self.config.provider.left_out(self.tools)

    def fingerprint(self) -> Json:
        """What makes two requests the same: prompt, model, own texts, images, files, tools, effort."""
        return {
            **variants_fingerprint([self]),
            "toolbox": self.toolbox.chosen,
            "effort": self.config.settings.get("effort"),
        }

    def differences(self, models: Sequence[str | None] = (None,)) -> list[str]:
        """How a replay differs from what was recorded; empty if it can play, and for any other run.

        `models` names one model per variant, None where any will do.
        """
        return self.maker.differences(self, models) if self.maker else []

    def pointing_at(self, elements: Sequence[Element]) -> "Prepared":
        """The same request, to which is added how these elements look just before it is sent."""
        return replace(self, opening=replace(self.opening, elements=tuple(elements)))

    def knowing(self, names: frozenset[str]) -> "Prepared":
        """The same request, which may mention these names of the notebook though it sends no values."""
        return replace(self, opening=replace(self.opening, names=names))

    def start(self) -> RunHandle:
        """Starts the run in the running event loop."""
        return start_variants([self])[0]

    def __repr__(self) -> str:
        return f"<Prepared {self.config.provider.name}: {self.opening.prompt!r:.60}>"


@runtime_checkable
class RunMaker(Protocol):
    """A provider that makes whole runs itself, such as a replay. The engine makes the runs of all others."""

    @property
    def variants(self) -> Sequence[Provider]:
        """One provider for each variant that it makes."""
        ...

    def prepare(self, prepared: Prepared) -> Prepared:
        """The request with what is different because of it."""
        ...

    def differences(self, prepared: Prepared, models: Sequence[str | None]) -> list[str]:
        """See `Prepared.differences`."""
        ...

    def make_run(self, prepared: Prepared, group: VariantGroup, variant: int) -> RunHandle:
        """Starts the run in the running event loop."""
        ...


def start_variants(variants: Sequence[Prepared]) -> list[RunHandle]:
    """Starts a run for each of these at once, as variants of each other."""
    first = variants[0]
    check_recording(first, len(variants))
    for line in dict.fromkeys(line for prepared in variants for line in prepared.left_out):
        log.warning(line)
    recording = first.record(variants) if first.record else None
    fingerprint = {"yours": variants_fingerprint(variants), "ours": release_fingerprint(first.config)}
    group = VariantGroup(fingerprint=fingerprint)
    handles = [_start(prepared, group, number) for number, prepared in enumerate(variants)]
    if recording:
        recording.follow(handles)
    return handles


def check_recording(prepared: Prepared, variants: int = 1) -> None:
    """Raises `CassetteError` if this would play a recording of something else."""
    if found := prepared.differences([None] * variants):
        raise CassetteError(f"The cassette was recorded with {' and '.join(found)}. Record it again.")


def variants_fingerprint(variants: Sequence[Prepared]) -> Json:
    """What a recording of these variants is for."""
    return fingerprint_of(variants[0].opening, [each.config for each in variants])


def _start(prepared: Prepared, group: VariantGroup, variant: int) -> RunHandle:
    """Starts one run, which its provider makes, or else the engine."""
    handle = (
        prepared.maker.make_run(prepared, group, variant)
        if prepared.maker
        else EngineRun(prepared.config, prepared.opening, group, variant)
    )
    for make_observer in OBSERVERS:
        handle.subscribe(make_observer())
    for hook in prepared.config.hooks.events:
        listener = Listener(hook)
        handle.subscribe(listener)
        handle.settling.append(listener.settled)
    for subscriber in prepared.subscribers:
        handle.subscribe(subscriber)
    return handle
