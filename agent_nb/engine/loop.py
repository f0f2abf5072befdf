"""A run in progress, from its first event to its last. `turns.py` runs the turns in between."""

import asyncio
import functools
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_nb._base.log import log
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.core.errors import AgentError, ModelNotFoundError, RunFailedError, error_text
from agent_nb.core.events import ENDINGS, Change, FileChanged, Reason, RunFinished, RunStarted, Thumbnail
from agent_nb.core.messages import Message
from agent_nb.engine.approval import Approvals, Consent
from agent_nb.engine.cost import Budget, CostMeter
from agent_nb.engine.ending import EndRun
from agent_nb.engine.handle import RunHandle
from agent_nb.engine.journal import Journal
from agent_nb.engine.prepared import PreparedRun
from agent_nb.engine.run_input import files_in
from agent_nb.engine.tool_runner import ToolRunner
from agent_nb.engine.turns import Turns
from agent_nb.files import Files, Workspace, starting_change
from agent_nb.images.convert import thumbnails
from agent_nb.providers.base import RealClock
from agent_nb.run.cut_off import keep_unfinished
from agent_nb.run.run import Run
from agent_nb.run.run_writer import SentConversation
from agent_nb.tools import ToolContext

MakeTurns = Callable[[PreparedRun, Journal, Budget], Turns]
"""Creates the object that runs the turns. Outside agents have their own."""


@dataclass(frozen=True, slots=True)
class VariantGroup:
    """State shared by variants that start together: id, budget and what the user has allowed."""

    run_id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    meters: list[CostMeter] = field(default_factory=list)
    consent: Consent = field(default_factory=Consent)
    fingerprint: Json = field(default_factory=dict)


