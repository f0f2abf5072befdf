"""Runs one `%%agent` cell: plan, start, show, set the variables, save."""

import asyncio
import contextlib
import importlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from agent_nb._base.atomic import FOLDER, not_ours
from agent_nb._base.constants import is_demo
from agent_nb._base.secrets import mask, safe_text
from agent_nb._base.text import printable
from agent_nb._base.threads import off_loop, ticking, uncancelled
from agent_nb.cassette.player import ReplayProvider
from agent_nb.core.errors import ConfigError, FileError, MissingKeyError
from agent_nb.core.events import ENDINGS
from agent_nb.core.messages import Document, Image, Text, Usage
from agent_nb.core.options import Options
from agent_nb.engine.cost import estimate_tokens
from agent_nb.engine.handle import Handle
from agent_nb.engine.saving import Saving
from agent_nb.engine.start import VariantsHandle
from agent_nb.files import targets_of, write_files
from agent_nb.files.active import acting_files
from agent_nb.images.pillow import opened, saved, top_of
from agent_nb.notebook.asking import ask_in_text, confirm
from agent_nb.notebook.front_end import CellError, RunStopped, is_attended, is_watched, on_interrupt
from agent_nb.notebook.magic.key_command import missing_key
from agent_nb.notebook.magic.names import assign, set_variables
from agent_nb.notebook.magic.plan import CellPlan, make_plan
from agent_nb.notebook.notebook_tools.proposals import with_decisions
from agent_nb.notebook.page.pages import succeed
from agent_nb.notebook.retry_cells import written_cell
from agent_nb.notebook.session import Session
from agent_nb.notebook.values.value_masking import mask_environment
from agent_nb.notebook.views.views import View, view_for
from agent_nb.pages.page_check import DESKTOP, CheckRequest, PageViewer, ViewerUnavailableError
from agent_nb.pages.preview import used_files
from agent_nb.plugins import plugins
from agent_nb.run import Run
from agent_nb.run.compare import failure_of, scope_of
from agent_nb.run.manifest import package_versions
from agent_nb.run.run import total_cost
from agent_nb.run.store import RunStore

MAX_IMAGE_BYTES = 9_000
"""12 kB in base64."""
IMAGE_FORMS = (560, 256), (560, 64), (560, 16), (400, 64), (400, 16), (280, 16)
"""Width and number of colours of the saved image, the best first; it is at most 1.25 times as high as wide."""


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


async def run_cell(session: Session, options: Options, cell: str) -> None:
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
    view = view_for(
        session.shell, handle, view_options, watched=watched, cell=written_cell(session.shell, cell)
    )
    saving = _saving(plan, handle, view)
    with _ending(handle, view):
        if plan.options.background:
            _show(plan, handle, view)
            _in_background(plan, handle, view, saving)
            return
        ended = await _attend(plan, handle, view, saving)
        await _finish(plan, handle, view, ended)
    run = ended.run
    # A replay ends as its recording did, and an interrupted question ends its run without `stop`.
    is_stopped = handle.is_stopped or (run.reason == "interrupted" and not plan.replays)
    if is_stopped and not plan.options.no_raise:
        raise RunStopped(f"`{run.name}` contains the results so far.")
    if run.reason == "failed" and not plan.options.no_raise:
        raise CellError("AgentFailed", run.error or "The run failed.")
    if ended.unsaved:
        raise CellError("SaveFailed", ended.unsaved)
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


def _show(plan: CellPlan, handle: Handle, view: View) -> None:
    view.start(plan.note)
    plan.rules.follow(handle, view.warn)
    view.connect(partial(pick, plan.session, handle), partial(keep_decisions, plan))


def _saving(plan: CellPlan, handle: Handle, view: View) -> Saving | None:
    """Saves the run; None if it is not to be saved."""
    if not plan.session.defaults.save_runs or plan.options.no_save:
        return None
    return Saving(handle, RunStore(plan.session.home), view.warn)


class Ended(NamedTuple):
    run: Run
    files_name: str | None
    paths: list[str]
    """Where the run and its files were saved."""
    unsaved: str
    """Why `--save` failed; empty if it did not."""


