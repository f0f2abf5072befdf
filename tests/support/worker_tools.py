"""Tools for runs in other processes, which import them from here."""

import os
import threading
from pathlib import Path

from agent_nb import tool

CALLS = "TESTS_CALLS"
"""The variable with the file in which `third_time_fatal` counts its calls."""


@tool
def process_number() -> str:
    """Says which process this is."""
    return str(os.getpid())


@tool
def third_time_fatal() -> str:
    """Ends its process when it is called for the third time."""
    with Path(os.environ[CALLS]).open("a+") as calls:
        calls.write("called\n")
        calls.seek(0)
        if len(calls.readlines()) == 3:
            calls.flush()
            os._exit(1)
    return "Still here."


def holding_a_lock():
    """A tool that no process can be sent."""
    lock = threading.Lock()

    @tool(name="guarded")
    def guarded() -> str:
        """Waits its turn."""
        with lock:
            return "Done."

    return guarded
