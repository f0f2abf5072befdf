"""The toolbox of an agent: looks up, validates and runs the model's tool calls."""

import asyncio
import contextlib
import copyreg
import inspect
import json
import math
import re
import sys
import threading
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

from agent_nb._base.late import SECRET_SOURCES
from agent_nb._base.log import log
from agent_nb._base.secrets import beginning, during_call, for_model, mask, mask_values
from agent_nb._base.text import whole_text
from agent_nb._base.threads import in_thread, off_loop
from agent_nb._base.wire import Json
from agent_nb.core.errors import AgentError, BranchError, ConfigError, ToolError, error_text
from agent_nb.core.events import Change, MimeBundle
from agent_nb.core.messages import ToolCall, ToolSpec
from agent_nb.files import MAX_TEXT_BYTES, Content, Files, Workspace
from agent_nb.tools.base import Tool, ToolContext, ToolOutput
from agent_nb.tools.file_tools import FILE_TOOLS
from agent_nb.tools.function import checked, reduce_tool, spec_of_types
from agent_nb.tools.function import tool as tool_from
from agent_nb.tools.image_tools import IMAGE_TOOLS
from agent_nb.tools.preview_tools import PREVIEW_TOOLS
from agent_nb.tools.schema import compile_schema, without_nulls
from agent_nb.tools.variant_tools import VARIANT_TOOLS

MAX_TEXT = 50_000
MAX_ERROR = 2_000
MAX_ARGUMENTS, MAX_FILE_ARGUMENTS = 1_000_000, 4 * MAX_TEXT_BYTES
"""Characters of a call's arguments, and of a call that writes files."""
IN_BRANCH = (
    "It works in a branch, a copy of the notebook made for this run: the variables of the notebook stay unchanged. What"
    " it does to files and over the network is real."
)

FAMILIES: dict[str, tuple[Tool, ...]] = {
    "files": FILE_TOOLS,
    "images": IMAGE_TOOLS,
    "variants": VARIANT_TOOLS,
    "preview": PREVIEW_TOOLS,
}
"""The built-in tools, which are the default of an agent."""
_BUILT_IN = tuple(tool for family in FAMILIES.values() for tool in family)
BUILT_IN_NAMES = frozenset(tool.name for tool in _BUILT_IN)

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_lock = threading.Lock()
_calls: list[object] = []
T = TypeVar("T")
CLEANUP_SECONDS = 2.0
"""Seconds that a cancelled tool has to clean up before it is abandoned. A thread cannot be cancelled."""
_abandoned: set["asyncio.Future[Any]"] = set()
"""Abandoned calls that still run; the event loop keeps only weak references to tasks."""


