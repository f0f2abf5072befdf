"""Runs code in the user's namespace, on the event loop of the kernel, with its output captured.

It uses IPython's transformers, so that magics and `!` work, but none of its cell machinery: no history, no `Out`, no
events for a cell, and no error on the cell in which the agent runs.
"""

import _thread
import ast
import asyncio
import builtins
import contextlib
import ctypes
import getpass
import importlib
import inspect
import itertools
import linecache
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FrameType
from typing import Any, NoReturn, Self

from agent_nb._base.program import own_processes
from agent_nb._base.text import sha256
from agent_nb._base.threads import start_thread
from agent_nb.core.events import MimeBundle
from agent_nb.files import Workspace
from agent_nb.files.contents import content_of
from agent_nb.notebook.kernel_tools.capture import Capture, capturing, replaced
from agent_nb.notebook.kernel_tools.in_place import snapshots
from agent_nb.notebook.kernel_tools.name_changes import NameChanges, changes_between
from agent_nb.notebook.user_variables import user_names
from agent_nb.run.code_names import names_in
from agent_nb.tools.base import ToolContext

TICK = 0.1
AGAIN = 1.0
"""Seconds after which code that has not stopped is stopped again."""
POLITE = 2
"""Number of stop attempts with an exception that code can handle; IPython then ends the process of a `!command`."""
_OWN_SIGNAL = signal.SIGRTMIN + 6 if hasattr(signal, "SIGRTMIN") else signal.SIGINT
"""The watchdog's signal. Not SIGINT where possible, so that code that ignores SIGINT is stopped too."""
POLL = 0.05
_running = threading.Lock()
"""Lock of the call that is executing, shared by variants and by runs on other event loops."""
_numbers = itertools.count(1)
_executed: set[str] = set()
"""Hashes of the code that has run in this kernel."""
_injected: dict[str, Any] = {}
"""The helpers of the call that is executing, by their names in the namespace."""


class TimeLimitReached(KeyboardInterrupt):
    """Raised in code that exceeds its time limit. `except Exception` does not catch it."""


class RunsOn(BaseException):
    """Raised in code that continues after `TimeLimitReached`."""


