"""`%%agent` in the kernel's own event loop: the cell becomes a top-level `await`, never a nested loop.

IPython does not await what a magic returns, but it awaits a cell that says `await`. So the cell is
rewritten before it is compiled; everything else (Run All, interrupts, comm messages) then just works.
"""

import contextlib
from typing import Any

_AGENT_CELL = "__import__('agent_nb.notebook.magic.rewrite', fromlist=['rewrite']).agent_cell"


class CellRewriter:
    """A line transform that turns a `%%agent` cell into `await ...`, when no cell is executing.

    Under an outer magic (`%%time`, `%%capture`) the inner cell is transformed while the outer one runs:
    there the plain magic is left to do the work.
    """

    def __init__(self, shell: Any, magic_name: str) -> None:
        self.shell = shell
        self.magic_name = magic_name
        self.executing = 0

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

    def install(self) -> None:
        self.shell.input_transformer_manager.line_transforms.insert(0, self)
        self.shell.events.register("pre_run_cell", self._begin)
        self.shell.events.register("post_run_cell", self._end)

    def remove(self) -> None:
        with contextlib.suppress(ValueError):
            self.shell.input_transformer_manager.line_transforms.remove(self)
        for event, function in (("pre_run_cell", self._begin), ("post_run_cell", self._end)):
            with contextlib.suppress(ValueError):
                self.shell.events.unregister(event, function)

    def _begin(self, *_: Any) -> None:
        self.executing += 1

    def _end(self, *_: Any) -> None:
        # The cell that loaded us ends without having begun.
        self.executing = max(0, self.executing - 1)


async def agent_cell(line: str, cell: str) -> None:
    """What a rewritten cell awaits."""
    from IPython import get_ipython

    magics = get_ipython().magics_manager.registry["AgentMagics"]
    await magics.run_cell(line, cell)
