"""The process of a branch: what a copy of the kernel does from its fork to its end.

It never returns into the stack that it has inherited. It cuts every connection of the kernel, runs an event loop of its
own, answers one request after the other, and leaves by `os._exit`. `branch.py` is the other side.
"""

import asyncio
import codecs
import contextlib
import contextvars
import ctypes
import gc
import json
import os
import random
import signal
import socket
import struct
import sys
import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from agent_nb._base.program import branch_guard_command
from agent_nb._base.threads import start_thread, ticking
from agent_nb._base.wire import brief_wire, from_wire
from agent_nb.core.errors import ToolError, ToolErrorCode
from agent_nb.core.events import Change, MimeBundle
from agent_nb.files import Files, Workspace
from agent_nb.notebook.kernel_tools.capture import forget_captures
from agent_nb.notebook.kernel_tools.execute import remove_helpers
from agent_nb.notebook.kernel_tools.inherited import (
    DESCRIPTORS,
    check_memory,
    cut_connections,
    separate_memory,
)
from agent_nb.notebook.kernel_tools.kept_branches import KEPT
from agent_nb.notebook.session import HUBS
from agent_nb.notebook.values.secret_values import found_in
from agent_nb.tools import Tool, Toolbox, ToolContext, ToolOutput

LENGTH = struct.Struct("!I")
"""The length of a message, which precedes it."""
NO_MESSAGES = "[A branch cannot send messages to the notebook: widgets do not work in it.]\n"
_LOCKS: Any = (type(threading.Lock()), type(threading.RLock()))
_SIGNAL_AT_END_OF_PARENT, _ADOPT = 1, 36
"""PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER"""
_control_process = getattr(ctypes.CDLL(None), "prctl", None) if sys.platform == "linux" else None
"""Looked up before the fork: in the copy, another thread may have held the loader's lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """The new content of a file of the run, as text or as bytes; neither if it was deleted."""

    path: str
    text: str | None = None
    data: bytes | None = None

    @classmethod
    def of(cls, path: str, content: str | bytes | None) -> "FileChange":
        is_text = isinstance(content, str)
        return cls(path=path, **{"text" if is_text else "data": content})  # type: ignore[arg-type]

    def apply(self, workspace: Workspace) -> None:
        content = self.data if self.text is None else self.text
        if content is not None:
            workspace.write(self.path, content)
        elif self.path in workspace.files:
            workspace.delete(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchRequest:
    """A call of a tool, or, without a name, a request for a copy of the branch."""

    tool: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    files: tuple[FileChange, ...] = ()
    """The files that have changed since the last request."""


@dataclass(frozen=True, kw_only=True)
class ToolFailure:
    """The fields of a `ToolError`."""

    message: str
    headline: str
    summary: str
    code: ToolErrorCode
    hint: str
    outputs: tuple[MimeBundle, ...]
    line: int | None

    def error(self) -> ToolError:
        error = ToolError(self.message)
        vars(error).update(vars(self))
        return error


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchMessage:
    """A message from a branch: first the process id; then, for each call, that it has begun, output, and its result."""

    pid: int | None = None
    begun: bool = False
    progress: str | None = None
    show: MimeBundle | None = None
    file: FileChange | None = None
    output: ToolOutput | None = None
    failure: ToolFailure | None = None
    secrets: tuple[str, ...] = ()
    """Secrets found in variables of the branch."""


class BranchServer:
    """Answers the requests of the kernel in a branch."""

    def __init__(self, shell: Any, tools: Sequence[Tool], connection: socket.socket) -> None:
        self._shell, self._toolbox, self._connection = shell, Toolbox(tools), connection
        self._pid, self._sending = os.getpid(), threading.Lock()
        self._loop, self._context = asyncio.new_event_loop(), contextvars.copy_context()
        self._workspace = Workspace(Files())
        self._known_secrets = set(found_in(shell))
        self._answering: asyncio.Task[None] | None = None
        self._said_messages = False

    def run(self) -> None:
        asyncio.set_event_loop(self._loop)
        start_thread("branch requests", self._read)
        self._send(BranchMessage(pid=self._pid))
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        with ticking():  # a process that the code forks takes wake-ups of this loop
            await asyncio.Event().wait()

    def no_message(self, *_: Any, **__: Any) -> None:
        """Replaces `send` of the kernel's session; reports once per call that nothing is sent."""
        if not self._said_messages:
            self._said_messages = True
            sys.stderr.write(NO_MESSAGES)

    def _read(self) -> None:
        """Read requests in a thread, so that the end of the kernel is noticed while code runs."""
        with contextlib.suppress(OSError, EOFError, ValueError):
            while True:
                head, descriptors = self._receive(LENGTH.size)
                body, _ = self._receive(LENGTH.unpack(head)[0])
                request = from_wire(BranchRequest, json.loads(body))
                self._loop.call_soon_threadsafe(self._begin, request, descriptors, context=self._context)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    def _receive(self, size: int) -> tuple[bytes, list[int]]:
        data, descriptors = b"", []
        while len(data) < size:
            piece, numbers, *_ = socket.recv_fds(self._connection, min(size - len(data), 1 << 20), 2)
            if not piece:
                raise EOFError
            data += piece
            descriptors += numbers
        return data, descriptors

    def _send(self, message: BranchMessage) -> None:
        if os.getpid() != self._pid:
            return  # a process that the code has forked
        data = packed(message)
        with self._sending:
            self._connection.sendall(data)

    def _begin(self, request: BranchRequest, descriptors: Sequence[int]) -> None:
        if request.tool:
            self._answering = self._loop.create_task(self._answer(request, self._answering))
        else:  # not in a task, which the copy could not leave
            self._copy(*descriptors)

    def _copy(self, descriptor: int, end: int) -> None:
        with socket.socket(fileno=descriptor) as connection:
            try:
                pid = fork(self._shell, tuple(self._toolbox), connection, end, is_copy=True)
                start_thread("branch reaper", partial(os.waitpid, pid, 0))
            except OSError as error:
                failure = ToolFailure(**vars(ToolError(f"The branch could not be copied: {error}.")))
                connection.sendall(packed(BranchMessage(failure=failure)))
            finally:
                os.close(end)

    async def _answer(self, request: BranchRequest, previous: asyncio.Task[None] | None) -> None:
        if previous is not None:  # its code may have forged an answer
            await asyncio.wait([previous])
        self._said_messages = False
        self._send(BranchMessage(begun=True))
        workspace = Workspace(self._workspace.files)
        for change in request.files:
            change.apply(workspace)
        self._workspace = Workspace(workspace.files, self._file_changed)
        context = ToolContext(
            files=self._workspace,
            progress=lambda text: self._send(BranchMessage(progress=text)),
            show=lambda bundle: self._send(BranchMessage(show=bundle)),
            seconds_left=lambda: request.seconds,
        )
        tool = self._toolbox.get(request.tool)
        assert tool is not None
        try:
            message = BranchMessage(output=await self._toolbox.run(tool, {**request.args}, context))
        except ToolError as error:
            message = BranchMessage(failure=ToolFailure(**vars(error)))
        if os.getpid() != self._pid:  # forked by the code: it must not answer, nor wait on the same loop
            os._exit(0)
        secrets = tuple(text for text in found_in(self._shell) if text not in self._known_secrets)
        self._known_secrets.update(secrets)
        self._send(replace(message, secrets=secrets))

    def _file_changed(self, change: Change) -> None:
        self._send(BranchMessage(file=FileChange.of(change.path, self._workspace.files.get(change.path))))


