"""Lets a cell end normally."""

from agent_nb.features.no_raise import NO_RAISE
from agent_nb.plugins import CellCode, CellEnd


class EndsNormally(CellCode[bool]):
    async def ended(self, end: CellEnd) -> None:
        end.raises = not end.get(NO_RAISE)
