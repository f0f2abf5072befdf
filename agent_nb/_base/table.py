"""A table as text and as HTML, readable in any theme and in untrusted notebooks."""

import itertools
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from agent_nb._base.secrets import safe_text
from agent_nb._base.text import change_texts

_GAP = "  "
_NO_MATH = "mathjax_ignore"
"""JupyterLab renders text between two dollar signs as a formula, except in elements of this class."""


@dataclass(eq=False, repr=False)
class Table:
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    empty: str
    """Shown instead of a table without rows."""
    note: str = ""
    """Shown below the table."""
    numbers: Collection[str] = ()
    """The columns to align right."""
    plots: Mapping[str, str] = field(default_factory=dict)
    """The addresses of images below the table, by name."""

    def __post_init__(self) -> None:
        # Masked before its lines are wrapped.
        cells = [[*map(str, row)] for row in (self.columns, *self.rows)]
        cells, self.empty, self.note, self.plots = change_texts(
            (cells, self.empty, self.note, self.plots), safe_text
        )
        self.columns, *self.rows = cells

    def __repr__(self) -> str:
        # Notebooks and files use the full width, so that equal tables give equal text.
        return self.to_text(shutil.get_terminal_size().columns if sys.stdout.isatty() else None)

    def to_text(self, width: int | None = None) -> str:
        """Return aligned columns; with a width, cells wrap at spaces."""
        if not self.rows:
            return self.empty
        cells = [self.columns, *self.rows]
        widths = _fitted(cells, width)
        right = [name in self.numbers for name in self.columns]
        lines = [
            _GAP.join(
                part.rjust(size) if number else part.ljust(size)
                for part, size, number in zip(parts, widths, right, strict=True)
            ).rstrip()
            for row in cells
            for parts in ([row] if width is None else _wrapped(row, widths))
        ]
        return "\n".join([*lines, *([self.note] if self.note else [])])

    def _repr_html_(self) -> str:
        if not self.rows:
            return f"<p>{escape(self.empty)}</p>"
        head, body = self._row("th", self.columns), "".join(self._row("td", row) for row in self.rows)
        note = f'<p class="{_NO_MATH}">{escape(self.note)}</p>' if self.note else ""
        plots = "".join(
            f'<p>{escape(name)}<br><img alt="strip plot" src="{address}"></p>'
            for name, address in self.plots.items()
        )
        return f'<table class="{_NO_MATH}"><thead>{head}</thead><tbody>{body}</tbody></table>{note}{plots}'

    def _row(self, tag: str, cells: Sequence[str]) -> str:
        sides = ("right;white-space:nowrap" if name in self.numbers else "left" for name in self.columns)
        html_cells = (
            f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )
        return f"<tr>{''.join(html_cells)}</tr>"


def _wrapped(row: Sequence[str], widths: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """Yield the lines of a row, as parts of its cells."""
    # An empty cell still has one line.
    cells = (textwrap.wrap(cell, size) or [""] for cell, size in zip(row, widths, strict=True))
    return itertools.zip_longest(*cells, fillvalue="")


def _fitted(cells: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Return the column widths. To fit `width`, the widest columns shrink, below their longest word only if needed."""
    columns = list(zip(*cells, strict=True))
    widths = [max(1, *map(len, column)) for column in columns]
    if width is None:
        return widths
    room = max(width - len(_GAP) * (len(widths) - 1), len(widths))
    longest = [max((len(word) for cell in column for word in cell.split()), default=1) for column in columns]
    for least in (longest, [1] * len(longest)):
        while sum(widths) > room:
            spare = [size if size > low else 0 for size, low in zip(widths, least, strict=True)]
            if not any(spare):
                break
            widths[spare.index(max(spare))] -= 1
    return widths
