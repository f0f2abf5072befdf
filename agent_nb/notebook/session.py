"""Session: what lasts from one `%%agent` cell to the next."""

import asyncio
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython import get_ipython

from agent_nb._base.model_name import DEMO_MODEL
from agent_nb.errors import ConfigError
from agent_nb.notebook.failures import Failures
from agent_nb.notebook.front_end import cell_id
from agent_nb.notebook.magic_settings import Settings

if TYPE_CHECKING:  # loading these takes longer than `%load_ext` may
    from agent_nb.engine.handle import Handle
    from agent_nb.files import Files
    from agent_nb.tools.mcp.server import Server

UNDO_LIMIT = 10
"""Runs kept for `%agent undo`; few, because a run holds all its events and files."""


class Session:
    def __init__(self, shell: Any, defaults: Settings) -> None:
        self.shell = shell
        self.defaults = defaults
        self.home = Path.cwd()
        """The working directory at `%load_ext`; relative paths start here, wherever the user goes later."""
        self.background: dict[str, Handle] = {}
        self.finishing: set[asyncio.Task[None]] = set()
        self.replaced: deque[tuple[str, Any]] = deque(maxlen=UNDO_LIMIT)
        """Names and what they held before, newest last."""
        self.servers: dict[str, Server] = {}
        self.middleware: list[str] = []
        self.ended: deque[tuple[str, float]] = deque(maxlen=10)
        """The sources of the last cells that have run and when they ended, the newest last."""
        self.pages: dict[str, str] = {}
        """The id of the newest run of each name, whose page the next one of that name replaces."""
        self.failures = Failures()
        self.demo_noted = False
        """Whether a cell has said that the demo model answers because there is no key."""
        self.bound_files: Files | None = None
        """The last value we gave to `files`. Anything else under that name belongs to the user."""

    @property
    def namespace(self) -> dict[str, Any]:
        namespace: dict[str, Any] = self.shell.user_ns
        return namespace

    def note_end(self, result: Any) -> None:
        """Called by IPython after each cell."""
        source = getattr(getattr(result, "info", None), "raw_cell", None) or ""
        self.ended.append((source, time.time()))
        if source and not source.lstrip().lstrip("%").startswith(self.defaults.magic_name):
            self.failures.note(result, cell_id(self.shell))

    def command(self, text: str) -> str:
        return f"%{self.defaults.magic_name} {text}"


def settings(shell: Any = None) -> Settings:
    """The settings of this kernel; the defaults where the extension is not loaded."""
    shell = shell or get_ipython()
    loaded = shell.magics_manager.registry.get("AgentMagics") if shell is not None else None
    return loaded or Settings()


def default_model() -> str:
    """The model of cells that name none; empty if the configured one is unknown."""
    from agent_nb.providers import default_model_name, full_name

    named = settings().named_model
    try:
        return full_name(named) if named else default_model_name() or full_name(DEMO_MODEL)
    except ConfigError:
        return ""


_hubs: list[Any] = []


def shown_hub() -> Any:
    """The kernel's `Hub`; None if no run was shown in the page."""
    return _hubs[0] if _hubs else None


def set_hub(hub: Any) -> None:
    """Called by the `Hub` of this kernel, whose module takes long to import."""
    _hubs[:] = [hub]
