"""Registers bound pages with the lower-level packages, which must not import this one."""

from typing import Any

from agent_nb.agent import BINDERS
from agent_nb.notebook.page.store import bound_values, saved_values
from agent_nb.render.preview import SAVED_VALUES
from agent_nb.run.run import PAGES, Run


def _page_of(run: Run) -> Any:
    from agent_nb.notebook.page.widget import page_of  # slow to import

    return page_of(run)


def register() -> None:
    """Called when the first cell is planned, and by `register_all`."""
    BINDERS[:] = [bound_values]
    SAVED_VALUES[:] = [saved_values]
    PAGES[:] = [_page_of]
