"""The ports of programs that tests start, whether processes are still there, and how they are ended."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def hold_port() -> Iterator[int]:
    """A port for a server that must be given one. As long as it is held, Linux gives it to no other program that asks
    for any port, and a server that names it can bind it, because both sockets allow the address to be used again."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        if sys.platform != "linux":
            held.close()  # elsewhere the server could not bind it
        yield port


def ended(pid: int) -> bool:
    """Whether a process has ended. One that nobody waits for stays as a zombie in some containers."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except ProcessLookupError:
        return True
    except FileNotFoundError:  # no /proc here
        return False


def end(process: "subprocess.Popen[bytes]") -> None:
    """Ends a server with SIGTERM, which also ends its kernels; if it does not, with SIGKILL."""
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(5)
