"""Branches: copies of the kernel in which the kernel tools of a run work. `branch_process.py` is the copy's side.

    branch = await tool.branches.open(run)  # a copy of the session, made by `fork` on the main thread, or of the run's
    output = await branch.call("run_python", {"code": code}, context)
    trial = await branch.copy()             # a copy of the branch with its variables
    branch.keep(run_id)                     # for a run that continues this one; else
    branch.end()                            # at once, with everything that it started

`call` returns the tool's `ToolOutput` or raises its `ToolError`; live output, progress and files go to the context. To
keep the files of the run as they are, give the context another workspace: `files=Workspace(context.files.files)`.
If the process of a branch has ended, its next call works in a new copy of the session; a copy of a branch then raises.
"""

import array
import asyncio
import contextlib
import json
import os
import re
import select
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import asdict, replace
from typing import Any

from agent_nb._base.constants import IN_BROWSER, INTERACTIVE_TYPE, NAMES_TYPE
from agent_nb._base.log import log
from agent_nb._base.program import GO_ON, LEAVE, PAUSE, own_processes
from agent_nb._base.threads import off_loop, start_thread
from agent_nb._base.wire import Json, WireError, from_wire
from agent_nb.core.errors import BranchError, ConfigError, FileError, ToolError
from agent_nb.core.events import MimeBundle
from agent_nb.core.run_settings import CODE_TOOL
from agent_nb.files import Content, Files
from agent_nb.notebook.kernel_tools.applied import BranchedKernel
from agent_nb.notebook.kernel_tools.branch_process import (
    LENGTH,
    BranchMessage,
    BranchRequest,
    FileChange,
    ToolFailure,
    fork,
    packed,
)
from agent_nb.notebook.kernel_tools.capture import (
    DRAWN,
    MAX_HTML,
    MAX_IMAGE,
    MAX_LIVE,
    MAX_OUTPUTS,
    MAX_PLAIN,
)
from agent_nb.notebook.kernel_tools.inherited import DESCRIPTORS, link_of, shared_devices
from agent_nb.notebook.kernel_tools.kept_branches import KEPT
from agent_nb.notebook.session import settings
from agent_nb.notebook.values.secret_values import MOST_VALUES, remember
from agent_nb.render.outputs import check_outputs
from agent_nb.tools import Tool, ToolContext, ToolOutput

KILL_AFTER = 1.0
"""Seconds between the exception at the time limit and the end of the branch."""
BEGIN_SECONDS = 20.0
"""Seconds in which a process must begin a call. Otherwise it is stuck in what an earlier call has left running."""
MAX_MESSAGE = 400_000_000
MAX_STRINGS, MAX_OUTSIDE, MAX_SECRETS = 50_000, 2_000_000, 5_000_000
"""Of a message: strings, bytes outside of strings, and characters of secrets."""
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*"?', re.DOTALL)
_LARGE = 100_000
"""Size in bytes above which a message is decoded off the event loop."""
_BROKEN = (EOFError, OSError, ValueError, RecursionError)
"""What reading raises if the process has ended or has sent something other than a message."""
_HANGING = ("polars",)
"""Libraries whose threads are missing in a copy, so that most of their functions wait forever."""
_GPUS = ("/dev/nvidia", "/dev/kfd")
_GONE = "the variables that it had set are gone."
_NEXT_CALL = "The next call works in a new copy of the notebook."
_NEW_COPY = (
    "The branch had ended, so this call worked in a new copy of the notebook: what earlier calls set is gone."
)

Fork = Callable[["BranchProcess", socket.socket, int], Awaitable[None]]
"""Makes a copy that answers on the socket, with a guard that reads the pipe and may be a child of this process."""


