"""Describes the variables of `-w`."""

from collections.abc import Sequence

from agent_nb.features.prompt import VARIABLES
from agent_nb.plugins import CellCode, CellPrompt, Description
from agent_nb.plugins.engine import joined


class DescribedVariables(CellCode[Sequence[str]]):
    async def prompt(self, cell: CellPrompt) -> Description | None:
        paths = dict.fromkeys((*(cell.get(VARIABLES) or ()), *cell.uses))
        parts = [await cell.describe(path) for path in paths]
        texts = (f"Variable `{path}`:\n{part.text}" for path, part in zip(paths, parts, strict=True))
        return joined("\n\n".join(texts), parts)