def packed(message: BranchRequest | BranchMessage) -> bytes:
    data = json.dumps(brief_wire(message)).encode()
    return LENGTH.pack(len(data)) + data


def fork(
    shell: Any, tools: Sequence[Tool], connection: socket.socket, end: int, *, is_copy: bool = False
) -> int:
    """Copy this process, and return the process id of the copy's guard. The copy answers requests on the connection.

    The guard is its parent and adopts all that it leaves. It ends them at the end of `end`, and when this process ends,
    unless that is a branch: a copy may outlive it.
    """
    check_memory(shell.user_ns)
    session, state = os.getpid(), random.getstate()
    with warnings.catch_warnings(action="ignore"):  # Python warns about threads, JAX about deadlocks
        pid = os.fork()
    if pid:
        return pid
    try:
        guard = os.getpid()
        _control(_ADOPT, 1)
        if pid := os.fork():
            _guard(pid, end, session, is_copy=is_copy)
        random.setstate(state)  # Python seeds it again in a fork
        _leave(guard)
        separate_memory()
        cut_connections(connection.fileno())
        remove_helpers(shell.user_ns)
        server = BranchServer(shell, tools, connection)
        _cut_front_end(shell, server)
        gc.freeze()  # the collector would touch, and so copy, the pages of all inherited objects
        server.run()
    finally:
        os._exit(1)


