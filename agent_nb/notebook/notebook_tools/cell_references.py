"""Cells in a prompt: those of `{{cell:ID}}`, `{{cell:3}}` and `--cells`, and the figures for `%agent explain`."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, cast

from agent_nb._base.secrets import own_values
from agent_nb._base.threads import off_loop
from agent_nb.core.errors import ConfigError
from agent_nb.engine.description import Description
from agent_nb.engine.draft import CellPrompt
from agent_nb.engine.feature_code import CellCode
from agent_nb.files.notebook_cells import CellContent
from agent_nb.notebook.failures import PlainCell
from agent_nb.notebook.front_end import cell_id
from agent_nb.notebook.notebook_tools.cells import describe_cells, describe_figures, label_of
from agent_nb.notebook.notebook_tools.open_notebook import NotOpenError
from agent_nb.notebook.notebook_tools.saved_cells import open_or_saved_cells
from agent_nb.notebook.session import Session
from agent_nb.notebook.values.cells import recent_cells
from agent_nb.notebook.values.describe_values import cells_in


class CellReferences(CellCode[Any]):
    async def prompt(self, cell: CellPrompt) -> Description | None:
        """The cells that the prompt refers to, as they are now; raises `ConfigError` if one cannot be read."""
        if not (ids := cells_in(cell.text)):
            return None
        if not cell.sends_values:
            first = f"{{{{cell:{ids[0]}}}}}"
            raise ConfigError(
                f"`{first}` sends the cell and its output, and --data schema sends no values. Leave it out."
            )
        session = cast("Session", cell.host)
        cell.connect()
        named, time = await _named_cells(session, ids)
        cell.titles |= {name: label_of(found) for name, found in named.items()}
        by_label = {label_of(found): found for found in named.values()}
        cells = sorted(by_label.values(), key=lambda found: (found.number, found.count or 0))
        description = await off_loop(lambda: describe_cells(cells, own_values()))
        description = _with_time(description, time if cells[-1].number else "", "cells")
        return replace(description, has_cells=True)


class LastCells(CellCode[int]):
    async def prompt(self, cell: CellPrompt) -> Description | None:
        """The cells of `--cells`, from the kernel's history."""
        if not (number := cell.get(self.feature)):
            return None
        shell = cast("Session", cell.host).shell
        cells = await off_loop(lambda: [*islice(recent_cells(shell), number)])
        return Description("\n\n".join(reversed(cells)), has_cells=True)


class CellFigures(CellCode[Any]):
    async def prompt(self, cell: CellPrompt) -> Description | None:
        """The figures of the cell that `%agent explain` is about."""
        if not (isinstance(cell.about, PlainCell) and cell.sends_values):
            return None
        cell.connect()
        return await figures_of(cast("Session", cell.host), cell.about)


async def _named_cells(session: Session, ids: Sequence[str]) -> tuple[dict[str, CellContent], str]:
    """The cells by the ids in the prompt, and when the notebook was saved if it is not open."""
    ran = {name: cell for name in ids if (cell := _ran_as(session, name))}
    cells, time = list[CellContent](), ""
    try:
        cells, time, _ = await open_or_saved_cells(session, cell_id(session.shell), ids)
    except NotOpenError as error:
        if len(ran) < len(ids):
            first = f"{{{{cell:{ids[0]}}}}}"
            raise ConfigError(f"`{first}` cannot be read: {error}. Paste the cell in its place.") from None
    named = {cell.id: cell for cell in cells if cell.id in ids}
    for name, cell in ran.items():
        if name not in named:
            now, _ = await _cell_now(session, cell.count, cell.source)
            named[name] = now or cell
    if absent := [name for name in ids if name not in named]:
        where = f"The notebook as saved at {time}" if time else "This notebook"
        unless = f" This kernel has run no cell [{absent[0]}] yet." if absent[0].isdecimal() else ""
        raise ConfigError(
            f"{where} has no cell with the id `{absent[0]}`: it was deleted, is in another notebook,"
            f" or has the id of another cell.{unless}"
            f" For the braces themselves, write \\{{{{cell:{absent[0]}}}}}."
        )
    return named, time


def _ran_as(session: Session, name: str) -> CellContent | None:
    """The cell that this kernel ran as `[name]`, from its history; None if there is none."""
    sources = session.shell.history_manager.input_hist_raw if name.isdecimal() else ()
    count = int(name) if sources else 0
    if not 0 < count < min(session.shell.execution_count, len(sources)):
        return None
    return CellContent(number=0, id="", kind="code", source=sources[count], count=count, outputs=())


async def figures_of(session: Session, target: PlainCell) -> Description:
    """The figures that an executed cell shows; empty if the notebook cannot be read or the cell has changed since."""
    cell, time = await _cell_now(session, target.number, target.source)
    return _with_time(await off_loop(describe_figures, cell), time, "figures") if cell else Description("")


async def _cell_now(session: Session, count: int | None, source: str) -> tuple[CellContent | None, str]:
    """The notebook's cell that ran with this count and still has this source, if it can be read; when it was saved."""
    own = cell_id(session.shell)
    try:
        cells, time, _ = await open_or_saved_cells(session, own)
        numbers = [cell.number for cell in cells if cell.count == count]
        if numbers and not time:
            cells, time, _ = await open_or_saved_cells(session, own, numbers)
    except NotOpenError:
        return None, ""
    same = (cell for cell in cells if cell.count == count and cell.source.strip() == source.strip())
    return next(same, None), time


def _with_time(description: Description, time: str, noun: str) -> Description:
    note = f"The {noun} are those of the notebook as saved at {time}; later changes are not sent."
    return replace(description, notes=(note,)) if time and description.text else description
