"""Whether processes are still there."""

import os
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
