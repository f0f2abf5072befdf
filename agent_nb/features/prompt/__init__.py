"""The parts of a cell's prompt besides its text and bound names, in their order."""

from collections.abc import Sequence
from typing import Any

from agent_nb.core.feature import Feature, count, flag

VARIABLES: Feature[Sequence[str]] = Feature(
    "variables",
    option=flag(
        "-w --with VARIABLE",
        "Variable to describe to the model.",
        default=(),
        after="compact",
        completes="variable",
    ),
    cell="agent_nb.features.prompt.cell:DescribedVariables",
)
CELLS: Feature[int] = Feature(
    "cells",
    option=flag(
        "--cells N", "Send the source and text output of the last N cells.", number=count(2), after="bind"
    ),
    sends_values=True,
    cell="agent_nb.notebook.notebook_tools.cell_references:LastCells",
)
FIGURES: Feature[Any] = Feature(
    "figures", cell="agent_nb.notebook.notebook_tools.cell_references:CellFigures"
)
CELL_REFERENCES: Feature[Any] = Feature(
    "cell_references", cell="agent_nb.notebook.notebook_tools.cell_references:CellReferences"
)
IMAGES: Feature[Sequence[str]] = Feature(
    "images",
    option=flag(
        "-i --image IMAGE",
        "Image or PDF to send: a variable (also a list), a path or an https URL.",
        default=(),
        after="compact",
        completes="image",
    ),
    sends_values=True,
    cell="agent_nb.notebook.magic.inputs:Images",
)
SYSTEM: Feature[str] = Feature(
    "system",
    option=flag(
        "--system NAME",
        "Design system or other instructions, appended to the system text: a variable, a file (NAME, NAME.md or"
        " design/NAME.md), or the text itself.",
        label="system {}".format,
        grants=True,
        after="effort",
        completes="text",
    ),
    cell="agent_nb.notebook.magic.inputs:SystemText",
)
PARTS = (VARIABLES, CELLS, FIGURES, CELL_REFERENCES, IMAGES, SYSTEM)