class Branches:
    """Makes branches of the session of one shell."""

    def __init__(self, shell: Any, tools: Sequence[Tool]) -> None:
        self._shell, self._tools = shell, tools

    def are_safe(self) -> bool:
        return _has_fork() and not _caution()

    def check(self, why: str = "", remedy: str = "") -> None:
        remedy = remedy or "leave out `--branch`"
        if not _has_fork():
            raise ConfigError(
                f"{why} A branch is a copy of the kernel's process, which Windows and JupyterLite cannot make: "
                f"{remedy}.".lstrip()
            )
        caution = _caution()
        if caution and why:
            raise ConfigError(f"{why} {caution} Write `--branch` to make them anyway, or {remedy}.")
        for line in filter(None, (caution, _hanging_note(), _device_note())):
            log.warning(line)

    async def open(self, base: Any = None) -> "KernelBranch":
        branch = KernelBranch(self._shell, self._fork)
        if kept := base and KEPT.resumed(base.branched_from):
            with contextlib.suppress(BranchError):
                await branch.begin(kept)
                branch.session.follow(base)
                return branch
        await branch.begin()
        return branch

    async def _fork(self, process: "BranchProcess", connection: socket.socket, end: int) -> None:
        """Copy the kernel on its main thread: a copy ends with the thread that made it."""
        loop: Any = asyncio.get_running_loop()
        if threading.current_thread() is not threading.main_thread():
            loop = getattr(getattr(self._shell, "kernel", None), "io_loop", None)
            loop = getattr(loop, "asyncio_loop", None)
            if loop is None:
                raise BranchError("A branch can only be made on the main thread: start the run there.")
        copied: Future[None] = Future()

        def copy() -> None:
            if copied.set_running_or_notify_cancel():
                try:
                    process.guard = fork(self._shell, self._tools, connection, end)
                    own_processes.add(process.guard)
                    copied.set_result(None)
                except OSError as error:
                    copied.set_exception(BranchError(f"The kernel could not be copied: {error}."))

        loop.call_soon_threadsafe(copy)  # outside this task, which the copy could not leave
        await asyncio.wrap_future(copied)


class BranchProcess:
    """The process of a branch and the connection to it."""

    def __init__(self, connection: socket.socket, end: int, base: "BranchProcess | None" = None) -> None:
        self.pid = self.guard = 0
        """The guard is a child of this process, or 0 if the branch is a copy of another."""
        self._connection, self._end, self._base = connection, end, base
        self._copies: list[BranchProcess] = []
        """Those that may outlive this process. Their guards are below its own, which stays until they have ended."""
        if base is not None:
            base._copies.append(self)
        self.has_ended = self._has_no_guard = False
        self._ending, self._end_requested = threading.RLock(), threading.Event()
        connection.setblocking(False)

    def watch(self) -> None:
        """Notice the end of the process."""
        start_thread("branch watcher", self._watch)

    async def send(self, request: BranchRequest) -> None:
        await asyncio.get_running_loop().sock_sendall(self._connection, packed(request))

    def send_descriptors(self, request: BranchRequest, *descriptors: int) -> None:
        rights = socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors)
        self._connection.sendmsg([packed(request)], [rights])

    async def receive(self) -> BranchMessage:
        """The next message; raises one of `_BROKEN` if there is none."""
        await asyncio.sleep(0)  # code that floods the connection must not block the loop
        size = LENGTH.unpack(await self._read(LENGTH.size))[0]
        if size > MAX_MESSAGE:
            raise WireError("is too long")
        data = await self._read(size)
        return await off_loop(_decoded, data) if size > _LARGE else _decoded(data)

    async def _read(self, size: int) -> bytes:
        data, loop = bytearray(), asyncio.get_running_loop()
        while len(data) < size:
            piece = await loop.sock_recv(self._connection, min(size - len(data), 1 << 20))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def end(self) -> None:
        """Have the guard kill the process and all that it has started, from any thread."""
        with self._ending:
            if not self.has_ended:
                if not self._is_last:
                    self.tell(LEAVE)
                self.has_ended = True
                with contextlib.suppress(OSError):
                    self._connection.shutdown(socket.SHUT_RDWR)
                self._end_requested.set()
        self._end_guard()

    def tell(self, command: bytes) -> None:
        """Have the guard do something; without a guard or a process, nothing is done."""
        with self._ending, contextlib.suppress(OSError):
            if not self.has_ended:
                os.write(self._end, command)

    @property
    def _is_last(self) -> bool:
        """Whether no copy needs the guard."""
        return all(copy._has_no_guard for copy in self._copies)

    def _end_guard(self) -> None:
        """End the guard of a process that has ended, unless there are copies of it."""
        with self._ending:
            if self._has_no_guard or not (self.has_ended and self._is_last):
                return
            self._has_no_guard = True
            with contextlib.suppress(OSError):
                os.write(self._end, b"\n")  # a process that the user has forked may keep the pipe open
            os.close(self._end)
        if self._base is not None:
            self._base._end_guard()

    def close(self) -> None:
        """End the process and close the connection, which nobody reads any more."""
        self.end()
        self._connection.close()

    def _watch(self) -> None:
        try:
            # A copy of a branch may have sent any number: it counts as ended if that is requested.
            process = os.pidfd_open(self.pid if self.guard else 0)
            poll = select.poll()
            poll.register(process, select.POLLIN)
            poll.poll()
            os.close(process)
        except ProcessLookupError:
            pass
        except (OSError, AttributeError):  # no process yet, or no Linux
            self._end_requested.wait()
        self.end()
        if self.guard:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.guard, 0)
        own_processes.discard(self.guard)


