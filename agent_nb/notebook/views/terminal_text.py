"""The text of a model in a terminal: laid out with `rich` if that is installed, else as it is, with aligned tables."""

import io
import re
import shutil
from collections.abc import Callable
from functools import cache

from agent_nb._base.table import Table

LONGEST_BLOCK = 50_000
"""Characters of a block that are laid out; more are printed as they are."""
_TABLE = re.compile(r"\|.*\|\n\|[\s|:-]+\|(?:\n\|.*\|)*")


class BlockWriter:
    """Lays out streamed Markdown block by block: a paragraph, a list, a table or a code block at a time."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._partial = ""
        self._fence = ""
        """What closes the code block that is open."""

    def more(self, text: str) -> str:
        """The layout of the blocks that are complete now."""
        *lines, self._partial = (self._partial + text).split("\n")
        return "".join(map(self._line, lines))

    def rest(self) -> str:
        """The layout of the unfinished block, at the end of a text."""
        written = self._line(self._partial) if self._partial else ""
        self._partial = self._fence = ""
        return written + self._block()

    def _line(self, line: str) -> str:
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if self._fence:
            self._fence = "" if line.strip() == self._fence else self._fence
        elif mark:
            self._fence = mark[1]
        elif not line.strip():
            return f"{block}\n" if (block := self._block()) else ""
        self._lines.append(line)
        return ""

    def _block(self) -> str:
        text, self._lines = "\n".join(self._lines), []
        if not text:
            return ""
        return f"{text}\n" if len(text) > LONGEST_BLOCK else renderer()(text)


@cache
def renderer() -> Callable[[str], str]:
    """Lays out one block: with `rich`, which is not a dependency, or without."""
    try:
        from rich.console import Console
        from rich.markdown import Markdown
    except ImportError:
        return plain_block

    def render(block: str) -> str:
        output = io.StringIO()
        console = Console(file=output, force_terminal=True, width=_columns(), emoji=False)
        console.print(Markdown(block, code_theme="ansi_dark", hyperlinks=False))
        # rich fills its lines with spaces, and puts empty lines around lists and tables.
        return re.sub(r" +$", "", output.getvalue(), flags=re.MULTILINE).strip("\n") + "\n"

    return render


def plain_block(block: str) -> str:
    """The block as it is, or a table with aligned columns."""
    if not _TABLE.fullmatch(block.strip()):
        return f"{block}\n"
    head, _, *rows = (
        [cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.strip().split("\n")
    )
    rows = [[*row, *[""] * len(head)][: len(head)] for row in rows]
    return f"{Table(head, rows, '').to_text(_columns())}\n"


def _columns() -> int:
    return shutil.get_terminal_size().columns
