"""A run that has not started: what would be sent, what identifies it, and how to start it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from agent_nb._base.log import log
from agent_nb._base.wire import Json
from agent_nb.engine.approval_rules import Rules
from agent_nb.engine.fingerprint import release_fingerprint, variants_fingerprint
from agent_nb.engine.handle import Recording, RunHandle
from agent_nb.engine.journal import OBSERVERS
from agent_nb.engine.loop import EngineRun, VariantGroup
from agent_nb.engine.middleware import Hooks, Listener
from agent_nb.engine.opening import Opening
from agent_nb.engine.window import Window
from agent_nb.errors import CassetteError, ConfigError
from agent_nb.images.maker import Studio
from agent_nb.looking.element_look import Element
from agent_nb.looking.page_check import PageViewer
from agent_nb.messages import Message, ToolSpec, Usage
from agent_nb.providers.base import Provider
from agent_nb.providers.prices import price_of
from agent_nb.run_settings import RunSettings
from agent_nb.tools import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Prepared:
    """A run that has not started. `agent.prepare(prompt)` makes one; nothing is sent before `start()`."""

    opening: Opening
    settings: RunSettings
    """What the run was asked to be, with what its model and the run it continues add."""
    run_settings: Json
    """What `run.settings` will be, apart from what is known only when the run has begun."""
    provider: Provider
    toolbox: Toolbox
    all_tools: Toolbox
    """All tools of the agent."""
    system: str
    rules: Rules
    hooks: Hooks
    studio: Studio | None
    viewer: PageViewer | None
    """Looks at the page that the run makes; None if nothing can."""
    record: "Callable[[Sequence[Prepared]], Recording] | None"
    """Opens a recording for variants that are about to start."""
    bind: Callable[[str, int], None] | None = None
    """Binds the page of a variant that starts to the notebook, by the id of its run and its number."""

    @property
    def maker(self) -> "RunMaker | None":
        """What makes the run instead of the engine, if anything does."""
        return self.provider if isinstance(self.provider, RunMaker) else None

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far, and the prompt as its last message; compacted if it would be."""
        window = Window(self)
        if shorter := window.before_turn(1):
            window.replace(shorter)
        return tuple(window.messages)

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that the model is offered: those whose needs this model and this prompt meet."""
        return self.toolbox.specs

    @property
    def left_out(self) -> tuple[str, ...]:
        """One warning per tool that cannot be sent to this vendor.

        Raises `ConfigError` if there are more tools than it takes.
        """
        return self.provider.left_out(self.tools)

    def fingerprint(self) -> Json:
        """What makes two requests the same: prompt, model, own texts, images, files, tools, effort."""
        return {
            **variants_fingerprint([self]),
            "toolbox": self.all_tools.chosen,
            **self.settings.matched_in_batch(),
        }

    def price(self, usage: Usage) -> float | None:
        """US dollars for these tokens, or None if the price is not known."""
        return price_of(self.provider.name, usage, self.settings.priced())

    def check_price(self) -> None:
        """Raises `ConfigError` if the price of the model is unknown, so that no budget could be enforced."""
        if self.price(Usage(input=1, output=1)) is None:
            raise ConfigError(
                f"A budget needs a known price, and {self.provider.name!r} has none. Leave the budget out, "
                "or limit `steps` and `seconds` instead."
            )

    def differences(self, models: Sequence[str | None] = (None,)) -> list[str]:
        """How a replay differs from what was recorded; empty if it can play, and for any other run.

        `models` names one model per variant, None where any will do.
        """
        return self.maker.differences(self, models) if self.maker else []

    def pointing_at(self, elements: Sequence[Element], names: Iterable[str] = ()) -> "Prepared":
        """The same request, to which is added how these elements look just before it is sent.

        It may mention these names of the notebook even if it sends no values.
        """
        opening = replace(self.opening, elements=tuple(elements), names=frozenset(names))
        return replace(self, opening=opening)

    def start(self) -> RunHandle:
        """Starts the run in the running event loop."""
        return start_variants([self])[0]

    def __repr__(self) -> str:
        return f"<Prepared {self.provider.name}: {self.opening.prompt!r:.60}>"


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
    fingerprint = {"yours": variants_fingerprint(variants), "ours": release_fingerprint(first)}
    group = VariantGroup(fingerprint=fingerprint)
    handles = [_start(prepared, group, number) for number, prepared in enumerate(variants)]
    if recording:
        recording.follow(handles)
    return handles


def check_recording(prepared: Prepared, variants: int = 1) -> None:
    """Raises `CassetteError` if this would play a recording of something else."""
    if found := prepared.differences([None] * variants):
        raise CassetteError(f"The cassette was recorded with {' and '.join(found)}. Record it again.")


def _start(prepared: Prepared, group: VariantGroup, variant: int) -> RunHandle:
    handle = (
        prepared.maker.make_run(prepared, group, variant)
        if prepared.maker
        else EngineRun(prepared, group, variant)
    )
    if prepared.bind is not None:
        prepared.bind(handle.id, variant)
    for make_observer in OBSERVERS:
        handle.subscribe(make_observer())
    for hook in prepared.hooks.events:
        listener = Listener(hook)
        handle.subscribe(listener)
        handle.settling.append(listener.settled)
    for subscriber in prepared.hooks.subscribers:
        handle.subscribe(subscriber)
    return handle