class Toolbox:
    """Tools by name, in a stable order. Annotated functions are converted to tools."""

    def __init__(self, tools: Iterable[Tool | Callable[..., Any]] = ()) -> None:
        self._is_default = self._is_lean = self._sends_types = False
        self._tools: dict[str, Tool] = {}
        self._validators: dict[str, Callable[[Any], None]] = {}
        for item in tools:
            tool = item if isinstance(item, Tool) else tool_from(item)
            if not _NAME.fullmatch(tool.name):
                raise ConfigError(
                    f"{tool.name!r} is not a valid tool name: use at most 64 letters, digits, '_' and '-', as in"
                    " `@tool(name='get_weather')`."
                )
            if tool.name in self._tools:
                raise ConfigError(f"Two tools are named {tool.name!r}: rename one with `@tool(name=...)`.")
            self._tools[tool.name] = tool

    @classmethod
    def default(cls, more: Iterable[Tool | Callable[..., Any]] = ()) -> "Toolbox":
        """The built-in tools and these. A run offers a built-in tool only if its requirements are met."""
        box = cls([*_BUILT_IN, *more])
        box._is_default = True
        return box

    def offered(self, available: Collection[str], *, lean: bool = False) -> "Toolbox":
        """Return the tools for a run. A default toolbox leaves out those that the run or a lean request cannot use."""
        if not self._is_default and not lean:
            return self
        left_out = set()
        if self._is_default:
            own = {tool.name for tool in self.own}
            left_out = {tool.name for tool in self if not tool.needs <= set(available)}
            spare = [tool for tool in self if tool.lean is None and not tool.needs and tool.name not in own]
            left_out |= {tool.name for tool in spare} if lean else set()
        box = Toolbox(tool for tool in self if tool.name not in left_out)
        box._is_lean = lean
        return box

    def without(self, names: Collection[str]) -> "Toolbox":
        return self._with(tool for tool in self if tool.name not in names)

    def plus(self, *tools: Tool) -> "Toolbox":
        return self._with((*self, *tools))

    def replacing(self, tool: Tool) -> "Toolbox":
        """Return a toolbox with this tool in place of the one of its name."""
        return self._with(tool if each.name == tool.name else each for each in self)

    def _with(self, tools: Iterable[Tool]) -> "Toolbox":
        box = Toolbox(tools)
        box._is_default, box._is_lean, box._sends_types = self._is_default, self._is_lean, self._sends_types
        return box

    def in_branch(self) -> "Toolbox":
        """Return a toolbox whose kernel tools work in the branch of the run."""
        return self._with(_in_branch(tool) if tool.branches else tool for tool in self)

    def without_values(self) -> "Toolbox":
        """Return a toolbox whose custom tools are described to the model only by names, types and docstrings."""
        box = self._with(self)
        box._sends_types = True
        return box

    @property
    def own(self) -> tuple[Tool, ...]:
        built_in = {tool.name: tool for tool in _BUILT_IN}
        return tuple(tool for tool in self if built_in.get(tool.name) is not tool)

    @property
    def chosen(self) -> list[str]:
        """Names of the selected tools. The built-in tools of a default toolbox count as one, `built-in`."""
        if not self._is_default:
            return list(self._tools)
        return ["built-in", *(tool.name for tool in self.own)]

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The specs sent to the model. "(asks first)" marks tools that need the user's approval."""
        own = {tool.name for tool in self.own if not (tool.packaged or tool.origin)}
        types = own if self._sends_types else set()
        return tuple(_spec_for_model(tool, lean=self._is_lean, types=tool.name in types) for tool in self)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"Toolbox({', '.join(self._tools)})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_validators": {}}  # compiled functions, rebuilt on demand

    def prepare(self, call: ToolCall) -> tuple[Tool, Json]:
        """Return the tool and its validated arguments; raises a ToolError that helps the model correct the call."""
        tool = self.get(call.name)
        if tool is None:
            hint = (
                f"Tools: {', '.join(self._tools)}." if self._tools else "There are no tools: answer in text."
            )
            raise ToolError(f"There is no tool `{call.name[:80]}`.", code="UNKNOWN_TOOL", hint=hint)
        most = MAX_FILE_ARGUMENTS if tool.content_arguments else MAX_ARGUMENTS
        if len(call.arguments) > most:
            raise ToolError(
                f"The arguments have more than {most:,} characters.", hint="Send less, or in parts."
            )
        return tool, self.valid(tool, _parse(call.arguments))

    def valid(self, tool: Tool, args: Json) -> Json:
        """Return the arguments without needless nulls; raises a ToolError if they violate the tool's schema."""
        schema = tool.spec.schema
        if tool.name not in self._validators:
            self._validators[tool.name] = compile_schema(schema)
        args = without_nulls(schema, args)
        self._validators[tool.name](args)
        return args

    def files_of(self, call: ToolCall) -> tuple[str, ...]:
        """Return the paths that a call reads or writes; empty if the call is invalid."""
        try:
            tool, args = self.prepare(call)
            return tool.reads(args) if tool.reads else tool.writes(args)
        except Exception:  # the tool author's code failed, or the call is invalid
            return ()

    async def run(self, tool: Tool, args: Json, context: ToolContext) -> ToolOutput:
        """Run the tool and return its validated, masked, truncated output. Every failure is a ToolError."""
        with during_call():
            try:
                # run_python captures what is printed
                with contextlib.nullcontext() if tool.packaged else masked_output():
                    output = await _run(tool, args, context)
            except ToolError as error:
                texts = (error.message, error.hint)
                error.message, error.hint = [await sendable(text, keys=tool.packaged) for text in texts]
                raise
            return replace(output, text=await sendable(output.text, keys=tool.packaged))


async def sendable(text: str, *, keys: bool = True) -> str:
    """Mask and truncate a text for the model."""
    text = whole_text(await masked(text, keys=keys))
    if len(text) <= MAX_TEXT:
        return text
    return f"{beginning(text, MAX_TEXT)}\n[{len(text) - MAX_TEXT:,} of {len(text):,} characters omitted]"


