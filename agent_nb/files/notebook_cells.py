"""Reads the cells of a notebook, from the open page or the saved file.

Both are untrusted: any field may have any type or length, and every text is only text.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.files.cell_changes import CellType

NUMBERS = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")
"""A cell's number, or a range of numbers."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PAGE_FIELDS = dict.fromkeys(("number", "cut", "edited", "omitted"))
"""Fields that only the page sets in a cell: in a file they are forged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellContent:
    number: int
    """The cell's position in the notebook, from 1."""
    id: str
    """Empty unless valid, unique and not a number. A cell without an id can be read, but not changed."""
    kind: CellType
    source: str
    count: int | None
    """The execution count; None if it has not run."""
    outputs: tuple[Json, ...]
    omitted: int = 0
    """How many more outputs it has, or with a text for which the page's answer had no room."""
    is_cut: bool = False
    """Whether the page has cut the source."""
    is_edited: bool = False
    """Whether it has been edited since it ran, as far as the page knows."""


def read_notebook_cells(cells: Any, *, from_file: bool = False) -> list[CellContent]:
    """Read cells in the notebook format. Anything that is not a cell is skipped, but counted."""
    rows = enumerate(cells if isinstance(cells, list) else [], 1)
    forged = _PAGE_FIELDS if from_file else {}
    contents = [_cell(number, {**row, **forged}) for number, row in rows if isinstance(row, dict)]
    uses = Counter(cell.id for cell in contents)
    return [cell if uses[cell.id] == 1 else replace(cell, id="") for cell in contents]


def _cell(position: int, row: Json) -> CellContent:
    name, kind, outputs = row.get("id"), row.get("cell_type"), row.get("outputs")
    is_id = isinstance(name, str) and _ID.fullmatch(name) and not NUMBERS.fullmatch(name)
    return CellContent(
        number=count_of(row.get("number")) or position,
        id=str(name) if is_id else "",
        kind=kind if kind in ("code", "markdown") else "raw",
        source=text_of(row.get("source") or ""),
        count=count_of(row.get("execution_count")),
        outputs=tuple(row for row in outputs if isinstance(row, dict)) if isinstance(outputs, list) else (),
        omitted=count_of(row.get("omitted")) or 0,
        is_cut=row.get("cut") is True,
        is_edited=row.get("edited") is True,
    )


def count_of(value: Any) -> int | None:
    return value if type(value) is int and 0 < value < 10**9 else None


def text_of(content: Any) -> str:
    """Join text that a notebook stores as a list of lines."""
    return "".join(map(str, content)) if isinstance(content, list | tuple) else str(content)
