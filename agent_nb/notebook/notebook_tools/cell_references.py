"""Cells of the notebook in a prompt: those that it names by `{{cell:ID}}`, and the figures for `%agent explain`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from agent_nb._base.threads import off_loop
from agent_nb.core.errors import ConfigError
from agent_nb.notebook.failures import PlainCell
from agent_nb.notebook.front_end import cell_id
from agent_nb.notebook.notebook_tools.cells import describe_cells, describe_figures
from agent_nb.notebook.notebook_tools.open_notebook import NotOpenError
from agent_nb.notebook.notebook_tools.saved_cells import open_or_saved_cells
from agent_nb.notebook.session import Session
from agent_nb.notebook.values.describe_values import Description, cells_in


@dataclass(frozen=True, slots=True)
class CellReferences:
    titles: Mapping[str, str]
    """The text that replaces each reference in the prompt, by id: `cell 3`."""
    description: Description
    """The cells, which follow the prompt."""


async def read_references(
    session: Session, prompt: str, secrets: Collection[str], *, schema_only: bool
) -> CellReferences:
    """The cells that a prompt refers to, as they are now; raises `ConfigError` if one cannot be read."""
    ids = cells_in(prompt)
    if not ids:
        return CellReferences({}, Description(""))
    first = f"{{{{cell:{ids[0]}}}}}"
    if schema_only:
        raise ConfigError(
            f"`{first}` sends the cell and its output, and --data schema sends no values. Leave it out."
        )
    try:
        cells, time, _ = await open_or_saved_cells(session, cell_id(session.shell), ids)
    except NotOpenError as error:
        raise ConfigError(f"`{first}` cannot be read: {error}. Paste the cell in its place.") from None
    named = {cell.id: cell for cell in cells if cell.id in ids}
    if absent := [name for name in ids if name not in named]:
        where = f"The notebook as saved at {time}" if time else "This notebook"
        raise ConfigError(
            f"{where} has no cell with the id `{absent[0]}`: it was deleted, is in another notebook,"
            " or has the id of another cell."
            f" For the braces themselves, write \\{{{{cell:{absent[0]}}}}}."
        )
    titles = {name: f"cell {cell.number}" for name, cell in named.items()}
    description = await off_loop(describe_cells, [*named.values()], secrets)
    return CellReferences(titles, _with_time(description, time, "cells"))


async def figures_of(session: Session, target: PlainCell) -> Description:
    """The figures that an executed cell shows; empty if the notebook cannot be read or the cell has changed since."""
    own = cell_id(session.shell)
    try:
        cells, time, _ = await open_or_saved_cells(session, own)
        numbers = [cell.number for cell in cells if cell.count == target.number]
        if numbers and not time:
            cells, time, _ = await open_or_saved_cells(session, own, numbers)
    except NotOpenError:
        return Description("")
    for cell in cells:
        if cell.count == target.number and cell.source.strip() == target.source.strip():
            return _with_time(await off_loop(describe_figures, cell), time, "figures")
    return Description("")


def _with_time(description: Description, time: str, noun: str) -> Description:
    note = f"The {noun} are those of the notebook as saved at {time}; later changes are not sent."
    return replace(description, notes=(note,)) if time and description.text else description
