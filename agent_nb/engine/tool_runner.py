"""Runs the tool calls of one turn: together where they can, in order where they write the same file.

Every failure becomes a result for the model; only a stop ends the work.
"""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
from agent_nb.providers.base import Clock
from agent_nb.tools import Tool, Toolbox, ToolContext, ToolOutput

Policy = Literal["ask", "auto", "deny"] | Callable[[ToolCall, Json], bool | Awaitable[bool]]
Emit = Callable[..., Any]
BeforeTool = Callable[[ToolCall], Any]
AfterTool = Callable[[ToolCall, ToolResult], Any]

SUMMARY_LIMIT = 160


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person said to an approval card."""

    approved: bool
    note: str = ""


Ask = Callable[[ApprovalRequested], Awaitable[Answer]]


@dataclass(slots=True, kw_only=True)
class Hooks:
    """The caller's own code around each call; each may change what passes through it."""

    before: list[BeforeTool] = field(default_factory=list)
    after: list[AfterTool] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class ToolRunner:
    """Runs calls for one run."""

    toolbox: Toolbox
    context: ToolContext
    emit: Emit
    on_loop: Callable[[Callable[..., Any]], Callable[..., None]]
    """Makes a function that tools may call from their own threads."""
    clock: Clock
    policy: Policy
    hooks: Hooks
    ask: Ask | None = None
    """How to reach the person; None when nobody is there, and then the answer is no."""
    ended: dict[str, ToolResult] = field(default_factory=dict)
    """The result of each call that has ended, by its id in events: a stop loses none of them."""
    open_charge: Callable[[], Charge] = Charge
    settle: Callable[[str, Charge], None] = lambda call_id, charge: None
    """Called once with the charge of each call that has ended."""
    _cache: dict[str, ToolOutput] = field(default_factory=dict)
    _hosts: set[str] = field(default_factory=set)
    """Those that the person has allowed; they stay so for the run."""
    _asking_hosts: asyncio.Lock = field(default_factory=asyncio.Lock)
    _charges: dict[str, Charge] = field(default_factory=dict)

    async def run(self, calls: Sequence[tuple[str, ToolCall]]) -> tuple[ToolResult, ...]:
        """The results in call order; each call comes with the id it has in events."""
        last_writer: dict[str, asyncio.Task[ToolResult]] = {}
        tasks: list[asyncio.Task[ToolResult]] = []
        async with asyncio.TaskGroup() as group:
            for event_id, call in calls:
                paths = self._paths(call)
                earlier = [last_writer[path] for path in paths if path in last_writer]
                task = group.create_task(self._one(event_id, call, earlier))
                tasks.append(task)
                last_writer.update(dict.fromkeys(paths, task))
        return tuple(task.result() for task in tasks)

    def result(self, call: ToolCall, end: ToolFinished) -> ToolResult:
        """What the model is told of a call, when its turn was cut off: the whole result if it had ended."""
        cut_off = ToolResult(call_id=call.id, name=call.name, text=end.summary, code=end.code)
        return self.ended.get(end.call_id, cut_off)

    def _paths(self, call: ToolCall) -> tuple[str, ...]:
        try:
            tool, args = self.toolbox.prepare(call)
            return tool.writes(args)
        except Exception:  # a call that cannot be understood fails where it runs, and is told there
            return ()

    async def _one(
        self, event_id: str, asked: ToolCall, earlier: list[asyncio.Task[ToolResult]]
    ) -> ToolResult:
        if earlier:
            await asyncio.wait(earlier)
        started = self.clock.now()
        call, output, error = asked, ToolOutput(text=""), None
        charge = self._charges[event_id] = self.open_charge()
        try:
            call = await self._before(asked)
            output = await self._run(event_id, call)
        except ToolError as failure:
            error = failure
        except asyncio.CancelledError:
            cut = ToolError("Stopped before it ended.", code="STOPPED")
            self.settle(event_id, charge)
            self._finished(event_id, self.clock.now() - started, output, cut)
            raise
        told = result_of(asked, output, error)
        result, failed = await self._after(call, told)
        if result.code != told.code:  # a hook made a failure of it, or a success: the card says the same
            error = failed or ToolError(result.text, code=result.code) if result.code else None
            output = replace(output, text=result.text, summary="")
        self.settle(event_id, charge)
        self._finished(event_id, self.clock.now() - started, output, error)
        self.ended[event_id] = result
        return result

    async def _run(self, event_id: str, call: ToolCall) -> ToolOutput:
        tool, args = self.toolbox.prepare(call)
        title = title_of(tool, args)
        self.emit(ToolReady, call_id=event_id, title=title, args=args)
        word = await self._gate(tool, replace(call, id=event_id), args)
        return _with_word(await self._output(event_id, tool, args, title), word)

    async def _output(self, event_id: str, tool: Tool, args: Json, title: str) -> ToolOutput:
        key = (
            f"{tool.name} {json.dumps(args, sort_keys=True)} {hash(tuple(self.context.files.files.items()))}"
        )
        if tool.cache and key in self._cache:
            return self._cache[key]
        self.emit(ToolRunning, call_id=event_id, title=title)
        progress = self.on_loop(lambda text: self.emit(ToolProgress, call_id=event_id, text=str(text)))
        charge = self._charges[event_id]
        hosts = None if self.policy == "auto" else frozenset(self._hosts)
        context = replace(self.context, call_id=event_id, progress=progress, charge=charge, hosts=hosts)
        output = await self.toolbox.run(tool, args, context)
        if tool.cache:
            self._cache[key] = output
        return output

    async def _gate(self, tool: Tool, call: ToolCall, args: Json) -> str:
        """Passes, with the person's word to the model, or raises what the model is told."""
        word = ""
        if tool.approval == "ask":
            word = await self._permitted(call, args, tool.name, title_of(tool, args))
        hosts = await _guarded("Reading the addresses", tool.fetches, args, self.context)
        return "\n".join(filter(None, (word, await self._let_fetch(call, args, hosts) if hosts else "")))

    async def _let_fetch(self, call: ToolCall, args: Json, hosts: Mapping[str, int]) -> str:
        """Asks about the hosts that nobody has allowed yet."""
        async with self._asking_hosts:  # calls of one turn that want the same host ask once
            new = {host: count for host, count in hosts.items() if host not in self._hosts}
            if not new:
                return ""
            names = ", ".join(new)
            try:
                # "Always allow" goes by the name: it is for these hosts, not for every call of the tool.
                word = await self._permitted(call, args, f"{call.name} from {names}", _fetch_title(new))
            except ToolError as denied:
                reason = f"Nothing was fetched from {names}: {denied.message}"
                hint = (
                    f"{denied.hint} Use files of this run, images that the person gave, or data: addresses."
                )
                raise ToolError(reason, code=denied.code, hint=hint.strip()) from None
            self._hosts.update(new)
            return word

    async def _permitted(self, call: ToolCall, args: Json, name: str, title: str) -> str:
        """The person's word to the model; raises what the model is told where the answer is no."""
        if self.policy == "auto":
            return ""
        if self.policy == "deny":
            raise ToolError(
                "This tool is switched off for this run.", code="DENIED", hint="Go on without it."
            )
        if callable(self.policy):
            if not await _guarded("The approval function", self.policy, call, args):
                raise ToolError("It was not approved.", code="DENIED", hint="Go on without it.")
            return ""
        if self.ask is None:
            raise nobody_to_ask()
        request = self.emit(ApprovalRequested, call_id=call.id, name=name, title=title, args=args)
        answer: Answer = Answer(False)  # when the run ends, or the question fails, before there is one
        try:
            answer = await _guarded("Asking the person", self.ask, request)
        finally:
            self.emit(ApprovalResolved, call_id=call.id, approved=answer.approved, note=answer.note)
        if not answer.approved:
            raise ToolError("The person said no.", code="DENIED", hint=answer.note or "Go on without it.")
        return answer.note

    async def _before(self, call: ToolCall) -> ToolCall:
        for hook in self.hooks.before:
            changed = await _guarded("A hook", hook, call)
            call = changed if isinstance(changed, ToolCall) else call
        return call

    async def _after(self, call: ToolCall, result: ToolResult) -> tuple[ToolResult, ToolError | None]:
        """The result as the hooks leave it, and the failure of the last one that failed."""
        failed = None
        for hook in self.hooks.after:
            try:
                changed = await _guarded("A hook", hook, call, result)
                if isinstance(changed, ToolResult) and not isinstance(changed.text, str):
                    raise ToolError(f"A hook gave a {type(changed.text).__name__} as the text of a result.")
            except ToolError as failure:
                failed = failure
                changed = replace(result, text=_for_the_model(failure), code=failure.code)
            if isinstance(changed, ToolResult):  # vendors find the call by its id and name
                result = replace(changed, call_id=result.call_id, name=result.name)
        return result, failed

    def _finished(self, event_id: str, seconds: float, output: ToolOutput, error: ToolError | None) -> None:
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


