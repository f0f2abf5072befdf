"""Other programs, such as MCP servers and outside agents: each in a process group of its own, with bounded streams.

None of them outlives this process. A shell guards each one: when its pipe from here closes, because the program is to
end or because this process was killed, it ends the program's group and what the program has started outside it.
"""

import asyncio
import atexit
import contextlib
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
"""Bytes of one message, such as a result with images."""
GRACE = 1.0
"""Seconds that a program has to end by itself when its stdin closes, and again after SIGTERM."""
_TAIL = 2_000
"""Bytes of stderr that are kept."""
_KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL
_PID = os.getpid()
_MARK = "AGENT_NB_PROGRAM"
"""A variable by which the guard finds what has left the program's group and tree, where there is `/proc`."""
_GUARD = """
read line
mark=$3
marked() {
  grep -alsF "$mark" /proc/[0-9]*/environ | cut -d/ -f3
}
below() {
  ps -A -o pid= -o ppid= | while read pid parent; do
    if [ "$parent" = "$1" ]; then below "$pid"; echo "$pid"; fi
  done
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

_running: dict[int, asyncio.subprocess.Process] = {}
"""The programs that have not ended, by pid."""
_unguarded: set[int] = set()
"""Those of them that have no guard: on Windows, or where there is no shell."""


class ProgramError(Exception):
    """A program cannot be started; the message says why."""


class Program:
    """A running program that exchanges lines with us, and what it leaves to say when it has ended."""

    def __init__(self, process: asyncio.subprocess.Process, guard: asyncio.subprocess.Process | None) -> None:
        self._process, self._guard = process, guard
        self._stderr = b""
        self.problem = ""
        """Why nothing more is read from it, if that is not its own end."""
        self._listening = asyncio.create_task(self._listen())
        _running[process.pid] = process
        if guard is None:
            _unguarded.add(process.pid)

    @classmethod
    async def start(cls, command: Sequence[str], *, env: Mapping[str, str], folder: Path | None) -> "Program":
        """Starts a command; raises `ProgramError` if that is not possible."""
        found = find_program(command[0], env.get("PATH"), folder)
        if found is None:
            raise ProgramError(f"There is no program {command[0]!r} to start it with.")
        pipe, mark = asyncio.subprocess.PIPE, secrets.token_hex(8)
        try:
            process = await asyncio.create_subprocess_exec(
                found,
                *command[1:],
                env={**env, _MARK: mark},
                cwd=folder,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                limit=MAX_LINE,
                start_new_session=True,  # the interrupt of a terminal does not reach it
            )
        except (OSError, ValueError) as error:
            raise ProgramError(f"{command[0]!r} cannot be started: {error}.") from None
        guard = None
        if sys.platform != "win32":
            arguments = ("-c", _GUARD, "guard", str(process.pid), str(GRACE / 10), f"{_MARK}={mark}")
            nowhere = asyncio.subprocess.DEVNULL
            with contextlib.suppress(OSError):
                guard = await asyncio.create_subprocess_exec(
                    "/bin/sh", *arguments, stdin=pipe, stdout=nowhere, stderr=nowhere, start_new_session=True
                )
        return cls(process, guard)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs. A launcher may have ended while its child still holds the pipes."""
        return self._process.returncode

    @property
    def last_line(self) -> str:
        """The last line that it wrote to stderr."""
        lines = self._stderr.decode(errors="replace").strip().splitlines()
        return printable_line(lines[-1])[:300] if lines else ""

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines that it writes to stdout, until it ends."""
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
        """Raises `OSError` if it has ended, or no longer reads."""
        assert self._process.stdin
        self._process.stdin.write(data)
        await self._process.stdin.drain()

    async def wait(self) -> None:
        """Waits a moment for its exit code and its last words, after its output has ended."""
        await _has_ended(self._process, GRACE)
        await asyncio.wait({self._listening}, timeout=GRACE)

    async def end(self) -> None:
        """Closes stdin, which asks it to end; then ends it and what it has started."""
        process, guard = self._process, self._guard
        for each in (process, guard):
            if each and each.stdin:
                each.stdin.close()
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
            for each in (process, guard):
                if transport := getattr(each, "_transport", None):
                    transport.close()  # also if a child holds the pipes open

    async def _listen(self) -> None:
        assert self._process.stderr
        while chunk := await self._process.stderr.read(4096):
            self._stderr = (self._stderr + chunk)[-_TAIL:]


def find_program(name: str, search: str | None = None, folder: Path | None = None) -> str | None:
    """The path of a program, by its name or by a path that may start in `folder`."""
    is_path = Path(name).name != name
    return shutil.which(str((folder or Path()) / name) if is_path else name, path=search)


async def _has_ended(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Not `process.wait()`, which also waits for the pipes, and a child of the program may hold those open."""
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
    """Ends the programs that have no guard when this process exits."""
    if os.getpid() == _PID:  # a fork shares the programs with its parent
        for pid in _unguarded:
            _signal(pid, _KILL)
