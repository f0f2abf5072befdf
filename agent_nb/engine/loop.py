"""The agent loop: stream a turn, run its tool calls, and repeat until the model is done.

A `RunHandle` is one run in progress. However it ends, it finishes exactly once and leaves a consistent `Run`.
The engine knows no vendor and no tool by name, and nothing about notebooks.
"""

import asyncio
import contextlib
import functools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agent_nb._base.bridge import from_any_thread
from agent_nb._base.log import log
from agent_nb._base.secrets import mask
from agent_nb._base.threads import off_loop
from agent_nb.engine.approval import Approvals, Ask
from agent_nb.engine.conversation import files_in, unfinished_text, unsaved_files
from agent_nb.engine.cost import UPDATE_EVERY, Budget, estimate_tokens
from agent_nb.engine.ending import NOT_RUN, EndRun, MustCompact
from agent_nb.engine.handle import Handle, Recorded
from agent_nb.engine.journal import Journal
from agent_nb.engine.opening import Opening
from agent_nb.engine.run_config import RunConfig, VariantGroup
from agent_nb.engine.session_costs import SESSION
from agent_nb.engine.tool_runner import ToolRunner, title_of, was_cut
from agent_nb.engine.window import Context, Shorter
from agent_nb.errors import AgentError, FileError, ProviderError, RequestRefusedError
from agent_nb.events import (
    ENDINGS,
    ConversationCompacted,
    FileChanged,
    MessageAdded,
    Reason,
    RunFinished,
    RunStarted,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnRetrying,
    TurnStarted,
)
from agent_nb.files import Change, Files, Workspace, starting_change
from agent_nb.images.convert import thumbnails
from agent_nb.looking.page_check import PageViewer
from agent_nb.messages import Message, ToolCall, assistant, user
from agent_nb.prompts import prompt_text
from agent_nb.providers.base import (
    Accepted,
    CallPiece,
    CallStarted,
    RealClock,
    Request,
    TextPiece,
    ThinkingPiece,
    Turn,
    UsagePiece,
)
from agent_nb.run.record import unique_call_id
from agent_nb.run.run import Run
from agent_nb.tools import ToolContext


