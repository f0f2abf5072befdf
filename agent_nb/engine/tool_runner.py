"""Runs the tool calls of a turn concurrently. Calls that write the same file keep their order.

Failures become results for the model; only stopping the run cancels the calls.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from agent_nb._base.secrets import shortened
from agent_nb._base.wire import Json
from agent_nb.core.errors import BranchError, ToolError
from agent_nb.core.events import ToolFinished, ToolProgress, ToolReady, ToolRunning
from agent_nb.core.messages import ToolCall, ToolResult
from agent_nb.engine.approval import Approvals, ApprovedCall, Emit
from agent_nb.engine.data_gate import DataGate
from agent_nb.engine.ending import EndRun, call_user_code
from agent_nb.engine.middleware import Hooks
from agent_nb.images.maker import Charge
from agent_nb.prompts import CUT_CALL, CUT_CALL_HINT
from agent_nb.providers.base import Clock, Turn
from agent_nb.tools import Tool, Toolbox, ToolContext, ToolOutput
from agent_nb.tools.toolbox import masked

SUMMARY_LIMIT = 160
PROGRESS_LIMIT = 1_000
PROGRESS_LINES = 100
"""Lines of progress that a call may report at once, and a tenth of it in each second. More are dropped."""


@dataclass(slots=True, kw_only=True)
class ToolRunner:
    toolbox: Toolbox
    context: ToolContext
    emit: Emit
    clock: Clock
    approvals: Approvals
    gate: DataGate | None = None
    hooks: Hooks
    results: dict[str, ToolResult] = field(default_factory=dict)
    """Results of finished calls by call id, so that none is lost if the run is stopped."""
    open_charge: Callable[[], Charge] = Charge
    settle: Callable[[Charge], None] = lambda charge: None
    cut: str | None = None
    """Event id of the call truncated by the model's output limit."""
    _cache: dict[str, ToolOutput] = field(default_factory=dict)
    _charges: dict[str, Charge] = field(default_factory=dict)

    async def run(self, calls: Sequence[tuple[str, ToolCall]]) -> tuple[ToolResult, ...]:
        """Run (event id, call) pairs; return their results in the same order."""
        await self.approvals.consent.note_secrets()
        try:
            return await self._run_calls(calls)
        except BaseExceptionGroup as group:
            raise next((error for error in group.exceptions if isinstance(error, EndRun)), group) from None

    async def _run_calls(self, calls: Sequence[tuple[str, ToolCall]]) -> tuple[ToolResult, ...]:
        last_writer: dict[str, asyncio.Task[ToolResult]] = {}
        tasks: list[asyncio.Task[ToolResult]] = []
        async with asyncio.TaskGroup() as group:
            for event_id, call in calls:
                tool, paths = self._paths(call)
                waits_for = last_writer if tool and tool.after_writes else paths
                writers = [last_writer[path] for path in waits_for if path in last_writer]
                task = group.create_task(self._run_call(event_id, call, writers))
                tasks.append(task)
                last_writer.update(dict.fromkeys(paths, task))
        return tuple(task.result() for task in tasks)

    def result(self, call: ToolCall, end: ToolFinished) -> ToolResult:
        """The result of a call in an interrupted turn: the actual one if the call had finished."""
        unfinished = ToolResult(call_id=call.id, name=call.name, text=end.summary, code=end.code)
        return self.results.get(end.call_id, unfinished)

    def versioned(self, call: ToolCall, result: ToolResult) -> ToolResult:
        files, paths = self.context.files.files, self.toolbox.files_of(call) if result.ok else ()
        return replace(result, versions={path: files.version(path) for path in paths if path in files})

    def prepare(self, event_id: str, call: ToolCall) -> tuple[Tool, Json]:
        if event_id == self.cut:
            raise ToolError(CUT_CALL, code="INVALID_JSON", hint=CUT_CALL_HINT)
        return self.toolbox.prepare(call)

    def _paths(self, call: ToolCall) -> tuple[Tool | None, tuple[str, ...]]:
        try:
            tool, args = self.toolbox.prepare(call)
            return tool, tool.writes(args)
        except Exception:  # an invalid call is reported when it is run
            return None, ()

    async def _run_call(
        self, event_id: str, original: ToolCall, writers: list[asyncio.Task[ToolResult]]
    ) -> ToolResult:
        if writers:
            await asyncio.wait(writers)
        started = self.clock.now()
        call, output, error, remarks = original, ToolOutput(text=""), None, ""
        charge = self._charges[event_id] = self.open_charge()
        try:
            call = await self._before_hooks(original)
            tool, args = self.prepare(event_id, call)
            approved = await self._approved(event_id, tool, call, args)
            if approved.args != args:
                call = replace(call, arguments=json.dumps(approved.args, ensure_ascii=False))
            remarks = "\n".join(approved.remarks)
            if self.gate and approved.answer:
                self.gate.allow(approved.answer)
            title = self._title_of(tool, approved.args, call)
            output = await self._run_or_cached(event_id, tool, approved, title)
        except ToolError as failure:
            error, output = failure, ToolOutput(text="", outputs=failure.outputs)
        except (asyncio.CancelledError, EndRun) as ending:
            output = replace(output, outputs=getattr(ending, "outputs", ()))
            waiting = event_id in self.approvals.unanswered
            cut = ToolError(f"Stopped before it {'was answered' if waiting else 'ended'}.", code="STOPPED")
            self.settle(charge)
            self._finish(event_id, self.clock.now() - started, output, cut)
            raise
        result = before_hooks = result_of(
            original, output.with_text(remarks), error.with_hint(remarks) if error else None
        )
        try:
            result, hook_error = await self._after_hooks(call, before_hooks)
            if result.code != before_hooks.code:  # a hook changed the outcome: show that on the card
                error = hook_error or ToolError(result.text, code=result.code) if result.code else None
                output = replace(output, text=result.text, summary="")
        finally:
            self.settle(charge)
            self._finish(event_id, self.clock.now() - started, output, error)
            if self.gate:
                original_tool = self.toolbox.get(original.name)
                self.gate.learn(original)
                result = self.gate.result(event_id, original_tool, result, error or output.schema, remarks)
            self.results[event_id] = result = self.versioned(original, result)
        return result

    async def _approved(self, event_id: str, tool: Tool, call: ToolCall, args: Json) -> ApprovedCall:
        title = self._title_of(tool, args, call)
        self.emit(ToolReady, call_id=event_id, title=title, args=args)
        return await self.approvals.check(tool, replace(call, id=event_id), args, title, self.context)

    def _title_of(self, tool: Tool, args: Json, call: ToolCall) -> str:
        files = self.context.files.files
        rewrites = tool.rewrite_title is not None and any(path in files for path in tool.writes(args))
        return title_of(tool, args, written=call.written, rewrites=rewrites)

    async def _run_or_cached(
        self, event_id: str, tool: Tool, approved: ApprovedCall, title: str
    ) -> ToolOutput:
        """Run the tool, or return the cached output if the tool allows caching."""
        args = approved.args
        key = self._cache_key(tool, args) if tool.cache else ""
        if key in self._cache:
            return self._cache[key]
        self.emit(ToolRunning, call_id=event_id, title=title)
        context = replace(
            self.context,
            call_id=event_id,
            progress=self._reporter(event_id),
            show=lambda bundle: self.emit(ToolProgress, call_id=event_id, output=bundle),
            charge=self._charges[event_id],
            hosts=self.approvals.allowed_hosts(tool),
            answer=approved.answer,
        )
        try:
            output = await self.toolbox.run(tool, args, context)
        except BranchError as error:
            raise EndRun("failed", str(error)) from None
        if tool.cache:
            self._cache[key] = output
        return output

    def _reporter(self, event_id: str) -> Callable[[str], None]:
        started, lines = self.clock.now(), 0

        def report(text: str) -> None:
            nonlocal lines
            if lines < PROGRESS_LINES * (1 + (self.clock.now() - started) / 10):
                lines += 1
                self.emit(ToolProgress, call_id=event_id, text=shortened(str(text), PROGRESS_LIMIT))

        return report

    def _cache_key(self, tool: Tool, args: Json) -> str:
        files = hash(tuple(self.context.files.files.items()))
        return f"{tool.name} {json.dumps(args, sort_keys=True)} {files}"

    async def _before_hooks(self, call: ToolCall) -> ToolCall:
        for hook in self.hooks.before_tool:
            new_call = await call_user_code("A hook", hook, call)
            call = replace(new_call, written=call.written) if isinstance(new_call, ToolCall) else call
        return call

    async def _after_hooks(self, call: ToolCall, result: ToolResult) -> tuple[ToolResult, ToolError | None]:
        """The result after all hooks, and the error of the last failed hook."""
        last_error = None
        for hook in self.hooks.after_tool:
            try:
                value = await call_user_code("A hook", hook, call, result)
                if isinstance(value, ToolResult) and not isinstance(value.text, str):
                    raise ToolError(f"A hook returned a {type(value.text).__name__} as the text of a result.")
            except ToolError as failure:
                last_error = failure
                value = replace(result, text=_error_json(failure), code=failure.code)
            if isinstance(value, ToolResult):  # vendors match results to calls by id and name
                text = await masked(value.text)
                result = replace(value, call_id=result.call_id, name=result.name, text=text)
        return result, last_error

    def _finish(self, event_id: str, seconds: float, output: ToolOutput, error: ToolError | None) -> None:
        seconds = max(0.0, seconds - self.approvals.take_seconds(event_id))
        summary = error.summary if error else output.summary or output.text
        self.emit(
            ToolFinished,
            call_id=event_id,
            ok=error is None,
            summary=one_line(summary),
            outputs=output.outputs,
            seconds=round(seconds, 3),
            code=error.code if error else None,
            hint=error.hint if error else "",
        )