def _control(option: int, value: int) -> None:
    if _control_process is not None:
        _control_process(option, value)


def _guard(pid: int, end: int, session: int, *, is_copy: bool) -> None:
    """Become the guard of the process: a small program, so that it keeps no memory of the session."""
    os.setsid()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if not is_copy:
        _control(_SIGNAL_AT_END_OF_PARENT, signal.SIGTERM)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number, source in enumerate((end if os.getppid() == session else nowhere, nowhere, nowhere)):
        os.dup2(source, number)
    for number in map(int, os.listdir(DESCRIPTORS)):
        if number > 2:
            with contextlib.suppress(OSError):
                os.close(number)
    command = branch_guard_command(pid)
    os.execv(command[0], command)


def _leave(parent: int) -> None:
    """Leave the kernel's process group, signals, event loop and locks."""
    os.setsid()
    _control(_SIGNAL_AT_END_OF_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended in the meantime
        os._exit(1)
    signal.set_wakeup_fd(-1)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    with contextlib.suppress(Exception):  # from Python 3.14 on, a thread has one current task
        asyncio.tasks._swap_current_task(asyncio.get_running_loop(), None)  # type: ignore[attr-defined]
    asyncio._set_running_loop(None)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "agent_nb":
            for value in list(vars(module).values()):
                if isinstance(value, _LOCKS):  # a thread that is gone may have held it
                    value._at_fork_reinit()
    forget_captures()
    KEPT.forget()


def _lead(descriptor: int, stream: Any) -> None:
    """Send what processes write to the descriptor to the stream, and discard what is written to the stream.

    During a call, `capture.py` replaces `write`. The stream object stays, because loggers keep references to it.
    """
    reading, writing = os.pipe()
    os.dup2(writing, descriptor)
    os.close(writing)

    def forward() -> None:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        while data := os.read(reading, 1 << 16):
            stream.write(decode(data))

    if stream is not None:
        vars(stream).update(write=len, flush=lambda: None, _original_stdstream_fd=descriptor)
        stream.watch_fd_thread = start_thread("branch output", forward)


def _cut_front_end(shell: Any, server: BranchServer) -> None:
    """Keep displays, widget messages and history from leaving this process, and lead its output into the calls."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        _lead(number, stream)
    HUBS.clear()
    if scripts := shell.magics_manager.registry.get("ScriptMagics"):
        scripts.event_loop = None  # of `%%bash`: its thread is not here
    shell.history_manager.enabled = False  # its thread and its database belong to the kernel
    vars(shell.display_pub).update(dict.fromkeys(("publish", "clear_output"), lambda *_, **__: None))
    if kernel := getattr(shell, "kernel", None):
        kernel.session.send = kernel.iopub_thread.send_multipart = server.no_message
