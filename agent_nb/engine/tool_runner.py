"""Runs the tool calls of a turn: concurrently, except that calls that write the same file keep their order.

Every failure becomes a result for the model; only stopping the run ends the work.
"""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent_nb._base.wire import Json
from agent_nb.errors import ToolError
from agent_nb.events import (
    ApprovalRequested,
    ApprovalResolved,
    ToolFinished,
    ToolProgress,
    ToolReady,
    ToolRunning,
)
from agent_nb.images.charge import Charge
from agent_nb.messages import ToolCall, ToolResult
from agent_nb.prompts import CUT_CALL, CUT_CALL_HINT
from agent_nb.providers.base import Clock, Turn
from agent_nb.tools import Tool, Toolbox, ToolContext, ToolOutput

Policy = Literal["ask", "auto", "deny"] | Callable[[ToolCall, Json], bool | Awaitable[bool]]
Emit = Callable[..., Any]
BeforeTool = Callable[[ToolCall], Any]
AfterTool = Callable[[ToolCall, ToolResult], Any]

SUMMARY_LIMIT = 160


@dataclass(frozen=True, slots=True)
class Answer:
    """The user's answer to an approval request."""

    approved: bool
    note: str = ""


Ask = Callable[[ApprovalRequested], Awaitable[Answer]]