class KernelBranch:
    """A branch of the session, or a copy of a branch. If the process of a branch ends, the session is copied again."""

    def __init__(self, shell: Any, make_copy: Fork, *, renewable: bool = True) -> None:
        self._shell, self._fork, self._renewable = shell, make_copy, renewable
        self._calling = asyncio.Lock()
        self._process: BranchProcess | None = None
        self.session = BranchedKernel(shell)
        self.used_at = 0.0
        """When a run has last used it, once its own run has ended."""
        self._is_paused = False
        self._sent = Files()
        """The files that the process has."""
        self._remarks: list[str] = []
        """Remarks that the model gets with the result of the next call."""

    async def begin(self, base: "KernelBranch | None" = None) -> BranchProcess:
        """Copy the session, or another branch; raises `BranchError` if that fails."""
        origin = base._process if base else None
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        process = self._process = BranchProcess(ours, writing, origin if self._renewable else None)
        self._sent = Files()
        try:
            with theirs:
                if origin is None:
                    await self._fork(process, theirs, reading)
                else:
                    origin.send_descriptors(BranchRequest(), theirs.fileno(), reading)
            async with asyncio.timeout(BEGIN_SECONDS):
                ready = await process.receive()
            if ready.failure:
                raise BranchError(ready.failure.message)
            process.pid = ready.pid or 0
        except BaseException as error:
            process.close()
            if isinstance(error, _BROKEN):
                raise BranchError("The kernel could not be copied: the copy ended at once.") from None
            raise
        finally:
            os.close(reading)
            process.watch()
        self._remarks += filter(None, [_hanging_note(), _device_note()])
        return process

    async def call(self, name: str, args: Json, context: ToolContext) -> ToolOutput:
        if self._calling.locked():
            context.progress("waits until other code has ended")
        shown: list[MimeBundle] = []
        async with self._calling:
            seconds = min(settings(self._shell).python_seconds, max(0.0, context.seconds_left()))
            request = BranchRequest(tool=name, args=args, seconds=seconds)
            try:
                process = await self._begun(request, context.files.files)
                async with asyncio.timeout(seconds + KILL_AFTER if name == CODE_TOOL else None):
                    return await self._outcome(await self._result(process, context, shown))
            except asyncio.CancelledError:
                self._close()
                raise ToolError("The code was stopped.", code="STOPPED", outputs=shown) from None
            except TimeoutError:
                self._close()
                message = (
                    f"The code ran past its limit of {seconds:.3g} seconds, so its branch was ended: {_GONE}"
                )
                hint = f"{_NEXT_CALL} {_hanging_note() or 'Make it do less, or in steps.'}"
                raise ToolError(message, code="TIMEOUT", hint=hint, outputs=shown) from None
            except _BROKEN as error:
                self._close()
                ended = "ended" if isinstance(error, EOFError | OSError) else "wrote into the connection of"
                message = f"The code {ended} its branch: {_GONE}"
                raise ToolError(message, hint=_NEXT_CALL, outputs=shown) from None

    async def copy(self) -> "KernelBranch":
        async with self._calling:
            await self._current()
            branch = KernelBranch(self._shell, self._fork, renewable=False)
            await branch.begin(self)
            return branch

    def keep(self, run_id: str) -> None:
        """Keep the branch for runs that continue this one, if it has not ended."""
        if self.has_ended or self.session.is_left_out:
            self.end()
        else:
            self._renewable, self._sent = False, Files()
            KEPT.keep(run_id, self, settings(self._shell).branches)

    @property
    def has_ended(self) -> bool:
        return self._process is None or self._process.has_ended

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    def pause(self, *, stopped: bool) -> None:
        """Stop the processes of the branch, or continue them."""
        if self._process and stopped != self._is_paused:
            self._is_paused = stopped
            self._process.tell(PAUSE if stopped else GO_ON)

    def renew(self) -> None:
        self._close()

    def end(self) -> None:
        self._renewable = False
        self._close()

    def _close(self) -> None:
        if self._process is not None:
            self._process.close()

    async def _current(self) -> BranchProcess:
        """The process for the next call, a new one if the last has ended."""
        if self._process is None or self._process.has_ended:
            if not self._renewable:
                raise ToolError("The branch has ended.")
            self._remarks = [_NEW_COPY]
            return await self.begin()
        return self._process

    async def _begun(self, request: BranchRequest, files: Files) -> BranchProcess:
        """Start a call, in a new process if the last one has ended unnoticed or is stuck."""
        before = self._process
        while True:
            process = await self._current()
            try:
                async with asyncio.timeout(BEGIN_SECONDS):
                    await process.send(replace(request, files=(*self._changed(files),)))
                    while not (await process.receive()).begun:
                        pass  # code may have written to the connection after its call
                return process
            except _BROKEN:
                process.close()
                if process is not before:
                    raise

    def _changed(self, files: Files) -> Iterable[FileChange]:
        """The files that differ from those that the process has."""
        before: dict[str, Content] = dict(self._sent)
        self._sent = files
        for path, content in files.items():
            if before.pop(path, None) != content:
                yield FileChange.of(path, content)
        yield from (FileChange(path=path) for path in before)

    async def _result(
        self, process: BranchProcess, context: ToolContext, shown: list[MimeBundle]
    ) -> BranchMessage:
        """Pass on what the call reports, up to its result."""
        room = 2 * MAX_LIVE + MAX_OUTPUTS * (MAX_PLAIN + 1)  # what `capture.py` lets code show
        while True:
            message = await process.receive()
            if message.progress is not None:
                context.progress(message.progress)
            if message.show is not None:
                is_text = [*message.show] == ["text/plain"]
                room -= 1 + (len(message.show["text/plain"]) if is_text else MAX_PLAIN)
            if message.show is not None and room >= 0:
                context.show(message.show)
                _add(shown, message.show)
            if message.file is not None:
                with contextlib.suppress(FileError):  # the branch has checked it
                    message.file.apply(context.files)
                self._sent = context.files.files
            if message.output or message.failure:
                return message

    async def _outcome(self, reply: BranchMessage) -> ToolOutput:
        await off_loop(remember, self._shell, reply.secrets)
        remarks, self._remarks = " ".join(self._remarks), []
        result = reply.failure or reply.output or ToolOutput(text="")
        for bundle in result.outputs:
            if isinstance(names := bundle.get(NAMES_TYPE), dict):
                names.pop("undo", None)  # only the branch could undo it
        if isinstance(result, ToolFailure):
            raise result.error().with_hint(remarks)
        return result.with_text(remarks)


