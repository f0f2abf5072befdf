"""A run that has not started: what would be sent, what identifies it, and how to start it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, runtime_checkable

from agent_nb._base.log import log
from agent_nb._base.wire import Json
from agent_nb.engine.fingerprint import fingerprint_of
from agent_nb.engine.handle import Recorded
from agent_nb.engine.journal import OBSERVERS
from agent_nb.engine.loop import RunHandle
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
    instructions: str | None = None
    """The agent's own system text, which is added to the default one."""
    stack: str | None = None
    compact: bool = False
    """Whether the conversation so far is to be compacted."""
    lean: bool = False
    """Whether a lean request was asked for."""
    data: str = ""
    """`schema` if no values of the user's data are sent."""
    subscribers: Sequence[Callable[[Event], None]] = ()
    playback: "Playback | None" = None
    """What plays the run, if it is a replay."""
    record: "Callable[[Sequence[Prepared]], Sequence[Recorder]] | None" = None
    """Opens a recording for variants that are about to start; returns a recorder for each."""

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
        return self.playback.differences(self, models) if self.playback else []

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


class Recorder(Protocol):
    """Records one variant."""

    @property
    def recording(self) -> Recorded: ...

    def tap(self) -> Provider:
        """The provider to use instead of the variant's own, so that the recorder sees what it streams."""
        ...

    def hear(self, event: Event, run: RunHandle) -> None: ...


@runtime_checkable
class Playback(Protocol):
    """A provider that plays a recording, and so decides about tools, limits and prices itself."""

    @property
    def variants(self) -> Sequence[Provider]:
        """One provider for each recorded variant."""
        ...

    def offered(self, toolbox: Toolbox) -> Toolbox:
        """These tools without those built-in ones that were not offered in the recording."""
        ...

    def prepare(self, prepared: Prepared) -> Prepared:
        """The same request, with everything else as it was recorded, and `playback` set."""
        ...

    def differences(self, prepared: Prepared, models: Sequence[str | None]) -> list[str]:
        """See `Prepared.differences`."""
        ...


def start_variants(variants: Sequence[Prepared]) -> list[RunHandle]:
    """Starts a run for each of these at once, as variants of each other."""
    first = variants[0]
    check_recording(first, len(variants))
    for line in dict.fromkeys(line for prepared in variants for line in prepared.left_out):
        log.warning(line)
    recorders = first.record(variants) if first.record else [None] * len(variants)
    group = VariantGroup()
    return [
        _start(prepared, group, number, recorder)
        for number, (prepared, recorder) in enumerate(zip(variants, recorders, strict=True))
    ]


def check_recording(prepared: Prepared, variants: int = 1) -> None:
    """Raises `CassetteError` if this would play a recording of something else."""
    if found := prepared.differences([None] * variants):
        raise CassetteError(f"The cassette was recorded with {' and '.join(found)}. Record it again.")


def variants_fingerprint(variants: Sequence[Prepared]) -> Json:
    """What a recording of these variants is for."""
    first = variants[0]
    own_system = "\n\n".join(text for text in (first.opening.system, first.instructions) if text)
    fingerprint = fingerprint_of(first.opening, [each.config for each in variants], own_system)
    own = {"stack": first.stack, "compact": first.compact, "lean": first.lean, "data": first.data}
    return {**fingerprint, **{name: value for name, value in own.items() if value}}


def _start(prepared: Prepared, group: VariantGroup, variant: int, recorder: Recorder | None) -> RunHandle:
    config = replace(prepared.config, provider=recorder.tap()) if recorder else prepared.config
    handle = RunHandle(config, prepared.opening, group, variant)
    for make_observer in OBSERVERS:
        handle.subscribe(make_observer())
    if recorder:
        handle.recording = recorder.recording
        handle.settling.append(recorder.recording.settled)
        handle.subscribe(partial(recorder.hear, run=handle))
    for hook in config.hooks.events:
        listener = Listener(hook)
        handle.subscribe(listener)
        handle.settling.append(listener.settled)
    for subscriber in prepared.subscribers:
        handle.subscribe(subscriber)
    return handle
