"""`%%agent` and `%agent` as IPython magics: registration and help.

`%load_ext agent_nb` imports this module, so it stays light; `run_cell.py` does the work, and the first run imports it.
"""

import asyncio
import contextlib
import importlib
import inspect
import sys
import textwrap
import threading
from collections.abc import Callable
from functools import partial
from importlib.machinery import PathFinder
from typing import Any

from IPython import get_ipython
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from traitlets import observe

from agent_nb._base.installed import InstalledFirst
from agent_nb._base.late import PAGE_LOADERS, SECRET_SOURCES, late
from agent_nb._base.threads import CannotBlockError, off_loop, run_blocking, start_thread, ticking
from agent_nb.engine.batch.tally import watch_with
from agent_nb.notebook.front_end import is_attended, page_question, short_interrupts, usage_errors
from agent_nb.notebook.ipython7 import add_matcher, completion_matcher
from agent_nb.notebook.session import MagicSettings, Session, default_model, secret_source

_DISPLAYED_TYPES = (
    ("agent_nb.run.run", "Run"),
    ("agent_nb.engine.handle", "RunHandle"),
    ("agent_nb.engine.start", "VariantsHandle"),
)
"""Types that are displayed as a run when they are a cell's result."""
_run_cell = late("agent_nb.notebook.magic.run_cell", "run_cell")
_pointer = late("agent_nb.notebook.magic.commands", "pointer")
_AGENT_CELL = "__import__('agent_nb.notebook.magic.magics', fromlist=['magics']).agent_cell"


