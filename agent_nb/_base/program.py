"""Child programs, such as MCP servers and outside agents, each in its own process group and with bounded streams.

None outlives this process. A guard shell watches a pipe from this process: when it closes, because the program should
end or this process was killed, the guard ends the program's group and the processes it started outside it.
"""

import asyncio
import atexit
import contextlib
import importlib
import os
import secrets
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from agent_nb._base.text import printable_line

MAX_LINE = 32_000_000
"""Maximum bytes of one message, such as a result with images."""
GRACE = 1.0
"""Seconds that a program has to exit after its stdin closes, and again after SIGTERM."""
_TAIL = 2_000
"""Number of trailing bytes of stderr to keep."""
_KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL
_PID = os.getpid()
MARK = "AGENT_NB_PROGRAM"
"""Environment variable by which the guard finds processes that left the program's group, on systems with `/proc`."""
_BELOW = """
below() {
  ps -A -o pid= -o ppid= | while read pid parent; do
    if [ "$parent" = "$1" ]; then below "$pid"; echo "$pid"; fi
  done
}
"""
_GUARD = """
read line
mark=$3
marked() {
  grep -alsF "$mark" /proc/[0-9]*/environ | cut -d/ -f3
}
await() {
  for n in 1 2 3 4 5 6 7 8 9 10; do
    kill -0 "-$1" 2>/dev/null || return
    sleep "$2"
  done
}
all="-$1 $(below "$1" 2>/dev/null) $(marked)"
await "$1" "$2"
kill -TERM $all 2>/dev/null
await "$1" "$2"
kill -KILL $all 2>/dev/null
exit 0
"""
PAUSE, GO_ON, LEAVE = b"11\n", b"12\n", b"13\n"
"""Lines for the guard of a branch: stop its processes, continue them, or end all but the copies of the branch."""
_BRANCH_GUARD = """
trap : TERM
exec 3<&0
signal() {
  if [ ! -e /proc/self/status ] || grep -qsx "PPid:.$$" "/proc/$2/status"; then kill "-$1" "-$2" 2>/dev/null; fi
}
end() {
  others=
  [ -e /proc/self/status ] || [ -n "$2" ] || others=$(below "$1" 2>/dev/null)
  signal KILL "$1"
  kill -KILL $others 2>/dev/null
  left=2
  while [ $left -gt 0 ]; do
    left=$((left - 1))
    for pid in $(grep -lsx "PPid:.$$" /proc/[0-9]*/status | cut -d/ -f3); do
      [ -n "$2" ] && grep -aqsF "$2" "/proc/$pid/cmdline" && continue
      kill -KILL "$pid" 2>/dev/null && left=2
    done
    sleep 0.02
  done
}
while :; do
  (read line <&3 && exit "$line") &
  wait $!
  case $? in
    11) signal STOP "$1" ;;
    12) signal CONT "$1" ;;
    13) end "$1" "$0" ;;
    *) break ;;
  esac
done
end "$1"
exit 0
"""
"""Ends a process group, then its own children until it has none: as a subreaper, it gets those that others leave.

It looks once more when it has found none: a process whose parent ends while it looks is in neither list. The guards of
copies of the branch are told by their command line.
"""

_running: dict[int, asyncio.subprocess.Process] = {}
"""Running programs by pid."""
_unguarded: set[int] = set()
"""Running programs without a guard: on Windows, or without a shell."""
own_processes: set[int] = set()
"""The pids of programs, branches and guards, which the user's code has not started. Each leads a session of its own."""


def process_start(pid: int) -> str:
    """When a process was started, by the system's clock that nobody sets; empty if it has ended or is unknown."""
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if state[0] == "Z" else state[19]
    with contextlib.suppress(Exception):  # there is no psutil, or no such process
        return str(importlib.import_module("psutil").Process(pid).create_time())
    return ""


class ProgramError(Exception):
    """A program cannot be started; the message is the reason."""


