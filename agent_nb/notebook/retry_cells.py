"""The cells that the page offers after a failed run: the same cell once more, and with another model."""

import re
from typing import Any

from agent_nb._base.model_name import DEMO, DEMO_MODEL
from agent_nb._base.secrets import safe_text
from agent_nb.providers import default_model_name
from agent_nb.run import Run

MAX_CELL = 2_000
"""Characters. A longer cell is not offered: the user is to read what the button inserts."""
_MAGIC_LINE = re.compile(r"(?:^%%.*\n)*(%%\w+)(.*)")
_MODEL = re.compile(r"\s(?:-m\s*|--model[=\s]\s*)[^\s-]\S*")


def written_cell(shell: Any, prompt: str) -> str:
    """The cell that is being run, as the user wrote it; empty if the history does not have it."""
    history = getattr(getattr(shell, "history_manager", None), "input_hist_raw", None) or [""]
    cell = str(history[-1])
    return cell if prompt.strip() in cell else ""


def retry_cells(run: Run, cell: str) -> tuple[str, str]:
    """The cell, and the cell with another model; both empty unless the run failed and the cell can be shown."""
    if run.reason != "failed" or not 0 < len(cell) <= MAX_CELL or safe_text(cell) != cell:
        return "", ""
    vendor = run.model.partition(":")[0]
    other = "" if vendor == DEMO else default_model_name(besides=vendor) or DEMO_MODEL
    return cell, with_model(cell, other) if other else ""


def with_model(cell: str, model: str) -> str:
    """The cell with `-m MODEL` in place of its own models; empty if it has no line to put it in."""
    found = _MAGIC_LINE.search(cell)
    if found is None:
        return ""
    options, check, expression = found[2].partition(" --check")
    line = f"{found[1]} -m {model}{_MODEL.sub('', options)}{check}{expression}"
    return cell[: found.start(1)] + line + cell[found.end() :]