class Watchdog:
    """Stops code that runs in the thread of the event loop: at its time limit, or when the user interrupts it.

    Code that blocks the loop cannot be stopped through the loop, and ipykernel's own interrupt handler for a cell that
    awaits goes through it too. So a thread watches the clock, and a signal handler raises where the code is.
    """

    def __init__(
        self,
        inside: Callable[[CodeType], bool],
        seconds: float,
        on_tick: Callable[[], None],
        on_overrun: Callable[[], None],
    ) -> None:
        self.timed_out = False
        """Whether the code reached its time limit, even if it then ran to its end."""
        self.blocking = False
        """Whether the code runs without returning to the loop."""
        self.interrupted = False
        self.task: asyncio.Task[Any] | None = None
        """The task that runs the code. It is cancelled if the code awaits something."""
        self.seconds = seconds
        self._inside, self._on_tick, self._on_overrun = inside, on_tick, on_overrun
        self._stops = 0
        self._loop, self._thread = asyncio.get_running_loop(), threading.current_thread()
        self._ended = threading.Event()
        self._signalled = False
        """Whether the next signal comes from this watchdog and not from the user."""
        self._shields, self._pending = 0, False
        self._previous: Any = None
        self._previous_own: Any = None
        self._timer: asyncio.TimerHandle | None = None
        """Fallback timer where there are no threads. It stops code that awaits, but not code that blocks the loop."""

    def __enter__(self) -> Self:
        if self._thread is threading.main_thread():
            self._previous_own = signal.signal(_OWN_SIGNAL, self._on_signal)
            self._previous = signal.signal(signal.SIGINT, self._on_signal)
        if start_thread("watchdog", self._watch) is None:
            self._timer = self._loop.call_later(self.seconds, self._cancel)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._timer is not None:
            self._timer.cancel()
        if self._thread is not threading.main_thread():
            return
        # The thread may send one more signal, whose default action would end the kernel.
        signal.signal(
            _OWN_SIGNAL, signal.SIG_IGN if self._previous_own is signal.SIG_DFL else self._previous_own
        )
        # A cell that was started in the meantime has its own handler, and restores this one when it ends.
        if signal.getsignal(signal.SIGINT) in (self._on_signal, signal.SIG_IGN, self._previous_own):
            signal.signal(signal.SIGINT, self._previous)

    @contextlib.contextmanager
    def shielded(self) -> Iterator[None]:
        """Delay interrupts until the end of the block, so that the message it sends is not truncated."""
        self._shields += 1
        try:
            yield
        finally:
            self._shields -= 1
            if self._pending and not self._shields:
                self._pending = False
                self._raise()

    def call(self, function: Callable[[], Any]) -> Any:
        """Call code that blocks the loop."""
        trace = sys.gettrace()
        self.blocking = True
        try:
            return function()
        finally:
            self.blocking = False
            sys.settrace(trace)

    def pass_on(self) -> None:
        """If the code was interrupted by the user, interrupt the run as well."""
        if self.interrupted and callable(self._previous) and self._previous is not signal.default_int_handler:
            self._previous(signal.SIGINT, None)

    def _watch(self) -> None:
        deadline = time.monotonic() + self.seconds
        while not self._ended.wait(TICK):
            with contextlib.suppress(Exception):  # an unreachable page must not end the watchdog
                self._on_tick()
            if time.monotonic() >= deadline:
                deadline = time.monotonic() + AGAIN
                self._stop()

    def _stop(self) -> None:
        self._stops += 1
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._cancel)
        if self._thread is threading.main_thread():
            self._signalled = True
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(threading.main_thread().ident or 0, _OWN_SIGNAL)
            else:
                _thread.interrupt_main()
        elif self.blocking:
            self.timed_out = True
            error = TimeLimitReached if self._stops <= POLITE else RunsOn
            thread = ctypes.c_ulong(self._thread.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(error))

    def _cancel(self) -> None:
        if self.task is not None and not self._ended.is_set():
            self.timed_out = True
            self.task.cancel()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        by_watchdog, self._signalled = self._signalled, False
        # Whether the main thread is in the code. It may be in the event loop, which an exception would end.
        frames = () if self._ended.is_set() else traceback.walk_stack(frame)
        inside = any(self._inside(stack_frame.f_code) for stack_frame, _ in frames)
        if not by_watchdog and not inside:
            if callable(self._previous):
                self._previous(number, frame)
        elif inside:
            self.interrupted = self.interrupted or not by_watchdog
            self.timed_out = self.timed_out or by_watchdog
            if self._shields:
                self._pending = True
            else:
                self._raise()

    def _raise(self) -> None:
        if self._stops > 1 and not self.interrupted:
            self._on_overrun()
        if self._stops <= POLITE:
            raise KeyboardInterrupt if self.interrupted else TimeLimitReached
        if self.blocking:
            self._trace()
        raise RunsOn

    def _trace(self) -> None:
        """Raise again at the next line of the code, even inside an `except` that catches everything."""
        frames = [frame for frame, _ in traceback.walk_stack(sys._getframe())]
        while frames and not self._inside(frames[-1].f_code):
            frames.pop()
        for frame in frames:  # including functions that the code called
            if frame.f_code.co_filename != __file__:
                frame.f_trace = self._on_line
        sys.settrace(self._on_line)

    def _on_line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event in ("call", "line") and self.blocking and not self._shields:
            raise RunsOn  # Python then removes this function
        return self._on_line


def has_run(code: str) -> bool:
    return sha256(code) in _executed