class EngineRun(RunHandle):
    """A run executed by the engine. It always finishes exactly once and produces a consistent `Run`."""

    def __init__(
        self, prepared: PreparedRun, group: VariantGroup, variant: int, make_turns: "MakeTurns" = Turns
    ) -> None:
        self._journal = Journal(group.run_id, variant, prepared.provider.new_clock())
        super().__init__(prepared, group.run_id, self._journal, variant)
        run_input = self._run_input = prepared.run_input
        self.group, self.fingerprint = group, group.fingerprint
        self._workspace = Workspace(run_input.files or Files(), self._file_changed)
        self._emit = self._journal.emit
        self._budget = Budget(prepared.settings.limits, prepared.price, group.meters, self._journal)
        self.approvals: Approvals = Approvals(
            rules=prepared.rules,
            toolbox=prepared.toolbox,
            emit=self._journal.emit_now,
            clock=self._journal.clock,
            hold=self._journal.hold,
            consent=group.consent,
            variant=variant,
        )
        self._turns = make_turns(prepared, self._journal, self._budget)
        self.gate = self._turns.gate
        self._begin(self._main())

    @property
    def files(self) -> Files:
        return self._workspace.files

    @property
    def conversation(self) -> SentConversation:
        window, prepared = self._turns.window, self.prepared
        return SentConversation(prepared.system, prepared.tools, window.question, tuple(window.messages))

    async def _main(self) -> None:
        prepared, run_input = self.prepared, self._run_input
        real_time = isinstance(self._journal.clock, RealClock)
        if real_time:
            self._budget.start_timer(functools.partial(self.stop, "max_seconds"))
        try:
            await self._complete_settings()
            attachments = run_input.attachments
            self._start(await off_loop(thumbnails, attachments) if attachments else ())
            if run_input.files is None:
                files = await files_in(run_input.history, prepared.toolbox, prepared.rules)
                self._workspace = Workspace(files, self._file_changed)
            facts = run_input.facts(self._workspace.files, prepared.toolbox)
            for path in self._workspace.files:
                self._file_changed(starting_change(self._workspace.files, path))
            self._finish(await self._turns.run(await self._turns.parts.begin(self._runner()), facts))
        except asyncio.CancelledError:
            self._finish(self._stop_reason or "interrupted")
        except EndRun as end:
            self._finish(end.reason, end.error)
        except ModelNotFoundError as error:
            self._finish("failed", str(error), error.other_models)
        except AgentError as error:
            self._finish("failed", str(error))
        except Exception as error:
            log.exception("the run failed")
            self._finish("failed", error_text(error))
        finally:
            self._budget.cancel_timer()
            self._turns.parts.close()

    def _runner(self) -> ToolRunner:
        context = ToolContext(
            files=self._workspace,
            progress=print,
            images=self._run_input.inputs,
            base_variants=self._run_input.base_variants,
            variant=self.variant,
            studio=self.prepared.studio,
            seconds_left=lambda: self._budget.seconds_left,
        )
        return ToolRunner(
            toolbox=self.prepared.toolbox,
            context=context,
            emit=self._journal.emit_now,
            clock=self._journal.clock,
            approvals=self.approvals,
            gate=self.gate,
            hooks=self.prepared.hooks,
            open_charge=self._budget.open_charge,
            settle=self._budget.settle,
        )

    def _start(self, images: tuple[Thumbnail, ...] = ()) -> None:
        about = {"prompt": self._run_input.prompt, "model": self.model, "base": self._run_input.base_id}
        self._emit(RunStarted, **about, settings=self.settings, images=images)

    async def _complete_settings(self) -> None:
        """Add the date, and the details that the model's server reports."""
        provider = self.prepared.provider
        if isinstance(self._journal.clock, RealClock):
            self.settings = {**self.settings, "started": self._journal.clock.date}
        if (server := await provider.introduce()) is not None:
            window = self._turns.window.size = provider.window
            self.settings = {**self.settings, "server": server, **({"window": window} if window else {})}

    def _finish(self, reason: Reason, error: str | None = None, other_models: tuple[str, ...] = ()) -> None:
        """Finish the run consistently, once: calls get results, unfinished text is kept, `RunFinished` comes last."""
        if self.result is not None:
            return
        if not self.events:  # stopped before it began
            self._start()
        if ENDINGS[reason].is_cut:
            self._journal.tick()
        self._journal.flush()
        self._budget.meter.cut_off()
        turns = self._turns
        could_write = any(tool.stream for tool in self.prepared.toolbox)
        keep_unfinished(self.events, turns.messages, turns.add, self._workspace, could_write=could_write)
        turns.close_calls()
        self._end_with(self._result(reason, error, other_models))

    def _result(self, reason: Reason, error: str | None, other_models: tuple[str, ...]) -> Run:
        meter, seconds = self._budget.meter, self._journal.at
        usage, cost = meter.total, meter.cost
        end, failure = self._turns.parts.finish()
        if failure and not (error or ENDINGS[reason].is_by_user):
            reason, error = "failed", failure
        error = error and str(RunFailedError(error))
        about = {"reason": reason, "error": error, "other_models": other_models, "answer": end.answer}
        self._emit(RunFinished, **about, values=end.values, usage=usage, cost=cost, seconds=seconds)
        return Run(
            id=self.id,
            name=self.name,
            key=self.key,
            prompt=self._run_input.prompt,
            model=self.model,
            reason=reason,
            error=error,
            files=self._workspace.files,
            messages=tuple(self._turns.messages),
            history=self._turns.window.question,
            replaced=tuple(self._turns.window.replaced),
            events=self.events,
            usage=usage,
            cost=cost,
            seconds=seconds,
            settings=self.settings,
            system=self.prepared.system,
            tools=self.prepared.tools,
            ended_at=self._journal.clock.date,
            fingerprint=self.fingerprint,
            answer_type=self.prepared.kept.get("answer_type"),
            branched_from=end.branched_from,
        )

    def _file_changed(self, change: Change) -> None:
        if change.call_id is not None:
            self._journal.tick()
        self._emit(FileChanged, **vars(change))


def first_messages(prepared: PreparedRun) -> tuple[Message, ...]:
    """The messages of the first request, as they are sent without middleware."""
    journal = Journal("", 0, prepared.provider.new_clock())
    return Turns(
        prepared, journal, Budget(prepared.settings.limits, prepared.price, [], journal)
    ).first_messages()