async def _attend(plan: CellPlan, handle: Handle, view: View, saving: Saving | None) -> Ended:
    """Show the run until its variables are set. Interrupts only stop it, however many there are."""
    stop = partial(handle.stop, "interrupted")
    # Below an outer magic and in a terminal, Ctrl-C would end the event loop.
    with ticking(), on_interrupt(lambda *_: stop()):
        try:
            _show(plan, handle, view)
            if is_attended(plan.session.shell):
                view.ask_with(partial(ask_in_text, consent=handle.consent, several=len(plan.prepared) > 1))
        except Exception:  # a view may fail in any way; the run is set and saved all the same
            handle.stop()
            raise
        finally:
            ended = await uncancelled(_set(plan, handle, view, saving), stop)
    return ended


async def _set(
    plan: CellPlan, handle: Handle, view: View, saving: Saving | None, *, rebind: bool = True
) -> Ended:
    """Wait for the run, check it, set its variables and save it."""
    session, options = plan.session, plan.options
    handle.result = run = checked(await handle, options, session.namespace)
    files_name = set_variables(session, run) if rebind else None
    paths: list[str] = []
    unsaved = _save_files(plan, run, options.save) if options.save else ""
    if options.save and not unsaved:
        paths.append(options.save)
        view.warn(f"Files saved in {options.save}.")
    if saving is not None:
        await saving.end()
        try:
            path = await off_loop(RunStore(session.home).save, run)
            paths.append(path.relative_to(session.home).as_posix())
        except OSError as error:
            view.warn(
                f"The run could not be saved in {FOLDER}: {error.strerror or error}. "
                f"`{run.name}.save(path)` writes it elsewhere."
            )
    return Ended(run, files_name, paths, unsaved)


async def _finish(plan: CellPlan, handle: Handle, view: View, ended: Ended) -> None:
    """Show the ended run."""
    run = ended.run
    if handle.recorded:
        view.warn(handle.recorded)
    image = await page_image(handle.viewer, run) if _keeps_image(plan, run, view) else b""
    view.finish(run, ended.files_name, ended.paths, image)
    for note in await uncancelled(off_loop(plan.rules.end, run)):
        view.warn(note)


def _save_files(plan: CellPlan, run: Run, folder: str) -> str:
    try:
        if refusal := _refusal(plan, run, folder):
            return refusal
        write_files(run.files, folder, plan.session.home)
    except FileError as error:  # its message includes the remedy
        return str(error)
    except OSError as error:
        return (
            f"{folder!r} could not be written: {error.strerror or error}. "
            f"`{run.name}.files.save(folder)` writes the files elsewhere."
        )
    return ""


def _refusal(plan: CellPlan, run: Run, folder: str) -> str:
    """Why the files are not saved; empty if they need no consent or the user agrees."""
    home = plan.session.home
    targets = targets_of(run.files, folder, home)
    replaced = dict.fromkeys(not_ours(targets, home), "replaces content not written by a run")
    acting, used = acting_files(targets, home), used_files(run.files)
    pairs = [*zip(run.files, targets, strict=True)]
    unused = {
        target: "is used by no page"
        for path, target in pairs
        if path not in used and target.parent.exists() and not target.exists() and target not in acting
    }
    by_target = replaced | acting | unused
    effects = {path: by_target[target] for path, target in pairs if target in by_target}
    if not effects:
        return ""
    lines = "".join(f"\n  {printable(path, keep='')} {effect}" for path, effect in effects.items())
    changes = {
        "replace files": replaced,
        "add files that run automatically": acting,
        "add files that no page uses": unused,
    }
    summary = " and ".join(change for change, changed in changes.items() if changed)
    question = f"Saving to {folder!r} would {summary}:{lines}\nSave all files?"
    with contextlib.suppress(KeyboardInterrupt):
        if is_attended(plan.session.shell) and not plan.options.background and confirm(question):
            return ""
    path, effect = next(iter(effects.items()))
    return (
        f"Nothing was saved in {folder!r}: {path!r} {effect}, which needs your consent. Leave it out with "
        f"`files.delete({path!r})`, or save all with `{run.name}.files.save({folder!r}, overwrite=True)`."
    )


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