@dataclass(slots=True)
class Execution:
    error: BaseException | None
    changes: NameChanges
    outputs: tuple[MimeBundle, ...]
    watchdog: Watchdog
    notes: list[str] = field(default_factory=list)
    renamed: list[str] = field(default_factory=list)
    """Helpers whose usual name is a variable of the notebook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRun:
    code: str
    shell: Any
    context: ToolContext
    seconds: float
    on_tick: Callable[[], None]
    """Called in a thread while the code runs."""
    filename: str = field(default_factory=lambda: f"<run_python-{next(_numbers)}>")


async def execute(call: CodeRun) -> Execution:
    """Run the code after any other call has ended. If the task is cancelled, `error` is a `CancelledError`."""
    async with alone(lambda: call.context.progress("waits until other code has ended")):
        return await _execute(call)


@contextlib.asynccontextmanager
async def alone(on_wait: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
    """Hold the lock for code under a watchdog, waiting for other calls first."""
    if not _running.acquire(blocking=False):
        on_wait()
        while not _running.acquire(blocking=False):  # noqa: ASYNC110 - the other call may be on another loop
            await asyncio.sleep(POLL)
    try:
        yield
    finally:
        _running.release()


async def _execute(call: CodeRun) -> Execution:
    _executed.add(sha256(call.code))
    namespace = call.shell.user_ns
    before, directory = user_names(call.shell), _directory()
    names = names_in(call.code)
    named = {name: before[name] for name in (*names.reads, *names.changes) if name in before}
    objects = snapshots(named)
    processes, hooks = _processes(), _hooks(call.shell)
    seconds = max(0.0, min(call.seconds, call.context.seconds_left()))
    runs_on = f"goes on past its limit of {seconds:.3g} seconds; if it does not end, restart the kernel"
    watchdog = Watchdog(
        partial(_is_inside, call.filename), seconds, call.on_tick, partial(call.context.progress, runs_on)
    )

    def show(bundle: MimeBundle) -> None:
        with watchdog.shielded():
            call.context.show(bundle)

    capture = Capture(show)
    with (
        injected_helpers(namespace, call.context.files, watchdog.shielded) as renamed,
        capturing(capture, call.shell),
        _guarded(call.shell, capture),
        _tasks_of(capture) as tasks,
        watchdog,
    ):
        watchdog.task = asyncio.create_task(_run(call, capture, watchdog))
        error = await watchdog.task
    notes = [f"`{name}` is a variable of the notebook: use `_{name}` instead." for name in renamed]
    if (now := _directory()) != directory:
        notes.append(f"The working directory is now {now}.")
    if threads := capture.new_threads():
        notes.append(f"Threads that it started still run: {', '.join(threads)}.")
    if running := [task.get_name() for task in tasks if not task.done() and task is not watchdog.task]:
        notes.append(f"Asyncio tasks that it started still run: {', '.join(running)}.")
    if children := [f"{name} ({pid})" for pid, name in _processes().items() if pid not in processes]:
        notes.append(f"Processes that it started still run: {', '.join(children)}.")
    if added := [name for name, ids in _hooks(call.shell).items() if ids - hooks.get(name, set())]:
        notes.append(f"It added functions that IPython calls for every cell: {', '.join(added)}.")
    changes = changes_between(namespace, before, user_names(call.shell), objects)
    return Execution(error, changes, capture.bundles(), watchdog, notes, renamed)


async def _run(call: CodeRun, capture: Capture, watchdog: Watchdog) -> BaseException | None:
    """Run the code and return its exception: raising KeyboardInterrupt or SystemExit would end the loop."""
    error: BaseException | None = None
    try:
        await _steps(call, capture, watchdog)
    except BaseException as raised:
        error = raised
    try:
        show_figures()
    except BaseException as raised:
        error = error or raised
    return error


async def _steps(call: CodeRun, capture: Capture, watchdog: Watchdog) -> None:
    shell = call.shell
    with shell.builtin_trap:
        for step, is_displayed in compiled(call.code, call.filename, shell):
            if step.co_flags & inspect.CO_COROUTINE:
                value = await eval(step, shell.user_global_ns, shell.user_ns)
            else:
                value = watchdog.call(partial(eval, step, shell.user_global_ns, shell.user_ns))
            if is_displayed and value is not None:
                show_value(value, shell, capture)


def compiled(code: str, filename: str, shell: Any) -> Iterator[tuple[CodeType, bool]]:
    """Compile the statements, then the last expression; yield whether to display each result."""
    source = shell.transform_cell(code)
    same = len(source.splitlines()) == len(code.splitlines())
    lines = (code if same else source).splitlines(keepends=True)
    linecache.cache[filename] = len(source), None, lines, filename
    tree = shell.transform_ast(ast.parse(source, filename))
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | shell.compile.flags
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    if tree.body:
        yield compile(tree, filename, "exec", flags, dont_inherit=True), False
    if isinstance(last, ast.Expr):
        expression = ast.Expression(last.value)
        quiet = source.rstrip().endswith(";")
        yield compile(expression, filename, "eval", flags, dont_inherit=True), not quiet


def show_value(value: Any, shell: Any, capture: Capture) -> None:
    """Display the value of the last expression, without setting `_` and `Out`."""
    capture.display(shell.display_formatter.format(value)[0], None, update=False)


def show_figures() -> None:
    """Display open figures, as at the end of a cell."""
    inline = sys.modules.get("matplotlib_inline.backend_inline")
    if inline is not None:
        inline.flush_figures()


@contextlib.contextmanager
def _tasks_of(capture: Capture) -> Iterator[list[asyncio.Task[Any]]]:
    """Collect the tasks that the code starts in this block, not those of other runs on the same loop."""
    loop = asyncio.get_running_loop()
    tasks: list[asyncio.Task[Any]] = []
    factory = loop.get_task_factory()

    def make(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> Any:
        task: Any = factory(loop, work, **options) if factory else asyncio.Task(work, loop=loop, **options)
        if capture.takes():
            tasks.append(task)
        return task

    loop.set_task_factory(make)
    try:
        yield tasks
    finally:
        loop.set_task_factory(factory)


def _processes() -> dict[int, str]:
    """Child processes by pid, without our own; empty in JupyterLite, which has no `psutil`."""
    try:
        psutil = importlib.import_module("psutil")  # newer versions of ipykernel load it only on demand
    except ImportError:
        return {}
    own, children = {*own_processes}, dict[int, tuple[str, int, int]]()
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(Exception):  # it has just ended
            name = "" if child.status() == "zombie" else child.name()
            children[child.pid] = name, child.ppid(), os.getsid(child.pid)
    own |= own_processes

    def is_own(pid: int) -> bool:
        _, parent, session = children[pid]
        return not own.isdisjoint((pid, parent, session)) or (parent in children and is_own(parent))

    return {pid: name for pid, (name, *_) in children.items() if name and not is_own(pid)}


def _hooks(shell: Any) -> dict[str, set[int]]:
    lists = {name: getattr(shell, name, ()) for name in ("input_transformers_post", "ast_transformers")}
    lists |= getattr(shell.events, "callbacks", {})
    return {name: {id(hook) for hook in rows if not _draws(hook)} for name, rows in lists.items()}


def _draws(function: Any) -> bool:
    """Whether this is Matplotlib's hook, which is added with the first figure of any cell."""
    return str(getattr(function, "__module__", "")).partition(".")[0] in ("matplotlib", "matplotlib_inline")


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "a folder that has been deleted"