@dataclass(slots=True, kw_only=True)
class Hooks:
    """Functions called before and after each tool call; they may change the call or its result."""

    before: list[BeforeTool] = field(default_factory=list)
    after: list[AfterTool] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """Hosts that the user has allowed for the rest of the run, in all its variants."""

    names: set[str] = field(default_factory=set)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the user is asked, so that nobody else asks about the same host."""


@dataclass(slots=True, kw_only=True)
class ToolRunner:
    """Runs the tool calls of one run."""

    toolbox: Toolbox
    context: ToolContext
    emit: Emit
    on_loop: Callable[[Callable[..., Any]], Callable[..., None]]
    """Wraps a function so that tools may call it from any thread."""
    clock: Clock
    policy: Policy
    hooks: Hooks
    ask: Ask | None = None
    """Asks the user for approval; None if there is nobody to ask, which counts as no."""
    hold: Callable[[], AbstractContextManager[None]] = nullcontext
    """Stops the run's clock while the user is asked."""
    hosts: AllowedHosts = field(default_factory=AllowedHosts)
    results: dict[str, ToolResult] = field(default_factory=dict)
    """Results of finished calls by call id, so that stopping the run loses none of them."""
    open_charge: Callable[[], Charge] = Charge
    settle: Callable[[str, Charge], None] = lambda call_id, charge: None
    """Called with the charge of each call when it has ended."""
    cut: str | None = None
    """The call that the model's output limit cut off, by its id in events."""
    _cache: dict[str, ToolOutput] = field(default_factory=dict)
    _charges: dict[str, Charge] = field(default_factory=dict)
    _asked: dict[str, float] = field(default_factory=dict)
    """Seconds that the user took to answer, by call id."""

    async def run(self, calls: Sequence[tuple[str, ToolCall]]) -> tuple[ToolResult, ...]:
        """Runs the calls, given with the ids they have in events; returns their results in the same order."""
        last_writer: dict[str, asyncio.Task[ToolResult]] = {}
        tasks: list[asyncio.Task[ToolResult]] = []
        async with asyncio.TaskGroup() as group:
            for event_id, call in calls:
                tool, paths = self._paths(call)
                waits_for = last_writer if tool and tool.after_writes else paths
                earlier = [last_writer[path] for path in waits_for if path in last_writer]
                task = group.create_task(self._run_call(event_id, call, earlier))
                tasks.append(task)
                last_writer.update(dict.fromkeys(paths, task))
        return tuple(task.result() for task in tasks)

    def result(self, call: ToolCall, end: ToolFinished) -> ToolResult:
        """The result of a call of a turn that was cut off: its own if it had finished."""
        unfinished = ToolResult(call_id=call.id, name=call.name, text=end.summary, code=end.code)
        return self.results.get(end.call_id, unfinished)

    def versioned(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """The result with the versions that the files of the call have now."""
        files, paths = self.context.files.files, self.toolbox.files_of(call) if result.ok else ()
        return replace(result, versions={path: files.version(path) for path in paths if path in files})

    def prepare(self, event_id: str, call: ToolCall) -> tuple[Tool, Json]:
        """The tool and its arguments; raises `ToolError` if the call is invalid or was cut off."""
        if event_id == self.cut:
            raise ToolError(CUT_CALL, code="INVALID_JSON", hint=CUT_CALL_HINT)
        return self.toolbox.prepare(call)

    def _paths(self, call: ToolCall) -> tuple[Tool | None, tuple[str, ...]]:
        """The tool of a call, and the paths that it writes."""
        try:
            tool, args = self.toolbox.prepare(call)
            return tool, tool.writes(args)
        except Exception:  # an invalid call is reported when it is run
            return None, ()

    async def _run_call(
        self, event_id: str, original: ToolCall, earlier: list[asyncio.Task[ToolResult]]
    ) -> ToolResult:
        if earlier:
            await asyncio.wait(earlier)
        started = self.clock.now()
        call, output, error = original, ToolOutput(text=""), None
        charge = self._charges[event_id] = self.open_charge()
        try:
            call = await self._before(original)
            output = await self._run_approved(event_id, call)
        except ToolError as failure:
            error = failure
        except asyncio.CancelledError:
            cut = ToolError("Stopped before it ended.", code="STOPPED")
            self.settle(event_id, charge)
            self._finished(event_id, self.clock.now() - started, output, cut)
            raise
        before_hooks = result_of(original, output, error)
        result, failed = await self._after(call, before_hooks)
        if result.code != before_hooks.code:  # a hook changed the outcome: show it on the card
            error = failed or ToolError(result.text, code=result.code) if result.code else None
            output = replace(output, text=result.text, summary="")
        self.settle(event_id, charge)
        self._finished(event_id, self.clock.now() - started, output, error)
        self.results[event_id] = result = self.versioned(original, result)
        return result

    async def _run_approved(self, event_id: str, call: ToolCall) -> ToolOutput:
        tool, args = self.prepare(event_id, call)
        title = title_of(tool, args)
        self.emit(ToolReady, call_id=event_id, title=title, args=args)
        note = await self._check_approval(tool, replace(call, id=event_id), args)
        return _with_note(await self._output(event_id, tool, args, title), note)

    async def _output(self, event_id: str, tool: Tool, args: Json, title: str) -> ToolOutput:
        key = (
            f"{tool.name} {json.dumps(args, sort_keys=True)} {hash(tuple(self.context.files.files.items()))}"
        )
        if tool.cache and key in self._cache:
            return self._cache[key]
        self.emit(ToolRunning, call_id=event_id, title=title)
        progress = self.on_loop(lambda text: self.emit(ToolProgress, call_id=event_id, text=str(text)))
        charge = self._charges[event_id]
        hosts = None if self.policy == "auto" else frozenset(self.hosts.names)
        context = replace(self.context, call_id=event_id, progress=progress, charge=charge, hosts=hosts)
        output = await self.toolbox.run(tool, args, context)
        if tool.cache:
            self._cache[key] = output
        return output

    async def _check_approval(self, tool: Tool, call: ToolCall, args: Json) -> str:
        """The user's note to the model, if any; raises `ToolError` if the call is denied."""
        note = ""
        if tool.approval == "ask":
            note = await self._approve(call, args, tool.name, title_of(tool, args))
        hosts = await _call_own_code("Reading the addresses", tool.fetches, args, self.context)
        return "\n".join(filter(None, (note, await self._approve_hosts(call, args, hosts) if hosts else "")))

    async def _approve_hosts(self, call: ToolCall, args: Json, hosts: Mapping[str, int]) -> str:
        """Asks about the hosts that have not been allowed yet."""
        with self.hold():  # another variant may be waiting for the answer
            await self.hosts.asking.acquire()
        try:
            new = {host: count for host, count in hosts.items() if host not in self.hosts.names}
            return await self._ask_about_hosts(call, args, new) if new else ""
        finally:
            self.hosts.asking.release()

    async def _ask_about_hosts(self, call: ToolCall, args: Json, new: Mapping[str, int]) -> str:
        names = ", ".join(new)
        try:
            # "Always allow" goes by the name, so that it covers these hosts and not every call of the tool.
            note = await self._approve(call, args, f"{call.name} from {names}", _fetch_title(new))
        except ToolError as denied:
            reason = f"Nothing was fetched from {names}: {denied.message}"
            hint = f"{denied.hint} Use files of this run, images that the person gave, or data: addresses."
            raise ToolError(reason, code=denied.code, hint=hint.strip()) from None
        self.hosts.names.update(new)
        return note

    async def _approve(self, call: ToolCall, args: Json, name: str, title: str) -> str:
        """Applies the approval policy: the user's note to the model, or a `ToolError` if the answer is no."""
        if self.policy == "auto":
            return ""
        if self.policy == "deny":
            raise ToolError(
                "This tool is switched off for this run.", code="DENIED", hint="Go on without it."
            )
        if callable(self.policy):
            if not await _call_own_code("The approval function", self.policy, call, args):
                raise ToolError("It was not approved.", code="DENIED", hint="Go on without it.")
            return ""
        if self.ask is None:
            raise nobody_to_ask()
        tool = self.toolbox.get(name)
        description = tool.spec.description if tool else ""
        request = self.emit(
            ApprovalRequested, call_id=call.id, name=name, title=title, args=args, description=description
        )
        answer: Answer = Answer(False)  # in case the run ends, or asking fails, before there is one
        since = self.clock.now()
        try:
            with self.hold():
                answer = await _call_own_code("Asking the person", self.ask, request)
        finally:
            self._asked[call.id] = self._asked.get(call.id, 0.0) + self.clock.now() - since
            self.emit(ApprovalResolved, call_id=call.id, approved=answer.approved, note=answer.note)
        if not answer.approved:
            raise ToolError("The person said no.", code="DENIED", hint=answer.note or "Go on without it.")
        return answer.note

    async def _before(self, call: ToolCall) -> ToolCall:
        for hook in self.hooks.before:
            changed = await _call_own_code("A hook", hook, call)
            call = changed if isinstance(changed, ToolCall) else call
        return call

    async def _after(self, call: ToolCall, result: ToolResult) -> tuple[ToolResult, ToolError | None]:
        """The result after all hooks, and the error of the last hook that failed."""
        failed = None
        for hook in self.hooks.after:
            try:
                changed = await _call_own_code("A hook", hook, call, result)
                if isinstance(changed, ToolResult) and not isinstance(changed.text, str):
                    raise ToolError(f"A hook gave a {type(changed.text).__name__} as the text of a result.")
            except ToolError as failure:
                failed = failure
                changed = replace(result, text=_error_json(failure), code=failure.code)
            if isinstance(changed, ToolResult):  # vendors match results to calls by id and name
                result = replace(changed, call_id=result.call_id, name=result.name)
        return result, failed

    def _finished(self, event_id: str, seconds: float, output: ToolOutput, error: ToolError | None) -> None:
        seconds = max(0.0, seconds - self._asked.pop(event_id, 0.0))
        summary = error.message if error else output.summary or output.text
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
    """Whether the model's output limit cut off a call, with which the turn ends."""
    last = turn.message.parts[-1] if turn.message.parts else None
    if turn.stop != "max_tokens" or not isinstance(last, ToolCall):
        return False
    try:
        toolbox.prepare(last)
    except ToolError as error:
        return error.code in ("INVALID_JSON", "SCHEMA")
    return False


def title_of(tool: Tool, args: Json) -> str:
    """The title of a call's card; the tool's name if it gives none."""
    try:
        return tool.title(args) or tool.name
    except Exception:  # the tool author's code; a title must not fail the call
        return tool.name


def _fetch_title(hosts: Mapping[str, int]) -> str:
    """`fetch 2 images from a.example`, `fetch 3 images: 2 from a.example, 1 from b.example`"""
    total = sum(hosts.values())
    images = "an image" if total == 1 else f"{total} images"
    if len(hosts) == 1:
        return f"fetch {images} from {next(iter(hosts))}"
    return f"fetch {images}: " + ", ".join(f"{count} from {host}" for host, count in hosts.items())


def result_of(call: ToolCall, output: ToolOutput, error: ToolError | None) -> ToolResult:
    """The result that the model gets."""
    return ToolResult(
        call_id=call.id,
        name=call.name,
        text=_error_json(error) if error else output.text,
        images=output.images,
        code=error.code if error else None,
    )


async def _call_own_code(title: str, function: Callable[..., Any], *args: Any) -> Any:
    """Calls a hook, a policy or a tool's own function, sync or async. Its exceptions become tool errors."""
    try:
        result = function(*args)
        return await result if inspect.isawaitable(result) else result
    except ToolError:
        raise
    except Exception as error:
        raise ToolError(f"{title} failed: {type(error).__name__}: {error}") from error


def nobody_to_ask() -> ToolError:
    """The error of a call that needs approval when there is nobody to ask. It names the remedy."""
    return ToolError(
        "It needs the person's approval, and nobody is there to ask."
        ' `approve="auto"` or a function allows it; in a cell, `--approve auto`.',
        code="DENIED",
        hint="Go on without it.",
    )


def _with_note(output: ToolOutput, note: str) -> ToolOutput:
    """Adds the user's note to what the model gets; the card already shows it."""
    if not note:
        return output
    text = "\n\n".join(filter(None, (output.text, f"The person approved this and says: {note}")))
    return replace(output, text=text, summary=output.summary or output.text)


def _error_json(error: ToolError) -> str:
    fields: Json = {"error": error.message, "code": error.code}
    if error.hint:
        fields["hint"] = error.hint
    return json.dumps(fields, ensure_ascii=False)


def one_line(text: str) -> str:
    """The first line of a text, shortened for a card."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= SUMMARY_LIMIT else line[: SUMMARY_LIMIT - 1] + "…"