def _add(shown: list[MimeBundle], bundle: MimeBundle) -> None:
    """Add an output; text continues the text before it."""
    if shown and [*shown[-1]] == [*bundle] == ["text/plain"]:
        shown[-1] = {"text/plain": shown[-1]["text/plain"] + bundle["text/plain"]}
    else:
        shown.append(bundle)


def _hanging_note() -> str:
    names = " and ".join(name for name in _HANGING if name in sys.modules)
    if not names:
        return ""
    return f"{names} was loaded before the branch was made, and most of its functions wait forever there: use pandas."


def _device_note() -> str:
    devices = ", ".join(shared_devices())
    return f"A branch shares the memory of {devices} with the session." if devices else ""


def _has_fork() -> bool:
    return sys.platform != "win32" and not IN_BROWSER and hasattr(os, "fork")


def _caution() -> str:
    """Why a copy of this kernel may fail; empty if nothing is known."""
    if sys.platform == "darwin":
        return "On macOS, system libraries can crash in a copy of the kernel."
    uses_gpu = any(link_of(number).startswith(_GPUS) for number in os.listdir(DESCRIPTORS))
    return "This kernel uses a GPU, which a copy of it cannot use." if uses_gpu else ""


def _decoded(data: bytes) -> BranchMessage:
    """Decode a message; raises `WireError` if it has more, or other outputs, than code makes: code may write to the
    socket."""
    _check_amount(data)
    message: BranchMessage = from_wire(BranchMessage, json.loads(data))
    result = message.output or message.failure
    outputs = (message.show or {}, *(result.outputs if result else ()))
    fields = asdict(result) if result else {}
    texts = [text for text in fields.values() if isinstance(text, str)]
    lengths = ((len(outputs), 2 * MAX_OUTPUTS), (max(map(len, texts), default=0), MAX_HTML))
    secret_lengths = ((len(message.secrets), MOST_VALUES), (sum(map(len, message.secrets)), MAX_SECRETS))
    if any(length > most for length, most in lengths + secret_lengths):
        raise WireError("is too long")
    for kind, content in (item for bundle in outputs for item in bundle.items()):
        most = MAX_IMAGE if kind.startswith("image/") else MAX_HTML
        is_text = kind.startswith(DRAWN) and isinstance(content, str) and len(content) <= most
        if not is_text and kind not in (NAMES_TYPE, INTERACTIVE_TYPE):
            raise WireError("is no output of code", kind[:40])
    check_outputs(outputs)
    return message


def _check_amount(data: bytes) -> None:
    """Raise `WireError` for more values than a call has, before they are parsed."""
    inside = 0
    for number, match in enumerate(_STRING.finditer(data)):
        inside += match.end() - match.start()
        if number >= MAX_STRINGS:
            raise WireError("has too many values")
    if len(data) - inside > MAX_OUTSIDE:
        raise WireError("has too many values")
