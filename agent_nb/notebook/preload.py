"""Imports what the first run needs, in a thread, once the cell with `%load_ext` has ended."""

import contextlib
import importlib
from functools import partial
from typing import Any

from agent_nb._base.threads import start_thread
from agent_nb.notebook.front_end import ask_page, is_attended


def preload(shell: Any) -> None:
    """Begins, unless nobody watches: a notebook that runs by itself waits for nothing and may use another model."""
    ask_page(shell)
    if hasattr(shell, "kernel") and is_attended(shell):
        start_thread("preload", partial(_import, shell))


def _import(shell: Any) -> None:
    from agent_nb.notebook.session import default_model
    from agent_nb.providers import model
    from agent_nb.providers.streaming import VendorClient

    importlib.import_module("agent_nb.notebook.magic.run_cell").warm_up(shell)
    with contextlib.suppress(Exception):  # a run tells the user what is wrong
        provider = model(default_model())
        if isinstance(provider, VendorClient):
            provider.preload()
            importlib.import_module("genai_prices.data")
