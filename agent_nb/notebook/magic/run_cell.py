"""Runs one `%%agent` cell: plan, start, show, set the variables, save."""

import asyncio
import contextlib
import importlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from agent_nb._base.threads import off_loop, uncancelled
from agent_nb.cassette.player import ReplayProvider
from agent_nb.core.errors import ConfigError, MissingKeyError
from agent_nb.core.messages import Document, Image, Text, Usage
from agent_nb.core.options import Options
from agent_nb.engine.cost import estimate_tokens
from agent_nb.engine.draft import CellEnd, CellStart
from agent_nb.engine.handle import Handle
from agent_nb.engine.parts import before_view, end_cell, save_cell, start_cell
from agent_nb.engine.start import VariantsHandle
from agent_nb.notebook.asking import ask_in_text
from agent_nb.notebook.failures import FailedCell, PlainCell
from agent_nb.notebook.front_end import CellError, RunStopped, is_attended, is_watched, on_interrupt, say
from agent_nb.notebook.magic.cell_input import CellPlan
from agent_nb.notebook.magic.key_command import missing_key
from agent_nb.notebook.magic.names import assign, set_variables
from agent_nb.notebook.magic.plan import make_plan
from agent_nb.notebook.notebook_tools.proposals import with_decisions
from agent_nb.notebook.page.pages import succeed
from agent_nb.notebook.retry_cells import written_cell
from agent_nb.notebook.session import Session
from agent_nb.notebook.values.value_masking import mask_environment
from agent_nb.notebook.views.views import View, view_for
from agent_nb.plugins import plugins
from agent_nb.run import Run
from agent_nb.run.manifest import package_versions
from agent_nb.run.run import total_cost


def warm_up(shell: Any) -> None:
    """Import what the first run needs. Called in a thread, so it does not block the kernel's loop."""
    for name in ("fastjsonschema", "filelock", "markdown_it"):
        with contextlib.suppress(ImportError):  # Pyodide has no filelock
            importlib.import_module(name)
    importlib.import_module("agent_nb.notebook.parsing")
    plugins()
    package_versions()  # fills the cache: it reads files, and each run's fingerprint needs it
    if hasattr(shell, "kernel") and is_attended(shell):
        importlib.import_module("agent_nb.notebook.live.hub")


async def run_cell(session: Session, options: Options, cell: str | FailedCell | PlainCell) -> None:
    """Run the cell and set NAME and `files`, however the run ends."""
    watched = await is_watched(session.shell)
    mask_environment()
    try:
        plan = await make_plan(session, options, cell, watched=watched)
        if plan.options.dry_run:
            show_dry_run(plan)
            return
        _check_name_is_free(session, plan.options.name)
        handle = plan.start()
        succeed(session.pages.get(plan.options.name, ""), handle.id)
        session.pages[plan.options.name] = handle.id
    except MissingKeyError as error:
        raise ConfigError(missing_key(session, error)) from None
    handle.label(plan.options.name, plan.key)
    view_options = replace(plan.options, network=plan.options.network and not plan.replays)
    written = written_cell(session.shell, cell if isinstance(cell, str) else "")
    view = view_for(session.shell, handle, view_options, watched=watched, cell=written)
    view.failure = None if isinstance(cell, str) else cell
    start = CellStart(handle=handle, host=session.host, given=plan.given, warn=view.warn)
    with _ending(handle, view):
        if plan.options.background:
            _show(plan, start, view)
            _in_background(plan, start, view)
            return
        end, files_name = await _attend(plan, start, view)
        await _finish(plan, handle, view, end, files_name)
    run = end.run
    # A replay ends as its recording did, and an interrupted question ends its run without `stop`.
    is_stopped = handle.is_stopped or (run.reason == "interrupted" and not plan.replays)
    if is_stopped and end.raises:
        raise RunStopped(f"`{run.name}` contains the results so far.")
    if run.reason == "failed" and end.raises:
        raise CellError("AgentFailed", run.error or "The run failed.")
    for title, message in end.errors:
        raise CellError(title, message)
    if run.failed_check:
        raise CellError("CheckFailed", run.failed_check)


@contextlib.contextmanager
def _ending(handle: Handle, view: View) -> Iterator[None]:
    """On an unexpected error, stop the run and mark its output as ended."""
    try:
        yield
    except Exception as error:
        handle.stop()
        view.abandon(f"{type(error).__name__}: {error}")
        raise


