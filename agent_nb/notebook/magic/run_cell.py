"""Runs one `%%agent` cell: plan, start, show, set the variables, save."""

from agent_nb.core.errors import ConfigError, MissingKeyError
from agent_nb.core.options import Options
from agent_nb.engine.start import start_request
from agent_nb.notebook.failures import FailedCell, PlainCell
from agent_nb.notebook.front_end import CellError, RunStopped, is_watched
from agent_nb.notebook.magic.dry_run import show_dry_run
from agent_nb.notebook.magic.key_command import missing_key
from agent_nb.notebook.magic.plan import make_plan
from agent_nb.notebook.magic.show_cell import check_name_is_free, show_cell
from agent_nb.notebook.session import Session
from agent_nb.notebook.values.value_masking import mask_environment


async def run_cell(session: Session, options: Options, cell: str | FailedCell | PlainCell) -> None:
    """Run the cell and set NAME and `files`, however the run ends."""
    watched = await is_watched(session.shell)
    mask_environment()
    try:
        plan = await make_plan(session, options, cell, watched=watched)
        if plan.options.dry_run:
            show_dry_run(plan)
            return
        check_name_is_free(session, plan.options.name)
        handle = start_request(plan.prepared)
    except MissingKeyError as error:
        raise ConfigError(missing_key(session, error)) from None
    if not (end := await show_cell(plan, handle, cell, watched=watched)):
        return
    run = end.run
    # A replay ends as its recording did, and an interrupted question ends its run without `stop`.
    is_stopped = handle.is_stopped or (run.reason == "interrupted" and not plan.replays)
    if is_stopped and end.raises:
        raise RunStopped(f"`{run.name}` contains the results so far.")
    if run.reason == "failed" and end.raises:
        raise CellError("AgentFailed", run.error or "The run failed.")
    for title, message in end.errors:
        raise CellError(title, message)
