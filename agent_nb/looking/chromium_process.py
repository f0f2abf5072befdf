"""A headless Chromium with a profile of its own, spoken to through a pair of sockets.

It always ends: with its check, with the event loop's task, at the exit of this process, and, because Chromium ends
itself when its socket closes, also if this process is killed.
"""

import asyncio
import atexit
import contextlib
import fcntl
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from agent_nb._base.threads import off_loop

MAX_MESSAGE = 48_000_000
"""Bytes of one message, such as a screenshot. A page can make longer ones, and then the check ends."""
_FIRST_FREE = 10
"""Chromium reads from descriptor 3 and writes to 4, so what becomes these must not have their numbers."""
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "TZ")
"""What Chromium gets of the environment; the rest may hold keys."""
_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-sync",
    "--disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,DnsOverHttps",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--hide-scrollbars",
    "--js-flags=--max-old-space-size=512",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
)

_running: dict[int, Path] = {}
"""The processes that have not been ended, with their profiles."""


@contextlib.asynccontextmanager
async def running(
    path: str, hosts: Sequence[str], *, sandbox: bool
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Starts Chromium, and ends it. It resolves no names except these hosts."""
    profile = Path(tempfile.mkdtemp(prefix="agent_nb-chromium-"))
    excluded = "".join(f", EXCLUDE {host}" for host in hosts)
    arguments = [
        path,
        *_FLAGS,
        f"--user-data-dir={profile}",
        f"--host-resolver-rules=MAP * ~NOTFOUND{excluded}",
        *([] if sandbox else ["--no-sandbox"]),
        "about:blank",
    ]
    ours, theirs = socket.socketpair()
    with ours:
        try:
            with theirs:
                pid = _spawn(path, arguments, profile, theirs)
        except OSError:
            shutil.rmtree(profile, ignore_errors=True)
            raise
        _running[pid] = profile
        try:
            reader, writer = await asyncio.open_connection(sock=ours, limit=MAX_MESSAGE)
            try:
                yield reader, writer
            finally:
                writer.transport.abort()
        finally:
            os.killpg(pid, signal.SIGKILL)
            await asyncio.shield(off_loop(_clean_up, pid))


def _spawn(path: str, arguments: list[str], profile: Path, theirs: socket.socket) -> int:
    """`posix_spawn` sets the descriptors without running Python in a fork of a process that has threads."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    folders = dict.fromkeys(("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), str(profile))
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    end = fcntl.fcntl(theirs, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
    both = [(os.POSIX_SPAWN_DUP2, end, number) for number in (3, 4)]
    try:
        # A process group of its own: the interrupt of a terminal does not reach it, and one signal ends all of it.
        return os.posix_spawn(
            path, arguments, {**environment, **folders}, file_actions=[*quiet, *both], setpgroup=0
        )
    finally:
        os.close(end)


def _clean_up(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
    if profile := _running.pop(pid, None):
        shutil.rmtree(profile, ignore_errors=True)


@atexit.register
def _end_all() -> None:
    for pid in list(_running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        _clean_up(pid)