def title_of(tool: Tool, args: Json) -> str:
    """The tool's words for its card; its name where they cannot be had."""
    try:
        return tool.title(args) or tool.name
    except Exception:  # a title is the tool author's code, and never worth a run
        return tool.name


def _fetch_title(hosts: Mapping[str, int]) -> str:
    """`fetch 2 images from a.example`, `fetch 3 images: 2 from a.example, 1 from b.example`"""
    total = sum(hosts.values())
    images = "an image" if total == 1 else f"{total} images"
    if len(hosts) == 1:
        return f"fetch {images} from {next(iter(hosts))}"
    return f"fetch {images}: " + ", ".join(f"{count} from {host}" for host, count in hosts.items())


def result_of(call: ToolCall, output: ToolOutput, error: ToolError | None) -> ToolResult:
    """What the model is told."""
    return ToolResult(
        call_id=call.id,
        name=call.name,
        text=_for_the_model(error) if error else output.text,
        images=output.images,
        code=error.code if error else None,
    )


async def _guarded(title: str, function: Callable[..., Any], *args: Any) -> Any:
    """Calls the caller's code, sync or async; what it raises is told to the model like a tool's failure."""
    try:
        result = function(*args)
        return await result if inspect.isawaitable(result) else result
    except ToolError:
        raise
    except Exception as error:
        raise ToolError(f"{title} failed: {type(error).__name__}: {error}") from error


def nobody_to_ask() -> ToolError:
    """For a question that no person sees; its card tells the developer what would allow it."""
    return ToolError(
        "It needs the person's approval, and nobody is there to ask."
        ' `approve="auto"` or a function allows it; in a cell, `--approve auto`.',
        code="DENIED",
        hint="Go on without it.",
    )


def _with_word(output: ToolOutput, word: str) -> ToolOutput:
    """With what the person said to the model when approving; the card shows it by itself."""
    if not word:
        return output
    told = "\n\n".join(filter(None, (output.text, f"The person approved this and says: {word}")))
    return replace(output, text=told, summary=output.summary or output.text)


def _for_the_model(error: ToolError) -> str:
    told: Json = {"error": error.message, "code": error.code}
    if error.hint:
        told["hint"] = error.hint
    return json.dumps(told, ensure_ascii=False)


def one_line(text: str) -> str:
    """The first line of a text, shortened for a card."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= SUMMARY_LIMIT else line[: SUMMARY_LIMIT - 1] + "…"
