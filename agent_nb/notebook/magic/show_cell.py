"""Shows a run of a cell, sets its variables when it has ended, and calls what features do with it."""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from agent_nb._base.threads import off_loop, uncancelled
from agent_nb.core.errors import ConfigError
from agent_nb.engine.draft import CellEnd, CellStart
from agent_nb.engine.handle import Handle
from agent_nb.engine.parts import before_view, end_cell, save_cell, start_cell
from agent_nb.notebook.asking import ask_in_text
from agent_nb.notebook.failures import FailedCell, PlainCell
from agent_nb.notebook.front_end import is_attended, on_interrupt
from agent_nb.notebook.magic.decisions import keep_decisions, pick
from agent_nb.notebook.magic.names import assign, set_variables
from agent_nb.notebook.page.pages import succeed
from agent_nb.notebook.retry_cells import written_cell
from agent_nb.notebook.session import Session
from agent_nb.notebook.views.views import View, view_for

if TYPE_CHECKING:
    from agent_nb.notebook.magic.plan import CellRuns


async def show_cell(
    plan: "CellRuns", handle: Handle, cell: str | FailedCell | PlainCell, *, watched: bool
) -> CellEnd | None:
    """Show a run until it has ended; None for one in the background."""
    start, view = _open_view(plan, handle, cell, watched=watched)
    with _ending(handle, view):
        if plan.options.background:
            _show(plan, start, view)
            _in_background(plan, start, view)
            return None
        end, files_name = await _attend(plan, start, view)
        await _finish(plan, handle, view, end, files_name)
    return end


def _open_view(
    plan: "CellRuns", handle: Handle, cell: str | FailedCell | PlainCell, *, watched: bool
) -> tuple[CellStart, View]:
    session, name = plan.session, plan.options.name
    succeed(session.pages.get(name, ""), handle.id)
    session.pages[name] = handle.id
    handle.label(name, plan.key)
    view_options = replace(plan.options, network=plan.options.network and not plan.replays)
    written = written_cell(session.shell, cell if isinstance(cell, str) else "")
    view = view_for(session.shell, handle, view_options, watched=watched, cell=written)
    view.failure = None if isinstance(cell, str) else cell
    return CellStart(handle=handle, host=session.host, given=plan.given, warn=view.warn), view


@contextlib.contextmanager
def _ending(handle: Handle, view: View) -> Iterator[None]:
    """On an unexpected error, stop the run and mark its output as ended."""
    try:
        yield
    except Exception as error:
        handle.stop()
        view.abandon(f"{type(error).__name__}: {error}")
        raise


def check_name_is_free(session: Session, name: str) -> None:
    """Raise `ConfigError` if a background run has this name: the variable is the only way to stop it."""
    if any(handle.name == name for handle in session.background.values()):
        raise ConfigError(
            f"`{name}` is still running in the background. Stop it with `{name}.stop()`, wait with "
            f"`await {name}`, or give this run another name."
        )


def _show(plan: "CellRuns", start: CellStart, view: View) -> None:
    start_cell(start)
    view.start(plan.note)
    plan.rules.follow(start.handle, view.warn)
    view.connect(partial(pick, plan.session, start.handle), partial(keep_decisions, plan.session, start))


async def _attend(plan: "CellRuns", start: CellStart, view: View) -> tuple[CellEnd, str | None]:
    """Show the run until its variables are set. Interrupts only stop it, however many there are."""
    handle = start.handle
    stop = partial(handle.stop, "interrupted")
    # Below an outer magic and in a terminal, Ctrl-C would end the event loop.
    with on_interrupt(lambda *_: stop()):
        try:
            _show(plan, start, view)
            if is_attended(plan.session.shell):
                view.ask_with(partial(ask_in_text, consent=handle.consent, several=len(plan.prepared) > 1))
        except Exception:  # a view may fail in any way; the run is set and saved all the same
            handle.stop()
            raise
        finally:
            ended = await uncancelled(_set(plan, start, view), stop)
    return ended


async def _set(
    plan: "CellRuns", start: CellStart, view: View, *, rebind: bool = True
) -> tuple[CellEnd, str | None]:
    """Wait for the run, set its variables and call what features do with it; the name of its files comes second."""
    session, options, handle = plan.session, plan.options, start.handle
    end = CellEnd(
        run=await handle,
        host=session.host,
        given=plan.given,
        viewer=plan.prepared[0].viewer,
        asks=is_attended(session.shell) and not options.background,
        is_replay=plan.replays,
        is_drawn=view.is_drawn,
        kept=start.kept,
    )
    await end_cell(end)
    handle.result = run = end.run
    files_name = set_variables(session, run) if rebind else None
    await save_cell(end)
    for note in end.notes:
        view.warn(note)
    return end, files_name


async def _finish(plan: "CellRuns", handle: Handle, view: View, end: CellEnd, files_name: str | None) -> None:
    """Show the ended run."""
    if handle.recorded:
        view.warn(handle.recorded)
    await before_view(end)
    view.finish(end.run, files_name, end.paths, end.image)
    for note in await uncancelled(off_loop(plan.rules.end, end.run)):
        view.warn(note)


def _in_background(plan: "CellRuns", start: CellStart, view: View) -> None:
    session, handle = plan.session, start.handle
    assign(session, handle.name, handle)
    session.background[handle.id] = handle

    async def finish() -> None:
        await handle
        session.background.pop(handle.id, None)
        # The user may have reassigned the name in the meantime.
        rebind = session.namespace.get(handle.name) is handle
        with _ending(handle, view):
            end, files_name = await _set(plan, start, view, rebind=rebind)
            await _finish(plan, handle, view, end, files_name)
        for _, message in end.errors:
            view.warn(message)

    task = asyncio.get_running_loop().create_task(finish())
    session.finishing.add(task)
    task.add_done_callback(session.finishing.discard)
