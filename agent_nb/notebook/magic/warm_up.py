"""Imports what the first run needs, while nobody waits for it."""

import contextlib
import importlib
from typing import Any

from agent_nb.notebook.front_end import is_attended
from agent_nb.plugins import plugins
from agent_nb.run.manifest import package_versions


def warm_up(shell: Any) -> None:
    """Import what the first run needs. Called in a thread, so it does not block the kernel's loop."""
    for name in ("fastjsonschema", "filelock", "markdown_it"):
        with contextlib.suppress(ImportError):  # Pyodide has no filelock
            importlib.import_module(name)
    importlib.import_module("agent_nb.notebook.magic.run_cell")
    importlib.import_module("agent_nb.notebook.parsing")
    plugins()
    package_versions()  # fills the cache: it reads files, and each run's fingerprint needs it
    if hasattr(shell, "kernel") and is_attended(shell):
        importlib.import_module("agent_nb.notebook.live.hub")