class CellRewriter:
    """An input transformer that turns a `%%agent` cell into `await ...`, so that it runs on the kernel's own loop.

    IPython does not await a magic's return value, but it does run a cell with a top-level `await`. Run All, interrupts
    and comm messages then work as in any other cell, and no loop is nested.

    Below an outer magic (`%%time`, `%%capture`) IPython transforms the inner cell while the outer one is executing.
    An `await` would be an error there, so the cell is left to the plain magic.
    """

    def __init__(self, shell: Any, magic_name: str, waits: Callable[[str], bool]) -> None:
        self.shell, self.magic_name = shell, magic_name
        self._waits = waits
        """Whether the cell awaits the command of this line."""
        self._cells: list[asyncio.Task[Any] | None] = []
        """The task of each executing cell; None for a cell outside of a task."""

    @property
    def executing(self) -> int:
        """Number of executing cells. JupyterLite does not report the end of a cell with an `await`; its task does."""
        self._cells = [task for task in self._cells if task is None or not task.done()]
        return len(self._cells)

    def __call__(self, lines: list[str]) -> list[str]:
        if self.executing or not getattr(self.shell, "autoawait", True):
            return lines
        start = next(
            (i for i, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")), None
        )
        if start is None:
            return lines
        head = lines[start].rstrip("\n")
        magic, _, args = head.partition(" ")
        body = "".join(lines[start + 1 :])
        if magic == f"%{self.magic_name}" and args[-1:] != "\\" and self._waits(args):
            return [f"await {_AGENT_CELL}({args!r}, None)\n", *lines[start + 1 :]]
        if magic.rstrip() != f"%%{self.magic_name}":
            return lines
        return [f"await {_AGENT_CELL}({args!r}, {body!r})\n"]

    def begin_cell(self, *_: Any) -> None:
        try:
            self._cells.append(asyncio.current_task())
        except RuntimeError:  # no loop is running
            self._cells.append(None)

    def end_cell(self, *_: Any) -> None:
        if self.executing:  # we get no `pre_run_cell` for the cell with `%load_ext`
            self._cells.pop()


async def agent_cell(line: str, cell: str | None) -> None:
    """Run a rewritten cell, or a command if there is no prompt."""
    magics = get_ipython().magics_manager.registry["AgentMagics"]
    with short_interrupts():
        await magics.run_cell(line, cell)


@magics_class
class AgentMagics(Magics, MagicSettings):
    """Defaults for `%%agent`, set with `%config AgentMagics.<name> = <value>`."""

    def __init__(self, shell: Any, **traits: Any) -> None:
        self.add_defaults_in(shell.config)
        super().__init__(shell=shell, **traits)
        self.session: Session = late("agent_nb.notebook.magic.host", "NotebookHost")(shell, self)
        self.rewriter = CellRewriter(shell, self.magic_name, self.waits)
        self.on_unload = contextlib.ExitStack()
        self.imported = threading.Event()
        """Cleared while a thread imports our modules: importing a package in two threads at once can fail."""
        self.imported.set()

    @no_var_expand
    @line_cell_magic
    def agent(self, line: str, cell: str | None = None) -> None:
        """%%agent [NAME] [OPTION]...
          The prompt, on the lines below.

        Ask a model to make files, and watch it work.

        The cell's text is the prompt; `{{name}}` inserts a variable. When the cell ends, NAME is a Run
        (`run.files`, `run.text`, `run.cost`) and `files` holds its files.

            %%agent hero -m anthropic:claude-opus-5-5
            A landing page for a small bakery in Lyon, warm colours, opening hours.

        Without a key and without `-m`, the offline demo model answers. A matching cassette, written by
        `--record`, replays. Running a cell again replaces NAME; `%agent undo hero` restores the run before.

        `%agent help` explains every option and command, and so does docs/reference.md.
        """
        if cell is None and not self.waits(line):
            from agent_nb.notebook.magic.commands import run_command

            run_command(self.session, line)
            return
        try:
            with short_interrupts():
                run_blocking(self.run_cell(line, cell))
        except CannotBlockError as error:
            raise UsageError(str(error)) from None

    def waits(self, line: str) -> bool:
        """Whether the command of a line has to be awaited."""
        self.imported.wait()
        from agent_nb.notebook.magic.commands import find_command

        command = find_command(line.strip().partition(" ")[0])
        return command is not None and command.waits

    async def run_cell(self, line: str, cell: str | None) -> None:
        """Run one `%%agent` cell, or a command that waits. The rewritten cell awaits this."""
        with ticking(), usage_errors(partial(_pointer, self.session)):
            await off_loop(self.imported.wait)
            warm_up = await off_loop(importlib.import_module, "agent_nb.notebook.magic.warm_up")
            await off_loop(warm_up.warm_up, self.shell)
            from agent_nb.notebook.parsing import parse_line

            if cell is not None:
                await _run_cell(self.session, parse_line(line, self.magic_name), cell)
                return
            from agent_nb.notebook.magic.commands import await_command

            if request := await await_command(self.session, line):
                await _run_cell(self.session, *request)

    @completion_matcher(identifier="agent_nb", priority=100, api_version=2)
    def complete(self, context: Any) -> dict[str, Any]:
        """Tab completion. Its priority saves IPython from running its own matchers first."""
        from agent_nb.notebook.magic.completion import complete

        return complete(self.session, context)

    @observe("magic_name")
    def _rename(self, change: Any) -> None:
        if getattr(self, "rewriter", None):
            self._unregister(change["old"])
            self.rewriter.magic_name = change["new"]
            self.register_name()

    def register_name(self) -> None:
        manager = self.shell.magics_manager
        for kind in ("line", "cell"):
            manager.register_function(self.agent, magic_kind=kind, magic_name=self.magic_name)

    def _unregister(self, name: str) -> None:
        for table in self.shell.magics_manager.magics.values():
            table.pop(name, None)


def _help() -> str:
    from agent_nb.core.options import OPTIONS

    flags = ", ".join(" ".join(filter(None, (*option.flags, option.metavar))) for option in OPTIONS.values())
    lines = textwrap.fill(flags, 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return f"{inspect.getdoc(AgentMagics.agent)}\n\nOptions:\n{lines}"


AgentMagics.agent.getdoc = _help  # IPython calls it for `%%agent?`


def load(shell: Any) -> None:
    unload(shell)
    magics = AgentMagics(shell)
    shell.register_magics(magics)
    magics.register_name()
    rewriter, undo = magics.rewriter, magics.on_unload.callback
    transforms = shell.input_transformer_manager.line_transforms
    transforms.insert(0, rewriter)
    undo(_remove, transforms.remove, rewriter)
    undo(_remove, add_matcher(shell, magics.complete))
    formatter = shell.display_formatter.mimebundle_formatter
    for module, name in _DISPLAYED_TYPES:
        formatter.for_type_by_name(module, name, late("agent_nb.notebook.views.views", "show_run"))
        undo(_remove, formatter.pop, f"{module}.{name}")
    finder = InstalledFirst(magics.session.home)
    sys.meta_path.insert(sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else 0, finder)
    undo(_remove, sys.meta_path.remove, finder)
    PAGE_LOADERS[:] = [partial(importlib.import_module, "agent_nb.notebook.page.pages")]
    SECRET_SOURCES.append(source := secret_source(shell))
    undo(_remove, SECRET_SOURCES.remove, source)
    watch_with(partial(late("agent_nb.notebook.views.progress_bar", "ProgressBar"), shell))
    undo(watch_with, None)

    def begin(*_: Any) -> None:
        _remove(shell.events.unregister, "post_run_cell", begin)
        _preload(shell, magics.imported)

    ends = (("post_run_cell", end) for end in (rewriter.end_cell, magics.session.note_end, begin))
    for event, function in (("pre_run_cell", rewriter.begin_cell), *ends):
        shell.events.register(event, function)
        undo(_remove, shell.events.unregister, event, function)


def unload(shell: Any) -> None:
    """`%unload_ext agent_nb`: stops background runs, ends branches and removes everything that `load` registered."""
    magics = shell.magics_manager.registry.pop("AgentMagics", None)
    if magics is None:
        return
    for handle in list(magics.session.background.values()):
        handle.stop()
    if module := sys.modules.get("agent_nb.notebook.kernel_tools.kept_branches"):
        module.KEPT.end(*module.KEPT)
    if magics.session.servers:
        from agent_nb.notebook.magic.mcp import stop_servers

        stop_servers(magics.session)
    magics.on_unload.close()
    magics._unregister(magics.magic_name)
    magics._unregister("agent")
    if magics in shell.configurables:
        shell.configurables.remove(magics)


def _preload(shell: Any, imported: threading.Event) -> None:
    """Import what the first run needs, once the cell with `%load_ext` has ended.

    Without a user to ask, it only starts looking for a connected page: an unattended notebook must not wait, and may
    use another model.
    """
    if hasattr(shell, "kernel") and is_attended(shell):
        imported.clear()
        if start_thread("preload", partial(_import_for_run, shell, imported)) is None:
            imported.set()
    elif hasattr(shell, "kernel"):
        page_question.ask()


def _import_for_run(shell: Any, imported: threading.Event) -> None:
    try:
        from agent_nb.notebook.magic.warm_up import warm_up
        from agent_nb.providers import model
        from agent_nb.providers.streaming import VendorClient

        warm_up(shell)
    finally:
        imported.set()
    with contextlib.suppress(Exception):  # the run reports the error
        provider = model(default_model())
        if isinstance(provider, VendorClient):
            provider.preload()
            importlib.import_module("genai_prices.data")


def _remove(remove: Callable[..., Any], *arguments: Any) -> None:
    with contextlib.suppress(KeyError, ValueError):  # already removed
        remove(*arguments)
