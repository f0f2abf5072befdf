"""Whether processes are still there, and how they are ended."""

import os
import subprocess
from pathlib import Path


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
