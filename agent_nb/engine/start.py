"""Starts prepared runs: one, or several as variants of each other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

from agent_nb._base.log import log
from agent_nb._base.threads import running_loop
from agent_nb.core.errors import CassetteError, ConfigError
from agent_nb.core.events import ENDINGS, Reason
from agent_nb.core.messages import Message
from agent_nb.engine.handle import Handle, RunHandle
from agent_nb.engine.journal import OBSERVERS, EventLog
from agent_nb.engine.loop import EngineRun, VariantGroup, first_messages
from agent_nb.engine.middleware import Listener
from agent_nb.engine.parts import run_of_feature
from agent_nb.engine.prepared import PreparedRun, release_fingerprint, variants_fingerprint
from agent_nb.run.run import Run, combine_variants

if TYPE_CHECKING:
    from agent_nb.files import Files


AnyRun = TypeVar("AnyRun", bound=RunHandle)


@runtime_checkable
class RunDriver(Protocol):
    """A provider that executes whole runs itself, such as a replay, instead of the engine."""

    @property
    def runs_by(self) -> Literal["agent", "recording"]: ...

    @property
    def variants(self) -> "Sequence[Any]":
        """One provider per variant."""

    @property
    def tries(self) -> int:
        """The number, from 1, of the variant that counts, if a feature started the variants of one request; else 0."""

    def prepare(self, prepared: "Prepared") -> "Prepared":
        """The request as changed by this provider."""

    def differences(self, prepared: "Prepared", models: Sequence[str | None]) -> list[str]:
        """See `Prepared.differences`."""

    def make_run(self, prepared: "Prepared", group: VariantGroup, variant: int) -> RunHandle:
        """Start the run in the running event loop."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Prepared(PreparedRun):
    """A run that has not started. `agent.prepare(prompt)` makes one; nothing is sent before `start()`."""

    @property
    def driver(self) -> RunDriver | None:
        """The provider, if it executes the run itself instead of the engine."""
        return self.provider if isinstance(self.provider, RunDriver) else None

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far with the prompt as last message, as they are sent without middleware."""
        return first_messages(self)

    def differences(self, models: Sequence[str | None] = (None,)) -> list[str]:
        """Differences between the request and the recording; empty if it can be replayed, or if this is not a replay.

        `models` contains one model per variant, or None for any model.
        """
        return self.driver.differences(self, models) if self.driver else []

    def start(self) -> Handle:
        """Start the run in the running event loop."""
        return start_request([self])


def check_loop(alternative: str = "") -> None:
    """Raise `ConfigError` outside of an event loop, in which runs are executed."""
    if running_loop() is None:
        remedy = f"use `{alternative}`, or start it" if alternative else "start it"
        raise ConfigError(
            f"A run needs a running event loop, and there is none: {remedy} in a coroutine, with `asyncio.run(main())`."
        )


def start_request(variants: Sequence[Prepared]) -> Handle:
    """Start one run or several variants, or what a feature starts for them. A replay starts what was recorded."""
    check_loop("agent.run_sync(prompt)" if len(variants) == 1 else "")
    first = variants[0]
    if not first.driver and (handle := run_of_feature(variants, start_variants)):
        return handle
    tries = first.driver.tries if first.driver else 0
    if first.driver and tries and len(variants) == 1:
        variants = [replace(each.prepare(first), provider=each) for each in first.driver.variants]
    handles = start_variants(variants)
    if len(handles) == 1:
        return handles[0]
    group = VariantsHandle(handles)
    group.chosen = tries or None
    return group


def start_variants(variants: Sequence[Prepared], beside: Sequence[RunHandle] = ()) -> list[RunHandle]:
    """Start these runs together, as variants of each other and of those beside them, which share their request."""
    if beside:
        count, group = len(beside), beside[0].group
        return [_start(prepared, group, number) for number, prepared in enumerate(variants, count)]
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
    """Raise `CassetteError` if the recording does not match the request."""
    if differences := prepared.differences([None] * variants):
        raise CassetteError(f"The cassette was recorded with {' and '.join(differences)}. Record it again.")


def _start(prepared: Prepared, group: VariantGroup, variant: int) -> RunHandle:
    make_run = prepared.driver.make_run if prepared.driver else EngineRun
    return observed(make_run(prepared, group, variant))


def observed(handle: AnyRun) -> AnyRun:
    """Let observers and hooks follow a run that has started."""
    prepared, variant = handle.prepared, handle.variant
    if prepared.bind is not None:
        prepared.bind(handle.id, variant)
    for make_observer in OBSERVERS:
        handle.subscribe(make_observer())
    for hook in prepared.hooks.on_event:
        listener = Listener(hook)
        handle.subscribe(listener)
        handle.settling.append(listener.drained)
    for subscriber in prepared.hooks.subscribers:
        handle.subscribe(subscriber)
    return handle


class VariantsHandle(Handle):
    """Variants in progress: `await` it for their `Run`, iterate over it for events, `stop()` one or all."""

    def __init__(self, handles: Sequence[RunHandle]) -> None:
        super().__init__(handles[0].id, EventLog(), ())
        self.handles: tuple[RunHandle, ...] = ()
        self.settings = handles[0].settings
        self._event_log.on_interrupt = partial(self.stop, "interrupted")
        for handle in handles:
            self._follow(handle)

    def add(self, handle: RunHandle) -> None:
        """Add a variant that has started beside the others."""
        if handle.approvals and (others := self.handles[0].approvals):
            handle.approvals.ask = others.ask
        self._follow(handle)

    def _follow(self, handle: RunHandle) -> None:
        self.handles = self._variants = (*self.handles, handle)
        handle.label(self.name, self.key)
        handle.subscribe(self._event_log.publish)
        handle.when_done.append(self._settle)

    def label(self, name: str, key: str) -> None:
        super().label(name, key)
        for handle in self.handles:
            handle.label(name, key)

    def stop(self, reason: Reason = "stopped", number: int | None = None) -> None:
        if number is None and self.result is None and self.chosen is None:
            self.is_stopped = ENDINGS[reason].is_by_user
        for handle in self.handles:
            if number is None or handle.variant == number - 1:
                handle.stop(reason)

    def pick(self, number: int) -> None:
        """Make finished variant `number` (from 1) the result and stop the others."""
        if not 1 <= number <= len(self.handles):
            raise ConfigError(f"There is no variant {number}; there are 1 to {len(self.handles)}.")
        if not self.handles[number - 1].done:
            raise ConfigError(f"Variant {number} is still running. Wait for it or stop it, then pick.")
        self.chosen = number
        if self.result is not None:
            self._choose(self.result.pick(number))
        self.stop()

    @property
    def files(self) -> "Files":
        return self.result.files if self.result else self.files_of(0)

    async def _wait(self) -> Run:
        number = 0
        while number < len(self.handles):  # which may grow
            await self.handles[number]
            number += 1
        for settle in self.settling:
            await settle()
        assert self.result is not None
        return self.result

    def __repr__(self) -> str:
        done = sum(handle.done for handle in self.handles)
        return f"<VariantsHandle {self.name} {self.model}: {done} of {len(self.handles)} ended>"

    def _settle(self) -> None:
        results = [handle.result for handle in self.handles if handle.result is not None]
        if len(results) == len(self.handles):
            run = combine_variants(results)
            self._choose(run if self.chosen is None else run.pick(self.chosen))
            self._event_log.close()

    def _choose(self, run: Run) -> None:
        self.result = run
        for variant in run.variants:
            if variant.branched_from not in (None, run.branched_from):
                variant.branched_from.leave_out()