def keep_decisions(plan: CellPlan, run: Run) -> str:
    """Set the variable to the run with the user's decisions about its changes of cells, and save it again.

    Returns its path; empty if it is not saved.
    """
    session = plan.session
    current = session.namespace.get(run.name)
    if isinstance(current, Run) and current.id == run.id:
        session.namespace[run.name] = with_decisions(current, run.decided)
    if session.defaults.save_runs and not plan.options.no_save:
        with contextlib.suppress(OSError):
            return RunStore(session.home).save(run).relative_to(session.home).as_posix()
    return ""


def _in_background(plan: CellPlan, handle: Handle, view: View, saving: Saving | None) -> None:
    session = plan.session
    assign(session, handle.name, handle)
    session.background[handle.id] = handle

    async def finish() -> None:
        await handle
        session.background.pop(handle.id, None)
        # The user may have reassigned the name in the meantime.
        rebind = session.namespace.get(handle.name) is handle
        with _ending(handle, view):
            ended = await _set(plan, handle, view, saving, rebind=rebind)
            await _finish(plan, handle, view, ended)
        if ended.unsaved:
            view.warn(ended.unsaved)

    task = asyncio.get_running_loop().create_task(finish())
    session.finishing.add(task)
    task.add_done_callback(session.finishing.discard)


def checked(run: Run, options: Options, namespace: dict[str, Any]) -> Run:
    """The run with `failed_check` set if `--check` failed. A run that did not finish is not checked."""
    did_fail = run.reason == "failed" and not options.no_raise
    if not options.check or ENDINGS[run.reason].is_by_user or did_fail:
        return run
    scope = {**namespace, run.name: run, **scope_of(run)}
    return replace(run, failed_check=failure_of(options.check, scope))


def show_dry_run(plan: CellPlan) -> None:
    prepared, middleware = plan.prepared[0], ", ".join(plan.session.middleware)
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
        *([f"Middleware: {middleware}, which may change what is sent"] if middleware else []),
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
    print(safe_text("\n".join(lines)))


def _source(plan: CellPlan) -> str:
    """The source of the answer: `Model: demo`, `Models: demo (3), ollama:qwen3` or a cassette."""
    counts = Counter(name.removesuffix(":") for name in plan.models)
    names = ", ".join(name if count == 1 else f"{name} ({count})" for name, count in counts.items())
    if isinstance(replay := plan.prepared[0].provider, ReplayProvider):
        return f"Cassette: {replay.path}, recorded with {names}"
    return f"Model{'' if len(counts) == 1 else 's'}: {names}"


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


def _keeps_image(plan: CellPlan, run: Run, view: View) -> bool:
    """Whether the user's browser draws the run, and its page is a new answer of a model, without values of names."""
    session = plan.session
    is_seen = session.defaults.saved_image and view.is_drawn and is_attended(session.shell)
    return is_seen and not plan.replays and not is_demo(run.model) and not run.settings.get("bind")


async def page_image(viewer: PageViewer | None, run: Run) -> bytes:
    """The top of the run's page as a PNG; empty if there is no page or no viewer."""
    path = run.files.entry
    if viewer is None or path is None or not isinstance(run.files[path], str) or run.reason == "interrupted":
        return b""
    if any(isinstance(content, str) and mask(content) != content for content in run.files.values()):
        return b""  # a picture cannot be masked
    request = CheckRequest(files=run.files, path=path, variant=run.variant, widths=(DESKTOP,))
    from agent_nb.notebook.live import live_run

    try:
        async with asyncio.timeout(live_run.PATIENCE):
            check = await viewer.check(request)
    except (ViewerUnavailableError, TimeoutError, asyncio.CancelledError):
        # An interrupt ends the wait, not the cell.
        return b""
    return await off_loop(_small, check.screenshots[0].image) if check.screenshots else b""


def _small(image: Image) -> bytes:
    pixels = opened(image).convert("RGB")
    forms = (
        saved(top_of(pixels, width, width * 5 // 4).quantize(colours), "PNG", optimize=True)
        for width, colours in IMAGE_FORMS
    )
    return next((data for data in forms if len(data) <= MAX_IMAGE_BYTES), b"")
