"""Reads what a cell names, and builds its request: the prompt, bound names, tools and the page's viewer."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from agent_nb._base.threads import off_loop
from agent_nb.core.errors import ConfigError
from agent_nb.engine.approval import read_policy
from agent_nb.engine.description import Description
from agent_nb.engine.draft import CellPrompt
from agent_nb.engine.request import CellRequest
from agent_nb.engine.run_input import InputArgs, open_run
from agent_nb.notebook.front_end import needs_view
from agent_nb.notebook.live.viewer import LiveViewer
from agent_nb.notebook.magic.line import CellLine, read_given_values
from agent_nb.notebook.magic.mcp import absent_tools
from agent_nb.notebook.magic.prompt import read_prompt
from agent_nb.notebook.magic.tool_groups import read_tools
from agent_nb.notebook.page.bindings import Bindings, bind, read_names
from agent_nb.notebook.page.pages import BoundPage, BoundViewer, follow_variables, store_of
from agent_nb.notebook.session import Session
from agent_nb.pages.chromium import installed_viewer
from agent_nb.pages.page_check import PageViewer
from agent_nb.tools import Toolbox


async def read_request(line: CellLine, *, watched: bool) -> tuple[CellRequest, Description]:
    """The request, and its prompt with what the user is told of it.

    It has placeholders for the tools of servers, which start only if no cassette is of this request.
    """
    session, settings = line.session, line.settings
    bindings = await _bind(line)
    cell = CellPrompt(
        text=line.text,
        host=session.host,
        about=line.about,
        uses=line.uses,
        given=read_given_values(session, line.options, line.base, line.rules),
        sends_values=not settings.data,
        connect=partial(_connect_page, session, is_watched=watched),
    )
    prompt = await read_prompt(session, cell, bindings)
    instructions = "\n\n".join(filter(None, (session.defaults.instructions, *cell.instructions)))
    toolbox = await off_loop(_tools, line, cell.tools)
    offered = toolbox.without(line.rules.without_tools)
    inputs = InputArgs(images=prompt.images, base=line.base)
    run_input = await off_loop(partial(open_run, prompt.text, inputs, can_read=any(t.reads for t in offered)))
    request = CellRequest(
        run_input=replace(run_input, names=frozenset(prompt.names)),
        settings=replace(settings, instructions=instructions or None),
        toolbox=offered,
        rules=read_policy(line.rules.approve(line.options.approve, session.defaults.approve), toolbox),
        given={**cell.given, "elements": tuple(prompt.elements)},
        viewer=_viewer(session, bindings, is_shown=watched and not line.options.plain),
        bound=BoundPage(bindings) if bindings else None,
        cell="" if prompt.has_cells else line.text,
        system=line.rules.system,
    )
    return request, prompt


def _tools(line: CellLine, more: Sequence[str]) -> Toolbox:
    names = (*line.options.tools, *more)
    return read_tools(line.session, names, absent_tools(names), schema_only=bool(line.settings.data))


def _connect_page(session: Session, *, is_watched: bool) -> None:
    """Connect to the page before there is a run to show: it is asked for cells of the notebook."""
    if not is_watched or getattr(session.shell, "kernel", None) is None or needs_view():
        return
    from agent_nb.notebook.live.hub import hub

    hub()


def _viewer(session: Session, bindings: Bindings, *, is_shown: bool) -> PageViewer | None:
    """The user's browser, if it shows the run; else headless Chromium, if it is installed."""
    is_shown = is_shown and hasattr(session.shell, "kernel")
    headless: PageViewer | None = installed_viewer()
    headless = BoundViewer(headless, bindings) if headless and bindings else headless
    return LiveViewer(headless) if is_shown else headless


async def _bind(line: CellLine) -> Bindings:
    """The page's bindings: the names of `--bind`, and those of the continued run."""
    session, base, names = line.session, line.base, read_names(line.options.bind or "")
    store = store_of(base.id, base.variant) if base else None
    ipython_names = session.shell.user_ns_hidden
    for name in names:
        if name in ipython_names and ipython_names[name] is session.namespace.get(name):
            raise ConfigError(f"`{name}` belongs to IPython. Bind variables and functions of your own.")
    bindings = bind(names, session.namespace, store.rows if store else {})
    await bindings.encode()
    session.after_cell.add(follow_variables)
    return bindings
