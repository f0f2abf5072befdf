"""A plain IPython shell in this process: everything of the magic that needs no kernel, in milliseconds."""

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.completer import Completion, provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from agent_nb import Agent, Run, model
from agent_nb.core.options import Options
from agent_nb.notebook.magic.magics import AgentMagics
from agent_nb.notebook.parsing import parse_line
from agent_nb.notebook.session import Session


@dataclass
class Cell:
    """What running a cell gave back."""

    ok: bool
    stdout: str
    stderr: str
    displays: list[dict[str, Any]] = field(default_factory=list)
    error: BaseException | None = None


class Shell:
    """One shell with the extension loaded, working in a folder of its own."""

    def __init__(self, ipython: InteractiveShell) -> None:
        self.ipython = ipython
        self.names: dict[str, Any] = ipython.user_ns

    @property
    def magics(self) -> AgentMagics:
        return self.ipython.magics_manager.registry["AgentMagics"]

    @property
    def session(self) -> Session:
        return self.magics.session

    def options(self, line: str) -> Options:
        """The options as the magic reads them from its first line."""
        return parse_line(line, self.magics.magic_name)

    def run(self, code: str) -> Cell:
        with capture_output() as seen:
            result = self.ipython.run_cell(code, store_history=True)
        return Cell(
            ok=bool(result.success),
            stdout=seen.stdout,
            stderr=seen.stderr,
            displays=[output.data for output in seen.outputs],
            error=result.error_before_exec or result.error_in_exec,
        )

    def complete(self, code: str, cursor: int | None = None) -> list[Completion]:
        """What Tab offers at the end of a cell, or at the cursor, as kernels and the terminal ask for it."""
        with provisionalcompleter():
            return list(self.ipython.Completer.completions(code, len(code) if cursor is None else cursor))


@contextmanager
def start_shell(home: Path, **traits: Any) -> Iterator[Shell]:
    """A shell whose working directory is `home`. A process has one at a time. `traits` are those of IPython's shell."""
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "nocolor"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        patch.setenv("IPYTHONDIR", str(home / ".ipython"))
        InteractiveShell.clear_instance()
        ipython = InteractiveShell.instance(config=config, **traits)
        # From version 9 on, IPython keeps the outputs of all shells of a process in one place.
        getattr(ipython.history_manager, "outputs", {}).clear()
        try:
            ipython.run_line_magic("load_ext", "agent_nb")
            yield Shell(ipython)
        finally:
            ipython.run_line_magic("unload_ext", "agent_nb")
            ipython.history_manager.end_session()
            ipython.restore_sys_module_state()  # `__main__` is pytest's again
            InteractiveShell.clear_instance()
            atexit.unregister(ipython.atexit_operations)  # would keep the shell and all its variables
            ipython.user_ns.clear()


def quick_run(prompt: str = "A form") -> Run:
    """A finished run of the demo, in no time."""
    return Agent(model("demo:", pace=0)).run_sync(prompt)


def in_kernel(*, allow_stdin: bool) -> SimpleNamespace:
    """A shell that looks like a kernel's; `allow_stdin` says whether somebody watches."""
    return SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=allow_stdin))
