"""A run in progress, from its first event to its last. `turns.py` has what it does in between."""

import asyncio
import contextlib
import functools
from dataclasses import replace
from typing import Any

from agent_nb._base.log import log
from agent_nb._base.secrets import mask
from agent_nb._base.threads import off_loop
from agent_nb.engine.approval import Approvals
from agent_nb.engine.cost import Budget
from agent_nb.engine.ending import EndRun
from agent_nb.engine.handle import RunHandle
from agent_nb.engine.history import files_in, unfinished_text, unsaved_files
from agent_nb.engine.journal import Journal
from agent_nb.engine.opening import Opening
from agent_nb.engine.run_config import RunConfig, VariantGroup
from agent_nb.engine.tool_runner import ToolRunner
from agent_nb.engine.turns import Turns
from agent_nb.errors import AgentError, FileError
from agent_nb.events import ENDINGS, FileChanged, Reason, RunFinished, RunStarted, Thumbnail
from agent_nb.files import Change, Files, Workspace, starting_change
from agent_nb.images.convert import thumbnails
from agent_nb.looking.page_check import LimitedViewer
from agent_nb.messages import assistant
from agent_nb.providers.base import RealClock
from agent_nb.run.run import Run
from agent_nb.tools import ToolContext


class EngineRun(RunHandle):
    """One run in progress: `await` it for the `Run`, iterate over it for its events, `stop()` it.

    However it ends, it finishes exactly once and leaves a consistent `Run`.
    """

    def __init__(self, config: RunConfig, opening: Opening, group: VariantGroup, variant: int) -> None:
        self._journal = Journal(group.run_id, variant, config.provider.new_clock())
        super().__init__(group.run_id, self._journal, variant)
        self.config, self._opening, self._group = config, opening, group
        self._workspace = Workspace(opening.files or Files(), self._file_changed)
        self._emit = self._journal.emit
        self._budget = Budget(config.limits, config.price, group.meters, self._journal)
        self.approvals: Approvals = Approvals(
            rules=config.rules,
            toolbox=config.toolbox,
            emit=self._journal.emit_now,
            clock=self._journal.clock,
            hold=self._journal.hold,
            hosts=group.hosts,
        )
        self._turns = Turns(config, opening, self._journal, self._budget)
        self.gate = self._turns.gate
        self._begin(self._main())

    @property
    def files(self) -> Files:
        return self._workspace.files

    async def _main(self) -> None:
        config, opening = self.config, self._opening
        real_time = isinstance(self._journal.clock, RealClock)
        if real_time:
            self._budget.start_timer(functools.partial(self.stop, "max_seconds"))
        try:
            await self._announce()
            if real_time:  # nobody looks at pages for a demo, which is the same everywhere
                self._turns.window.add_to_question(await self._group.look.at(opening.elements, config.viewer))
            if opening.files is None:
                found = await files_in(opening.history, config.toolbox, config.rules)
                self._workspace = Workspace(found, self._file_changed)
            facts = opening.facts(self._workspace.files, config.toolbox)
            for path in self._workspace.files:
                self._file_changed(starting_change(self._workspace.files, path))
            self._finish(await self._turns.run(self._runner(), facts))
        except asyncio.CancelledError:
            self._finish(self._stop_reason or "interrupted")
        except EndRun as end:
            self._finish(end.reason, end.error)
        except AgentError as error:
            self._finish("failed", str(error))
        except Exception as error:
            log.exception("the run failed")
            self._finish("failed", f"{type(error).__name__}: {error}")
        finally:
            self._budget.cancel_timer()

    def _runner(self) -> ToolRunner:
        context = ToolContext(
            files=self._workspace,
            progress=print,
            images=self._opening.inputs,
            base_variants=self._opening.base_variants,
            variant=self.variant,
            studio=self.config.studio,
            viewer=LimitedViewer(self.config.viewer, self.config.looks) if self.config.viewer else None,
            seconds_left=lambda: self._budget.seconds_left,
        )
        return ToolRunner(
            toolbox=self.config.toolbox,
            context=context,
            emit=self._journal.emit_now,
            clock=self._journal.clock,
            approvals=self.approvals,
            gate=self.gate,
            hooks=self.config.hooks,
            open_charge=self._budget.open_charge,
            settle=self._budget.settle,
        )

    async def _announce(self) -> None:
        await self._complete_settings()
        images = self._opening.images
        self._start(await off_loop(thumbnails, images) if images else ())

    def _start(self, images: tuple[Thumbnail, ...] = ()) -> None:
        about = {"prompt": self._opening.prompt, "model": self.model, "base": self._opening.base}
        self._emit(RunStarted, **about, settings=self.config.settings, images=images)

    async def _complete_settings(self) -> None:
        """Adds the date, and what the model's server says about itself."""
        config, found = self.config, dict[str, Any]()
        if isinstance(self._journal.clock, RealClock):
            found["started"] = self._journal.clock.date
        self.config = replace(config, settings={**config.settings, **found})
        if (server := await config.provider.introduce()) is not None:
            window = self._turns.window.size = config.provider.window
            found |= {"server": server, **({"window": window} if window else {})}
            self.config = replace(config, settings={**config.settings, **found})

    def _finish(self, reason: Reason, error: str | None = None) -> None:
        """Leaves a consistent run, once: every call has a result, written text is kept, `RunFinished` is last."""
        if self.result is not None:
            return
        if not self.events:  # stopped before it had begun
            self._start()
        if ENDINGS[reason].is_cut:
            self._journal.tick()
        self._budget.meter.cut_off()
        self._save_unfinished()
        self._turns.close_calls()
        self._end_with(self._result(reason, error and mask(error)))

    def _result(self, reason: Reason, error: str | None) -> Run:
        meter, seconds = self._budget.meter, self._journal.at
        usage, cost = meter.total, meter.cost
        self._emit(RunFinished, reason=reason, usage=usage, cost=cost, seconds=seconds, error=error)
        return Run(
            id=self.id,
            name=self.name,
            key=self.key,
            prompt=self._opening.prompt,
            model=self.model,
            reason=reason,
            error=error,
            files=self._workspace.files,
            messages=tuple(self._turns.messages),
            history=self._turns.window.question,
            replaced=tuple(self._turns.window.replaced),
            events=self.events.packed(),
            usage=usage,
            cost=cost,
            seconds=seconds,
            settings=self.config.settings,
            system=self.config.system,
            tools=self.config.toolbox.specs,
            ended_at=self._journal.clock.date,
            fingerprint=self._group.fingerprint,
        )

    def _save_unfinished(self) -> None:
        if text := unfinished_text(self.events):
            self._turns.add(assistant(text))
        files, last = self._workspace.files, self._turns.messages[-1]
        answer = last.text if last.role == "assistant" else ""
        for path, text in unsaved_files(self.events, files, answer, self.config.toolbox).items():
            with contextlib.suppress(FileError):
                self._workspace.write(path, text)

    def _file_changed(self, change: Change) -> None:
        if change.call_id is not None:
            self._journal.tick()
        self._emit(FileChanged, **{name: getattr(change, name) for name in Change.__slots__})