def was_cut(turn: Turn, toolbox: Toolbox) -> bool:
    """Whether the model's output limit truncated the last call of the turn."""
    last_part = turn.message.parts[-1] if turn.message.parts else None
    if turn.stop != "max_tokens" or not isinstance(last_part, ToolCall):
        return False
    try:
        toolbox.prepare(last_part)
    except ToolError as error:
        return error.code in ("INVALID_JSON", "SCHEMA")
    return False


def title_of(tool: Tool, args: Json, *, written: bool = False, rewrites: bool = False) -> str:
    make = tool.rewrite_title if rewrites and tool.rewrite_title else tool.title
    try:
        title = make(args) or tool.name
    except Exception:  # the tool author's code; a title must not fail the call
        title = tool.name
    return f"{title} (a call written as text)" if written else title


def result_of(call: ToolCall, output: ToolOutput, error: ToolError | None) -> ToolResult:
    return ToolResult(
        call_id=call.id,
        name=call.name,
        text=_error_json(error) if error else output.text,
        images=output.images,
        code=error.code if error else None,
    )


def _error_json(error: ToolError) -> str:
    fields: Json = {"error": error.message, "code": error.code}
    if error.hint:
        fields["hint"] = error.hint
    return json.dumps(fields, ensure_ascii=False)


def one_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return shortened(line, SUMMARY_LIMIT)