class Program:
    """A running program that exchanges lines, with its exit code and last line of stderr."""

    def __init__(self, process: asyncio.subprocess.Process, guard: asyncio.subprocess.Process | None) -> None:
        self._process, self._guard = process, guard
        self._stderr = b""
        self.problem = ""
        """Why reading stopped before the program ended."""
        self._listening = asyncio.create_task(self._listen())
        _running[process.pid] = process
        own_processes.update(child.pid for child in (process, guard) if child)
        if guard is None:
            _unguarded.add(process.pid)

    @classmethod
    async def start(cls, command: Sequence[str], *, env: Mapping[str, str], folder: Path | None) -> "Program":
        """Start a command; raises `ProgramError` if it cannot be started."""
        executable = find_program(command[0], env.get("PATH"), folder)
        if executable is None:
            raise ProgramError(f"The program {command[0]!r} was not found.")
        pipe, mark = asyncio.subprocess.PIPE, secrets.token_hex(8)
        try:
            process = await asyncio.create_subprocess_exec(
                executable,
                *command[1:],
                env={**env, MARK: mark},
                cwd=folder,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                limit=MAX_LINE,
                start_new_session=True,  # shields it from the terminal's interrupt
            )
        except (OSError, ValueError) as error:
            raise ProgramError(f"{command[0]!r} cannot be started: {error}.") from None
        guard = None
        if sys.platform != "win32":
            nowhere, command = asyncio.subprocess.DEVNULL, guard_command(process.pid, mark)
            with contextlib.suppress(OSError):
                guard = await asyncio.create_subprocess_exec(
                    *command, stdin=pipe, stdout=nowhere, stderr=nowhere, start_new_session=True
                )
        return cls(process, guard)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs. A launcher may have exited while its child keeps the pipes open."""
        return self._process.returncode

    @property
    def last_line(self) -> str:
        """The last line of stderr."""
        lines = self._stderr.decode(errors="replace").strip().splitlines()
        return printable_line(lines[-1])[:300] if lines else ""

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of stdout until it ends."""
        assert self._process.stdout
        while True:
            try:
                line = await self._process.stdout.readline()
            except ValueError:
                self.problem = f"It sent a message of more than {MAX_LINE // 1_000_000} MB."
                return
            if not line:
                return
            yield line

    async def write(self, data: bytes) -> None:
        """Write to stdin; raises `OSError` if the program has exited or closed it."""
        assert self._process.stdin
        self._process.stdin.write(data)
        await self._process.stdin.drain()

    async def wait(self) -> None:
        """Wait briefly for the exit code and stderr, after stdout has ended."""
        await _has_ended(self._process, GRACE)
        await asyncio.wait({self._listening}, timeout=GRACE)

    async def end(self) -> None:
        """Close stdin so that the program can exit, then terminate it and its children."""
        process, guard = self._process, self._guard
        for child in (process, guard):
            if child and child.stdin:
                child.stdin.close()
        try:
            if guard:
                await _has_ended(guard, 3 * GRACE + 1)
            elif not await _has_ended(process, GRACE):
                _signal(process.pid, signal.SIGTERM)
                await _has_ended(process, GRACE)
        finally:
            _signal(process.pid, _KILL)
            _running.pop(process.pid, None)
            _unguarded.discard(process.pid)
            self._listening.cancel()
            for child in (process, guard):
                if child and (
                    child is process or child.returncode is not None
                ):  # not a guard that is still at work
                    own_processes.discard(child.pid)
                    if transport := getattr(child, "_transport", None):
                        transport.close()  # even if a child keeps the pipes open; it kills one that runs

    async def _listen(self) -> None:
        assert self._process.stderr
        while chunk := await self._process.stderr.read(4096):
            self._stderr = (self._stderr + chunk)[-_TAIL:]


def guard_command(pid: int, mark: str) -> list[str]:
    """The guard of a process group: when its stdin closes, it ends the group and the processes with this mark."""
    return ["/bin/sh", "-c", _BELOW + _GUARD, "guard", str(pid), str(GRACE / 10), f"{MARK}={mark}"]


def branch_guard_command(pid: int) -> list[str]:
    """The guard of a branch, its parent: at the end of stdin, another line or SIGTERM, it ends all below itself."""
    return ["/bin/sh", "-c", _BELOW + _BRANCH_GUARD, "agent_nb branch guard", str(pid)]


def find_program(name: str, search: str | None = None, folder: Path | None = None) -> str | None:
    """Return the path of a program, by name or by a path relative to `folder`."""
    is_path = Path(name).name != name
    return shutil.which(str((folder or Path()) / name) if is_path else name, path=search)


async def _has_ended(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Poll for the exit: `process.wait()` also waits for the pipes, which a child may keep open."""
    end = time.monotonic() + seconds
    while process.returncode is None:
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.01)
    return True


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            os.kill(pid, number)
        else:
            os.killpg(pid, number)


@atexit.register
def _end_all() -> None:
    """End the unguarded programs when this process exits."""
    if os.getpid() == _PID:  # a fork must not end its parent's programs
        for pid in _unguarded:
            _signal(pid, _KILL)
