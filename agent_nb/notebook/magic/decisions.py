"""What the user decides about a run that is shown: the variant, and its changes of cells."""

import contextlib

from agent_nb.core.errors import ConfigError
from agent_nb.engine.draft import CellStart
from agent_nb.engine.handle import Handle
from agent_nb.engine.start import VariantsHandle
from agent_nb.notebook.magic.names import set_variables
from agent_nb.notebook.notebook_tools.proposals import with_decisions
from agent_nb.notebook.session import Session
from agent_nb.run import Run


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
