"""Work in progress that can be awaited, followed and stopped: one run, or several as one."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

from agent_nb._base.threads import ticking
from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError
from agent_nb.core.event_list import EventList
from agent_nb.core.events import ENDINGS, Event, Reason
from agent_nb.core.feature import value_types
from agent_nb.engine.approval import Approvals, Ask, Consent
from agent_nb.engine.cost import SESSION
from agent_nb.engine.data_gate import DataGate
from agent_nb.engine.journal import EventLog
from agent_nb.engine.prepared import PreparedRun, Recording
from agent_nb.engine.trials import Trials
from agent_nb.files import Files
from agent_nb.run.run import Run
from agent_nb.run.run_writer import SentConversation
from agent_nb.tools.schema import problems

_RUN_NAMES = {name for name in (*dir(Run), *Run.__dataclass_fields__) if not name.startswith("_")}


class Handle(ABC):
    """Work in progress: `await` it for the `Run`, iterate over it for its events."""

    settings: Json

    def __init__(self, run_id: str, event_log: EventLog, variants: "Sequence[RunHandle]") -> None:
        self.id = run_id
        self._variants = variants
        self.name = self.key = "run"
        self.result: Run | None = None
        self.chosen: int | None = None
        """Number, from 1, of the variant picked before all had ended."""
        self.is_stopped = False
        """Whether the user has stopped all of it."""
        self.settling: list[Callable[[], Awaitable[None]]] = []
        """Awaited before the run counts as finished, for example writing the cassette."""
        self._event_log = event_log

    def label(self, name: str, key: str) -> None:
        self.name, self.key = name, key

    def subscribe(self, subscriber: Callable[[Event], None]) -> None:
        """Call `subscriber` with every event, past ones first. Its exceptions are logged."""
        self._event_log.subscribe(subscriber)

    @property
    def runs(self) -> "Sequence[RunHandle]":
        """The runs in progress, one per variant."""
        return self._variants

    @property
    def count(self) -> int:
        return len(self._variants)

    @property
    def prompt(self) -> str:
        return self._variants[0].prepared.run_input.prompt

    @property
    def events(self) -> EventList:
        return self._event_log.events

    @property
    def done(self) -> bool:
        return self.result is not None

    def __aiter__(self) -> AsyncIterator[Event]:
        return aiter(self._event_log)

    def __await__(self) -> Generator[Any, None, Run]:
        return self._wait_ticking().__await__()

    if not TYPE_CHECKING:  # it would make type checkers accept any name

        def __getattr__(self, name: str) -> Any:
            """Fall back to attributes of the result: a variable may still refer to the handle after the run."""
            run = self.__dict__.get("result")
            if name not in _RUN_NAMES and name not in value_types():
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            if run is None:
                raise AttributeError(f"`{name}` is available once the run has ended; await it first.")
            return getattr(run, name)

    def __dir__(self) -> set[str]:
        return {*super().__dir__(), *(_RUN_NAMES if self.done else ())}

    def approve_with(self, ask: Ask) -> None:
        for approvals in filter(None, (variant.approvals for variant in self._variants)):
            approvals.ask = ask

    def show_output(self, variant: int, call_id: str) -> None:
        """Send the output of a call that was held back because the run sends no values."""
        gate = self._variants[variant].gate
        if gate is None or self.done:
            raise ConfigError("The run has ended." if gate else "Nothing was held back.")
        gate.show(call_id)

    @property
    def trials(self) -> Sequence[Trials]:
        """The trials of each variant; empty ones for a run that never asks."""
        return [variant.approvals.trials if variant.approvals else Trials() for variant in self._variants]

    def problems_of(self, name: str, args: Json) -> Mapping[str, str]:
        """Problems with the tool's arguments, by argument: from its schema, else from the tool itself."""
        approvals = self._variants[0].approvals
        tool = approvals.toolbox.get(name) if approvals else None
        return (problems(tool.spec.schema, args) or tool.problems(args)) if tool else {}

    @property
    def running_code(self) -> tuple[int, ...]:
        """Indices of variants in which the user has allowed all code for this run."""
        all_approvals = enumerate(variant.approvals for variant in self._variants)
        return tuple(index for index, approvals in all_approvals if approvals and approvals.code_runs)

    @property
    def consent(self) -> Consent:
        approvals = self._variants[0].approvals
        return approvals.consent if approvals else Consent()

    def let_code_run(self, variant: int, *, allowed: bool) -> None:
        """Allow all code of a variant (index from 0), or ask about each call again."""
        if approvals := self._variants[variant].approvals:
            approvals.consent.code[variant] = allowed

    def files_of(self, variant: int) -> Files:
        return self._variants[variant].files

    @property
    def model(self) -> str:
        return ", ".join(dict.fromkeys(variant.prepared.provider.name for variant in self._variants))

    @property
    def recorded(self) -> str:
        """Where the cassette was written, or why it was not; empty if the run is not recorded."""
        recording = self._variants[0].recording
        return recording.outcome if recording else ""

    async def _wait_ticking(self) -> Run:
        with ticking():  # ipykernel interrupts a cell that awaits by cancelling it, in a signal handler
            return await self._wait()

    @abstractmethod
    async def _wait(self) -> Run: ...

    @abstractmethod
    def stop(self, reason: Reason = "stopped", number: int | None = None) -> None:
        """Stop the run, or only variant `number` (from 1), and keep the results so far."""


class RunHandle(Handle):
    """One run in progress: from the engine, a replay or an outside agent. It finishes exactly once."""

    approvals: Approvals | None = None
    """None if the run never asks for approval."""
    gate: DataGate | None = None

    def __init__(self, prepared: PreparedRun, run_id: str, event_log: EventLog, variant: int) -> None:
        super().__init__(run_id, event_log, [self])
        self.fingerprint: Json = {}
        self.prepared, self.variant = prepared, variant
        self.settings = deepcopy({**prepared.recorded_settings})
        self.when_done: list[Callable[[], None]] = []
        self.recording: Recording | None = None
        self.group: Any = None
        """What it shares with its other variants."""
        self._stop_reason: Reason | None = None

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._event_log.on_interrupt = partial(self.stop, "interrupted")
        self._task = asyncio.get_running_loop().create_task(work, name=f"agent_nb run {self.id}")
        # A task that is cancelled before it first runs never enters its coroutine.
        self._task.add_done_callback(lambda task: self._finish(self._stop_reason or "interrupted"))

    @property
    @abstractmethod
    def files(self) -> Files:
        """The current files."""

    @property
    @abstractmethod
    def conversation(self) -> SentConversation:
        """The conversation so far, as last sent."""

    @abstractmethod
    def _finish(self, reason: Reason, error: str | None = None) -> None:
        """Finish the run consistently, once: every call has a result, `RunFinished` is the last event."""

    def _end_with(self, run: Run) -> None:
        self.result = run
        SESSION.add(run)
        self._event_log.close()
        for call in self.when_done:
            call()

    def stop(self, reason: Reason = "stopped", number: int | None = None) -> None:
        """Stop the run immediately and keep the results so far. From another thread, use `call_soon_threadsafe`."""
        if self.result is None and self._stop_reason is None:
            self._stop_reason = reason
            self.is_stopped = ENDINGS[reason].is_by_user
            self._task.cancel()

    async def _wait(self) -> Run:
        await asyncio.wait([self._task])
        self._finish(self._stop_reason or "interrupted")
        for settle in self.settling:
            await settle()
        assert self.result is not None
        return self.result

    def __repr__(self) -> str:
        state = self.result.reason if self.result else "running"
        return f"<RunHandle {self.name} {self.model} {state}: {len(self.events)} events>"
