"""Offers the kernel's tools to a cell with data whose tries must agree, and says how many tries there are."""

from agent_nb.features.agree import AGREE
from agent_nb.features.prompt import VARIABLES
from agent_nb.plugins import CellCode, CellDraft, CellPrompt, Description

KERNEL = "kernel"


class AgreesInCell(CellCode[int]):
    async def prompt(self, cell: CellPrompt) -> Description | None:
        has_data = "{{" in cell.text or bool(cell.get(VARIABLES))
        if (cell.get(AGREE) or 1) > 1 and has_data:
            cell.tools.append(KERNEL)
        return None

    async def planned(self, plan: CellDraft) -> None:
        if (most := plan.get(AGREE) or 1) > 1:
            plan.notes.append(
                f"Up to {most} tries run, each in a branch of its own, until the code of two computes the same answer."
            )
