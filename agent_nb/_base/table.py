"""A table that is readable as text and as HTML, in any theme and in untrusted notebooks."""

from collections.abc import Collection, Sequence
from html import escape
from typing import Any

from agent_nb._base.secrets import mask

_GAP = "  "
_NO_MATH = "mathjax_ignore"
"""JupyterLab takes what stands between two dollar signs for a formula, except in elements of this class."""


class Table:
    """Columns, rows and a note below. The columns named in `numbers` are aligned right."""

    def __init__(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        empty: str,
        note: str = "",
        numbers: Collection[str] = (),
    ) -> None:
        self.columns, self.rows, self.empty, self.note = columns, rows, empty, note
        self.numbers = numbers

    def __repr__(self) -> str:
        if not self.rows:
            return self.empty
        cells = [list(map(str, self.columns)), *([mask(str(cell)) for cell in row] for row in self.rows)]
        widths = [max(1, *map(len, column)) for column in zip(*cells, strict=True)]
        right = [name in self.numbers for name in self.columns]
        lines = [
            _GAP.join(
                part.rjust(size) if number else part.ljust(size)
                for part, size, number in zip(row, widths, right, strict=True)
            ).rstrip()
            for row in cells
        ]
        return "\n".join([*lines, *([self.note] if self.note else [])])

    def _repr_html_(self) -> str:
        if not self.rows:
            return f"<p>{escape(self.empty)}</p>"
        head = self._row("th", self.columns)
        body = "".join(self._row("td", row) for row in self.rows)
        note = f'<p class="{_NO_MATH}">{escape(self.note)}</p>' if self.note else ""
        return f'<table class="{_NO_MATH}"><thead>{head}</thead><tbody>{body}</tbody></table>{note}'

    def _row(self, tag: str, cells: Sequence[Any]) -> str:
        sides = ("right;white-space:nowrap" if name in self.numbers else "left" for name in self.columns)
        html_cells = (
            f'<{tag} style="text-align:{side}">{escape(mask(str(cell)))}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )
        return f"<tr>{''.join(html_cells)}</tr>"