def _check_name_is_free(session: Session, name: str) -> None:
    """Raise `ConfigError` if a background run has this name: the variable is the only way to stop it."""
    if any(handle.name == name for handle in session.background.values()):
        raise ConfigError(
            f"`{name}` is still running in the background. Stop it with `{name}.stop()`, wait with "
            f"`await {name}`, or give this run another name."
        )


def _show(plan: CellPlan, start: CellStart, view: View) -> None:
    start_cell(start)
    view.start(plan.note)
    plan.rules.follow(start.handle, view.warn)
    view.connect(partial(pick, plan.session, start.handle), partial(keep_decisions, plan.session, start))


async def _attend(plan: CellPlan, start: CellStart, view: View) -> tuple[CellEnd, str | None]:
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
    plan: CellPlan, start: CellStart, view: View, *, rebind: bool = True
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


async def _finish(plan: CellPlan, handle: Handle, view: View, end: CellEnd, files_name: str | None) -> None:
    """Show the ended run."""
    if handle.recorded:
        view.warn(handle.recorded)
    await before_view(end)
    view.finish(end.run, files_name, end.paths, end.image)
    for note in await uncancelled(off_loop(plan.rules.end, end.run)):
        view.warn(note)


def pick(session: Session, handle: Handle, number: int) -> tuple[Run, str | None] | None:
    """Set the variables to a variant, counted from 1; return it and the name of its files variable.

    If other variants are still running, stops them and returns None; the cell sets the variables when they have ended.
    """
    run = handle.result
    if run is None:
        if not isinstance(handle, VariantsHandle):
            raise ConfigError("There is nothing to pick: this run has no variants.")
        handle.pick(number)
        return None
    current = session.namespace.get(run.name)
    if not isinstance(current, Run) or current.id != run.id:
        raise ConfigError(f"`{run.name}` no longer refers to this run. Run the cell again.")
    if current.given_files is not None:
        raise ConfigError(
            f"`{run.name}` has your own edits, which picking a variant would discard. Run the cell again to pick."
        )
    variant = current.pick(number)
    return variant, set_variables(session, variant)


def keep_decisions(session: Session, start: CellStart, run: Run) -> str:
    """Set the variable to the run with the user's decisions about its changes of cells, and save it again.

    Returns its path; empty if it is not saved.
    """
    current = session.namespace.get(run.name)
    if isinstance(current, Run) and current.id == run.id:
        session.namespace[run.name] = with_decisions(current, run.decided)
    if start.keep:
        with contextlib.suppress(OSError):
            return start.keep(run).relative_to(session.home).as_posix()
    return ""


def _in_background(plan: CellPlan, start: CellStart, view: View) -> None:
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


def show_dry_run(plan: CellPlan) -> None:
    prepared = plan.prepared[0]
    system, messages, tools = prepared.system, prepared.messages, prepared.tools
    if isinstance(replay := prepared.provider, ReplayProvider):
        tools = replay.recorded.tools
    tokens = estimate_tokens(messages, system, tools)
    costs = [item.price(Usage(input=tokens)) for item in plan.prepared]
    cost = total_cost(costs)
    lines = [
        f"Dry run, nothing sent. {_source(plan)}",
        f"About {tokens * len(costs):,} input tokens"
        + (f", ${cost:.4f}," if cost is not None else "")
        + f" for the first turn{'' if len(costs) == 1 else f' of all {len(costs)}'}.",
        f"Tools: {', '.join(spec.name for spec in tools) or 'none'}",
        *prepared.left_out,
        *prepared.settings.dry_run_lines(),
        *plan.dry_run,
        f"System text ({len(system):,} characters):",
        _indented(system),
    ]
    for message in messages:
        lines.append(f"{message.role}:")
        for part in message.parts:
            match part:
                case Text(text):
                    lines.append(_indented(text.strip()))
                case Image() | Document():
                    lines.append(
                        f"    ({part.type} {part.name or part.media_type}, {len(part.data):,} bytes)"
                    )
                case _:
                    lines.append(f"    ({part.type})")
    say("\n".join(lines))


def _source(plan: CellPlan) -> str:
    """The source of the answer: `Model: demo`, `Models: demo (3), ollama:qwen3` or a cassette."""
    counts = Counter(name.removesuffix(":") for name in plan.models)
    names = ", ".join(name if count == 1 else f"{name} ({count})" for name, count in counts.items())
    if isinstance(replay := plan.prepared[0].provider, ReplayProvider):
        return f"Cassette: {replay.path}, recorded with {names}"
    return f"Model{'' if len(counts) == 1 else 's'}: {names}"


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())
