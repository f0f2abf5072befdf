"""Runs `%%agent` on the kernel's own event loop, by rewriting the cell to a top-level `await`.

IPython does not await what a magic returns, but it does run a cell with a top-level `await`. Run All, interrupts
and comm messages then work as in any other cell, and no loop is nested.
"""

import asyncio
from typing import Any

_AGENT_CELL = "__import__('agent_nb.notebook.magic.rewrite', fromlist=['rewrite']).agent_cell"


class CellRewriter:
    """An input transformer that turns a `%%agent` cell into `await ...`.

    Below an outer magic (`%%time`, `%%capture`) IPython transforms the inner cell while the outer one is executing.
    An `await` would be an error there, so the cell is left to the plain magic.
    """

    def __init__(self, shell: Any, magic_name: str) -> None:
        self.shell = shell
        self.magic_name = magic_name
        self._cells: list[asyncio.Task[Any] | None] = []
        """The task of each cell that has begun and not ended; None for a cell outside of a task."""

    @property
    def executing(self) -> int:
        """How many cells are executing. JupyterLite does not say when a cell with an `await` ends; its task does."""
        self._cells = [task for task in self._cells if task is None or not task.done()]
        return len(self._cells)

    def __call__(self, lines: list[str]) -> list[str]:
        if self.executing or not getattr(self.shell, "autoawait", True):
            return lines
        start = next(
            (i for i, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")), None
        )
        if start is None:
            return lines
        head = lines[start].rstrip("\n")
        magic, _, rest = head.partition(" ")
        if magic.rstrip() != f"%%{self.magic_name}":
            return lines
        body = "".join(lines[start + 1 :])
        return [f"await {_AGENT_CELL}({rest!r}, {body!r})\n"]

    def begin_cell(self, *_: Any) -> None:
        try:
            self._cells.append(asyncio.current_task())
        except RuntimeError:  # no loop is running
            self._cells.append(None)

    def end_cell(self, *_: Any) -> None:
        if self.executing:  # the cell with `%load_ext` ends without a `pre_run_cell` that we saw
            self._cells.pop()


async def agent_cell(line: str, cell: str) -> None:
    """Runs a rewritten cell."""
    from IPython import get_ipython

    magics = get_ipython().magics_manager.registry["AgentMagics"]
    await magics.run_cell(line, cell)