class RunHandle(Handle):
    """One run in progress: `await` it for the `Run`, iterate over it for its events, `stop()` it."""

    def __init__(self, config: RunConfig, opening: Opening, group: VariantGroup, variant: int) -> None:
        self._clock = config.provider.new_clock()
        self._journal = Journal(group.run_id, variant, self._clock)
        super().__init__(group.run_id, self._journal)
        self.variant = variant
        self._ask: Ask | None = None
        self.on_done: Callable[[], None] | None = None
        """Called once, when `result` is set."""
        self.recording: Recorded | None = None
        self._config, self._opening, self._group = config, opening, group
        self._on_loop = from_any_thread()
        self._context = Context(config, opening)
        self._messages = self._context.messages
        self._workspace = Workspace(opening.files or Files(), on_change=self._on_loop(self._file_changed))
        self._emit = self._journal.emit
        self._journal.on_interrupt = functools.partial(self.stop, "interrupted")
        self._budget = Budget(config.limits, config.price, group.costs, self._journal)
        self._meter, self.call_costs = self._budget.meter, self._budget.call_costs
        self._call_counts: dict[str, int] = {}
        self._open_calls: dict[str, ToolCall] = {}
        """Calls without a result, by the call id used in events."""
        self._retries = config.retries()
        self._stop_reason: Reason | None = None
        self._task = asyncio.get_running_loop().create_task(self._main(), name=f"agent_nb run {self.id}")
        # A task that is cancelled before it first runs never enters _main.
        self._task.add_done_callback(lambda task: self._finish(self._stop_reason or "interrupted"))

    async def _converse(self) -> Reason:
        """Runs turns until the model is done; returns the reason for the end."""
        last, cut = self._config.limits.steps, False
        for number in range(1, last + 1):
            if summing_up := number == last > 1:
                self._add(user(prompt_text("sum_up")))
            turn = await self._turn(number, summing_up)
            self._add(turn.message)
            if turn.stop == "refusal":
                raise EndRun("refusal", turn.detail or "The model declined to answer.")
            cut_before, cut = cut, was_cut(turn, self._config.toolbox)
            if cut_before and cut:
                return "max_tokens"
            if turn.message.tool_calls and number < last:
                self._add(await self._results(turn.message.tool_calls, cut))
            elif turn.stop in ("end_turn", "max_tokens"):
                return "max_steps" if summing_up else turn.stop
        return "max_steps"

    async def _turn(self, number: int, summing_up: bool) -> Turn:
        """One turn of the model, retried when the vendor or the network fails."""
        known, attempt, refused = dict(self._call_counts), 1, False
        self._retries.begin_turn()
        self._emit(TurnStarted, step=number)
        if shorter := self._context.before_turn(number):
            self._compact(shorter)
        while True:
            self._budget.check()
            request = await self._config.outgoing(self._request(summing_up))
            self._meter.begin_turn(estimate_tokens(request.messages, request.system))
            try:
                turn = await self._stream(request)
                break
            except MustCompact as found:
                if shorter := self._context.shortened(found.why, found.limit):
                    self._compact(shorter)
            except ProviderError as error:
                shorter = self._context.after_refusal(error, again=refused)
                wait = 0.0 if shorter else self._retries.wait_after(error, self._budget.seconds_left)
                if isinstance(error, RequestRefusedError):
                    self._context.leave_out(error.without)
                self._call_counts = dict(known)
                self._open_calls.clear()
                self._journal.tick()
                self._emit(TurnRetrying, attempt=attempt, wait=wait, why=mask(str(error)))
                attempt += 1
                if shorter:
                    refused = True
                    self._compact(shorter)
                await self._clock.sleep(wait)
        self._meter.end_turn(turn.usage)
        self._context.counted(turn.usage)
        self._emit(TurnFinished, stop=turn.stop, usage=turn.usage, model=turn.model)
        self._budget.report()
        log.info("%s turn %d: %s, cost so far %s", turn.model, number, turn.usage, self._meter.cost)
        return turn

    async def _stream(self, request: Request) -> Turn:
        """Emits the pieces of a turn as they arrive; returns the finished turn."""
        readers: dict[str, tuple[str, Any]] = {}
        turn: Turn | None = None
        chars, estimate_at = 0, UPDATE_EVERY
        deadline = self._config.limits.seconds or math.inf
        async with contextlib.aclosing(self._config.provider.stream(request)) as pieces:
            async for piece in pieces:
                self._journal.tick()
                # This runs for every token; a type test takes a ninth of the time of a class pattern.
                if type(piece) is CallPiece:
                    event_id, reader = readers[piece.id]
                    # Each fragment is emitted once: as file text if the tool's reader finds any, else as it is.
                    file_text = reader.feed(piece.text) if reader else ()
                    for path, offset, text in file_text:
                        self._journal.emit_file(event_id, path, offset, text)
                    if not file_text:
                        self._emit(ToolArgsDelta, call_id=event_id, text=piece.text)
                    chars += len(piece.text)
                elif type(piece) is TextPiece or type(piece) is ThinkingPiece:
                    self._emit(TextDelta if type(piece) is TextPiece else ThinkingDelta, text=piece.text)
                    chars += len(piece.text)
                elif type(piece) is CallStarted:
                    readers[piece.id] = self._start_call(piece.id, piece.name)
                elif type(piece) is UsagePiece:
                    self._meter.counted(piece.usage)
                elif type(piece) is Accepted:
                    self._meter.accepted()
                elif type(piece) is Turn:
                    turn = piece
                self._meter.chars = chars
                if chars >= estimate_at or self._journal.at >= deadline:
                    estimate_at = self._budget.estimate(estimate_at)
        if turn is None:
            raise ProviderError("The response ended before it was complete.", retryable=True)
        return turn

    def _compact(self, shorter: Shorter) -> None:
        """Sends a shorter conversation from now on."""
        self._context.replace(shorter)
        self._emit(ConversationCompacted, **shorter.fields)

    async def _results(self, calls: tuple[ToolCall, ...], cut: bool) -> Message:
        """Runs the calls of a turn; returns their results as one message, in call order."""
        named = list(zip(self._open_calls, calls, strict=True))
        self._runner.cut = named[-1][0] if cut else None
        self._open_calls = dict(named)
        results = await self._runner.run(named)
        self._open_calls.clear()
        return Message(role="tool", parts=results)

    # Start and end

    async def _main(self) -> None:
        config, opening = self._config, self._opening
        real_time = isinstance(self._clock, RealClock)
        if real_time:
            self._budget.start_timer(functools.partial(self.stop, "max_seconds"))
        try:
            await self._begin()
            if real_time:  # nobody looks at pages for a demo or a replay, which are the same everywhere
                self._context.add_to_question(await self._group.look.at(opening.elements, config.viewer))
            if opening.files is None:
                found = await files_in(opening.history, config.toolbox, config.rules)
                self._workspace = Workspace(found, on_change=self._on_loop(self._file_changed))
            self._facts = opening.facts(self._workspace.files, config.toolbox)
            for path in self._workspace.files:
                self._file_changed(starting_change(self._workspace.files, path))
            self._finish(await self._converse())
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

    async def _begin(self) -> None:
        opening, settings = self._opening, self._config.settings
        fields = {"prompt": opening.prompt, "model": self.model, "base": opening.base, "settings": settings}
        try:
            images = await off_loop(thumbnails, opening.images) if opening.images else ()
        except asyncio.CancelledError:
            self._emit(RunStarted, **fields)
            raise
        self._emit(RunStarted, images=images, **fields)

    def _finish(self, reason: Reason, error: str | None = None) -> None:
        """Leaves a consistent run, once: every call has a result, written text is kept, `RunFinished` is last."""
        if self.result is not None:
            return
        if ENDINGS[reason].is_cut:
            self._journal.tick()
        self._meter.cut_off()
        self._save_unfinished()
        self._close_calls()
        self.result = self._result(reason, error and mask(error))
        SESSION.add(self.result)
        self._journal.close()
        if self.on_done:
            self.on_done()

    def _result(self, reason: Reason, error: str | None) -> Run:
        usage, cost, seconds = self._meter.total, self._meter.cost, self._journal.at
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
            messages=tuple(self._messages),
            history=self._context.question,
            replaced=tuple(self._context.replaced),
            events=self.events.packed(),
            usage=usage,
            cost=cost,
            seconds=seconds,
            settings=self._config.settings,
            system=self._config.system,
            tools=self._config.toolbox.specs,
        )

    def _close_calls(self) -> None:
        """Gives every open call a result; a call that had already ended keeps its own."""
        ended = {event.call_id: event for event in self.events.of(ToolFinished)}
        for event_id in self._open_calls:
            if event_id not in ended:
                cut = {"call_id": event_id, "ok": False, "summary": NOT_RUN, "code": "STOPPED"}
                ended[event_id] = self._emit(ToolFinished, **cut)
        if calls := self._messages[-1].tool_calls:
            named = zip(self._open_calls, calls, strict=True)
            parts = tuple(self._runner.result(call, ended[event_id]) for event_id, call in named)
            self._add(Message(role="tool", parts=parts))

    def _save_unfinished(self) -> None:
        if text := unfinished_text(self.events):
            self._add(assistant(text))
        files, last = self._workspace.files, self._messages[-1]
        answer = last.text if last.role == "assistant" else ""
        for path, text in unsaved_files(self.events, files, answer, self._config.toolbox).items():
            with contextlib.suppress(FileError):
                self._workspace.write(path, text)

    # The public side

    def approve_with(self, ask: Ask) -> None:
        self._ask = ask

    def stop(self, reason: Reason = "stopped", number: int | None = None) -> None:
        """Stops the run at once and keeps what it has made. From another thread, use `call_soon_threadsafe`."""
        if self.result is None and self._stop_reason is None:
            self._stop_reason = reason
            self._task.cancel()

    @property
    def recorded(self) -> str:
        return self.recording.outcome if self.recording else ""

    @property
    def model(self) -> str:
        return self._config.provider.name

    @property
    def files(self) -> Files:
        """The current files."""
        return self._workspace.files

    def files_of(self, variant: int) -> Files:
        return self.files

    @property
    def viewer(self) -> PageViewer | None:
        return self._config.viewer

    async def _wait(self) -> Run:
        await asyncio.wait([self._task])
        self._finish(self._stop_reason or "interrupted")
        for settled in self.settling:
            await settled()
        assert self.result is not None
        return self.result

    def __repr__(self) -> str:
        state = self.result.reason if self.result else "running"
        return f"<RunHandle {self.name} {self.model} {state}: {len(self.events)} events>"

    def _request(self, summing_up: bool) -> Request:
        return Request(
            system=self._config.system,
            messages=tuple(self._messages),
            tools=self._config.toolbox.specs,
            variant=self.variant,
            clock=self._clock,
            facts=replace(self._facts, summing_up=summing_up),
            without=self._context.without,
        )

    @functools.cached_property
    def _runner(self) -> ToolRunner:
        context = ToolContext(
            files=self._workspace,
            progress=print,
            images=self._opening.inputs,
            base_variants=self._opening.base_variants,
            variant=self.variant,
            studio=self._config.studio,
            viewer=self._config.limited_viewer(),
            seconds_left=lambda: self._budget.seconds_left,
        )
        shared: Any = {"toolbox": self._config.toolbox, "emit": self._journal.emit_now, "clock": self._clock}
        rules, hold = self._config.rules, self._journal.hold
        return self._config.runner(
            **shared,
            context=context,
            on_loop=self._on_loop,
            approvals=Approvals(**shared, rules=rules, ask=self._ask, hold=hold, hosts=self._group.hosts),
            hooks=self._config.hooks,
            open_charge=self._budget.open_charge,
            settle=self._budget.settle,
        )

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        self._emit(MessageAdded, message=message)

    def _start_call(self, call_id: str, name: str) -> tuple[str, Any]:
        event_id = unique_call_id(call_id, self._call_counts)
        self._open_calls[event_id] = ToolCall(call_id, name, "")
        tool = self._config.toolbox.get(name)
        self._emit(ToolStarted, call_id=event_id, name=name, title=title_of(tool, {}) if tool else name)
        return event_id, tool.stream() if tool and tool.stream else None

    def _file_changed(self, change: Change) -> None:
        if change.call_id is not None:
            self._journal.tick()
        self._emit(FileChanged, **{name: getattr(change, name) for name in Change.__slots__})
