"""`%%agent` in the kernel's own event loop: the cell becomes a top-level `await`, never a nested loop.

IPython does not await what a magic returns, but it awaits a cell that says `await`. So the cell is
rewritten before it is compiled; everything else (Run All, interrupts, comm messages) then just works.
"""

import asyncio
import contextlib
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

TICK = 0.05
"""Seconds. ipykernel's interrupt does not wake an idle loop; a light tick lets it be seen at once."""


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
        return [
            f"await __import__('agent_nb.notebook.magic.rewrite', fromlist=['loop']).agent_cell({rest!r}, {body!r})\n"
        ]

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


def is_attended(shell: Any) -> bool:
    """Whether somebody watches: nbclient, nbval and papermill allow no input; JupyterLab and a terminal do."""
    kernel = getattr(shell, "kernel", None)
    return True if kernel is None else bool(getattr(kernel, "_allow_stdin", False))


async def agent_cell(line: str, cell: str) -> None:
    """What a rewritten cell awaits."""
    from IPython import get_ipython

    magics = get_ipython().magics_manager.registry["AgentMagics"]
    await magics.run_cell(line, cell)


@contextlib.asynccontextmanager
async def ticking() -> AsyncIterator[None]:
    """Keeps the loop awake while a cell waits."""

    async def tick() -> None:
        while True:  # noqa: ASYNC110 - the waking up is the point
            await asyncio.sleep(TICK)

    task = asyncio.get_running_loop().create_task(tick())
    try:
        yield
    finally:
        task.cancel()


@contextlib.contextmanager
def on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """In a terminal: the interrupt key calls `stop`, instead of tearing down the loop under our feet.

    A kernel has its own way, which cancels the cell; it is left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
