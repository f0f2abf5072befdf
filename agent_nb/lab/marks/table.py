"""The rows as a CSV file that spreadsheets can open safely."""

import csv
import io
from collections.abc import Sequence
from dataclasses import fields

from agent_nb._base.text import printable_line
from agent_nb.lab.marks.row import Row

COLUMNS = tuple(each.name for each in fields(Row) if each.name not in ("pages", "supplied"))
NUMBERS = COLUMNS.index("chain_breaks")
"""How many columns after the first one hold numbers."""
_MOST_NAMES = 20
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""How formulas begin; Excel reads the wide forms, too."""


def to_csv(rows: Sequence[Row]) -> bytes:
    """The table in UTF-8, with the mark by which Excel knows it."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows(map(cells, rows))
    return text.getvalue().encode("utf-8-sig", "replace")


def cells(row: Row) -> list[str]:
    """The cells of a row, in the order of the columns. A submission that could not be read has no numbers."""
    names = [*row.same_page_as[:_MOST_NAMES]]
    if len(row.same_page_as) > _MOST_NAMES:
        names.append(f"and {len(row.same_page_as) - _MOST_NAMES} more")
    numbers = (row.checks_passed, row.checks_total, row.runs, row.hints, row.held_back, f"{row.cost:g}")
    shown = ["" if row.error else str(number) for number in (*numbers, row.hand_edits, row.chain_breaks)]
    return [_safe(row.student), *shown, _safe(", ".join(names)), _safe(" ".join(row.notes)), _safe(row.error)]


def _safe(text: str) -> str:
    """One line that no spreadsheet takes for a formula. Where the comma is for decimals, `;` separates cells."""
    line = printable_line(text).replace(";", ",")
    return f"'{line}" if line.startswith(_FORMULA) else line