async def masked(text: str, *, keys: bool = False) -> str:
    """Mask the secret values of the user's variables, and all `keys` in a text of the notebook."""
    change = for_model if keys else mask_values
    if not SECRET_SOURCES or not text:
        return change(text)
    work = asyncio.ensure_future(off_loop(change, text))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        # The tool has ended, so its result is kept. The task is cancelled again at its next step.
        task: Any = asyncio.current_task()
        task.uncancel()
        text = await work
        task.cancel()
        return text


async def _run(tool: Tool, args: Json, context: ToolContext) -> ToolOutput:
    try:
        return checked(tool.name, await invoke(tool, args, context))
    except (ToolError, BranchError):
        raise
    except AgentError as error:  # its message is for users, and names the remedy
        raise ToolError(str(error)) from error
    except Exception as error:
        log.debug("tool %s failed", tool.name, exc_info=True)
        raise ToolError(beginning(error_text(error), MAX_ERROR)) from error


def _in_branch(tool: Tool) -> Tool:
    async def run(args: Json, context: ToolContext) -> ToolOutput:
        if context.branch is None:
            raise BranchError("The run has no branch.")
        return await context.branch.call(tool.name, args, context)

    spec = tool.spec
    if tool.approval == "ask":  # the card that asks shows the first paragraph
        first, _, more = spec.description.partition("\n\n")
        spec = replace(spec, description="\n\n".join(filter(None, (f"{first} {IN_BRANCH}", more))))
    return replace(tool, spec=spec, run=run, title=lambda args: f"{tool.title(args)} (in a branch)")


def _reduce(tool: Tool) -> Any:
    if any(tool is built_in for built_in in _BUILT_IN):
        return _built_in_tool, (tool.name,)
    return reduce_tool(tool)


def _built_in_tool(name: str) -> Tool:
    return next(tool for tool in _BUILT_IN if tool.name == name)


copyreg.pickle(Tool, _reduce)


