"""Describes the variables of `-w` and the cells of `--cells`."""

from collections.abc import Sequence
from itertools import islice

from agent_nb._base.threads import off_loop
from agent_nb.features.prompt import CELLS, VARIABLES
from agent_nb.plugins import CellCode, CellPrompt, Description
from agent_nb.plugins.engine import joined


class DescribedVariables(CellCode[Sequence[str]]):
    async def prompt(self, cell: CellPrompt) -> Description | None:
        paths = cell.get(VARIABLES) or ()
        parts = [await cell.describe(path) for path in paths]
        texts = (f"Variable `{path}`:\n{part.text}" for path, part in zip(paths, parts, strict=True))
        return joined("\n\n".join(texts), parts)


class LastCells(CellCode[int]):
    async def prompt(self, cell: CellPrompt) -> Description | None:
        number = cell.get(CELLS)
        cells = await off_loop(lambda: [*islice(cell.host.executed_cells(), number or 0)])
        return Description("\n\n".join(reversed(cells)), has_cells=True) if number else None