def _is_inside(filename: str, code: CodeType) -> bool:
    """Whether the frame runs the code or displays its result, so that an exception may be raised there."""
    return code.co_filename == filename or code in (show_value.__code__, show_figures.__code__)


@contextlib.contextmanager
def _guarded(shell: Any, capture: Capture) -> Iterator[None]:
    """Prevent the code from reading input and from ending the kernel."""
    with contextlib.ExitStack() as stack:
        for owner, name in ((builtins, "input"), (getpass, "getpass")):
            stack.enter_context(replaced(owner, name, capture.routed(getattr(owner, name), _no_input)))
        # Otherwise errors that IPython prints, such as a formatter's, would appear in the agent's cell.
        errors = capture.routed(
            shell._showtraceback, lambda kind, error, lines: capture.write("\n".join(lines) + "\n")
        )
        stack.enter_context(replaced(shell, "_showtraceback", errors))
        stack.enter_context(replaced(shell, "ask_exit", sys.exit))
        yield


def _no_input(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError("input() is not available in run_python. Write the value into the code instead.")


@contextlib.contextmanager
def injected_helpers(
    namespace: dict[str, Any], files: Workspace, shield: Callable[[], AbstractContextManager[None]]
) -> Iterator[list[str]]:
    """Inject `agent_files` and `to_file` for the block; yield those whose names are taken, which get an underscore."""

    def to_file(path: str, value: Any) -> str:
        """Writes a value to a file of the run, by its suffix: data frames and plain values as JSON, CSV or a
        script, text and bytes as they are, figures as PNG. Returns the path."""
        content = content_of(path, value)
        with shield():
            return files.write(path, content).path

    helpers = {"agent_files": dict(files.files.items()), "to_file": to_file}
    renamed = [name for name in helpers if name in namespace]
    for usual, value in helpers.items():
        name = f"_{usual}" if usual in renamed else usual
        if name not in namespace:
            _injected[name] = namespace[name] = value
    try:
        yield renamed
    finally:
        remove_helpers(namespace)


def remove_helpers(namespace: dict[str, Any]) -> None:
    """Remove them after the call, and in a copy of a process that was executing one."""
    while _injected:
        name, value = _injected.popitem()
        if namespace.get(name) is value:
            del namespace[name]