def _parse(arguments: str) -> Json:
    try:
        args = json.loads(arguments, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        excerpt = arguments[max(0, error.pos - 30) : error.pos + 30]
        raise _invalid(f"{error.msg} at character {error.pos}, near {excerpt!r}") from None
    except RecursionError:  # its message differs between Python versions
        raise _invalid("they are nested too deeply") from None
    except ValueError as error:
        raise _invalid(str(error)) from None
    if not isinstance(args, dict):
        raise _invalid(f"they are {json.dumps(args)[:40]}, not an object")
    return args


def _invalid(why: str) -> ToolError:
    return ToolError(
        f"The arguments are not valid JSON: {why}.",
        code="INVALID_JSON",
        hint="Send one JSON object, with quotes, backslashes and newlines in strings escaped.",
    )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _finite(number: str) -> float:
    return float(number) if math.isfinite(float(number)) else _refuse_constant(number[:40])


def _spec_for_model(tool: Tool, *, lean: bool, types: bool) -> ToolSpec:
    spec = _lean_spec(tool.spec, tool.lean) if lean and tool.lean is not None else tool.spec
    spec = spec_of_types(tool) if types else spec
    if tool.approval == "never":
        return spec
    return replace(spec, description=f"{spec.description.rstrip()} (asks first)")


def _lean_spec(spec: ToolSpec, names: Sequence[str]) -> ToolSpec:
    properties = spec.schema["properties"]
    required = [name for name in spec.schema.get("required", ()) if name in names]
    schema = {
        "type": "object",
        "properties": {name: {"type": properties[name]["type"]} for name in names},
        "required": required,
    }
    return replace(spec, schema=schema)


class _MaskedStream:
    """A standard stream whose `write` masks secrets."""

    def __init__(self, stream: Any) -> None:
        self._own, self._write = vars(stream), stream.write
        self._before = self._own.get("write")
        self._own["write"] = self._masked_write

    def unhook(self) -> None:
        """Remove the hook, unless another was installed on top; then it stays and keeps masking."""
        if self._own.get("write") == self._masked_write:
            del self._own["write"]
            if self._before is not None:
                self._own["write"] = self._before

    def _masked_write(self, text: Any) -> Any:
        if not isinstance(text, str):
            return self._write(text)
        self._write(mask(text))
        return len(text)


_streams: list[_MaskedStream] = []


@contextlib.contextmanager
def masked_output() -> Iterator[None]:
    """Mask secrets in stdout and stderr during a tool call. Concurrent calls share the hooks."""
    call = object()
    with _lock:
        if not _calls:
            _streams[:] = [
                _MaskedStream(stream) for stream in (sys.stdout, sys.stderr) if hasattr(stream, "__dict__")
            ]
        _calls.append(call)
    try:
        yield
    finally:
        with _lock:
            _calls.remove(call)
            for stream in [] if _calls else _streams:
                stream.unhook()


class CallCancelled(asyncio.CancelledError):
    """The call was cancelled. A tool that raises a `ToolError` on cancellation can leave outputs for its card."""

    def __init__(self, outputs: tuple[MimeBundle, ...]) -> None:
        super().__init__()
        self.outputs = outputs


async def invoke(tool: Tool, args: Json, context: ToolContext) -> Any:
    """Call the tool's `run` and return its result or raise its error; raises a ToolError after its timeout."""
    scope = _CallScope(context)
    work = asyncio.create_task(_work(tool, args, scope.context))
    try:
        await asyncio.wait({work}, timeout=tool.timeout)
        if not work.done():
            raise ToolError(
                f"`{tool.name}` did not finish within {tool.timeout:g} seconds.",
                code="TIMEOUT",
                hint="Ask it for less.",
            )
        if work.cancelled():
            raise ToolError(f"`{tool.name}` cancelled itself.")
        return work.result()
    except asyncio.CancelledError:
        scope.closed = True
        _abandon(work)
        await asyncio.wait({work}, timeout=CLEANUP_SECONDS)
        failure = work.exception() if work.done() and not work.cancelled() else None
        raise CallCancelled(failure.outputs if isinstance(failure, ToolError) else ()) from None
    finally:
        scope.closed = True
        if not work.done():
            _abandon(work)


async def _work(tool: Tool, args: Json, context: ToolContext) -> Any:
    try:
        if inspect.iscoroutinefunction(tool.run):
            return await tool.run(args, context)
        result = await in_thread(lambda: tool.run(args, context))
        return await result if isinstance(result, Awaitable) else result
    except (Exception, asyncio.CancelledError):
        raise
    except SystemExit as error:
        raise RuntimeError(f"the tool tried to exit with {error.code!r}") from None
    except BaseException as error:  # KeyboardInterrupt would end the event loop, and with it the kernel
        raise RuntimeError(f"the tool raised {error!r}") from None


def _abandon(work: "asyncio.Future[Any]") -> None:
    def forget(task: "asyncio.Future[Any]") -> None:
        _abandoned.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it

    _abandoned.add(work)
    work.add_done_callback(forget)
    work.cancel()


class _CallScope:
    """The context of one call: usable from any thread until the call ends."""

    def __init__(self, context: ToolContext) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.closed = False
        files = _CallFiles(context.files, self, context.call_id)
        progress, show = self._reporting(context.progress), self._reporting(context.show)
        self.context = replace(context, files=files, progress=progress, show=show)

    def on_loop(self, function: Callable[[], T]) -> T:
        """Run the function on the loop's thread, so that changes are emitted in order."""
        if threading.get_ident() == self._thread:
            return self._run_open(function)

        async def answer() -> T:
            return self._run_open(function)

        return asyncio.run_coroutine_threadsafe(answer(), self._loop).result()

    def _run_open(self, function: Callable[[], T]) -> T:
        if self.closed:
            raise ToolError("This call has ended and can no longer change files.")
        return function()

    def _reporting(self, function: Callable[[T], None]) -> Callable[[T], None]:
        """Wrap the function for use from any thread. It is a no-op once the call has ended."""

        def report(value: T) -> None:
            if not self.closed:
                function(value)

        def from_any_thread(value: T) -> None:
            if threading.get_ident() == self._thread:
                report(value)
            else:
                self._loop.call_soon_threadsafe(report, value)

        return from_any_thread


class _CallFiles(Workspace):
    """The run's workspace for one call; its changes carry the call's id."""

    def __init__(self, workspace: Workspace, scope: _CallScope, call_id: str | None) -> None:
        self._workspace, self._scope, self._call_id = workspace, scope, call_id

    @property
    def files(self) -> Files:
        return self._workspace.files

    def write(self, path: str, content: Content, call_id: str | None = None) -> Change:
        return self._scope.on_loop(lambda: self._workspace.write(path, content, call_id or self._call_id))

    def delete(self, path: str, call_id: str | None = None) -> Change:
        return self._scope.on_loop(lambda: self._workspace.delete(path, call_id or self._call_id))
