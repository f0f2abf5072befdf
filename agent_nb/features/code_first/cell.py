"""Tells the user what a model that is asked for code gets."""

from typing import Any

from agent_nb.features.code_first import CODE_FIRST
from agent_nb.plugins import CellCode, CellDraft


class TellsOfCode(CellCode[Any]):
    async def planned(self, plan: CellDraft) -> None:
        first = plan.runs[0]
        if CODE_FIRST.name in first.kept:
            what = "." if first.settings.data else " and the first five rows."
            plan.notes.append(
                f"The model is asked for Python code. It gets the columns and types of your data{what}"
            )
