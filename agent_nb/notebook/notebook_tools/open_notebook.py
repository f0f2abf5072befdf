"""The open notebook: the kernel asks the page for its cells, and the page asks the JupyterLab extension.

    read = await open_notebook.cells(own)             # all, as an outline: first lines, kinds of output
    read = await open_notebook.cells(own, [3, "ab"])  # these numbers and ids, with their sources and outputs

`own` is the id of the cell that runs (`front_end.cell_id`). `NotOpenError` says why there is no answer: no page, no
extension, or another notebook. `saved_cells.py` is the fallback, and `cells.py` describes cells to the model.

The first answer of any window counts. `docs/internals/widget-protocol.md` has the messages, and `js/lab/notebook.ts`
cuts long cells. A change is written by the page after a press, never by the kernel: `proposals.py`.
"""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.files.notebook_cells import count_of, read_notebook_cells
from agent_nb.notebook.notebook_tools.cells import CellsRead

ANSWER = 20.0
"""Seconds to wait for a page that has answered before."""
TIMES, INTERVAL = 6, 0.5
"""How often to ask a page that has never answered, and the seconds between: it may still be loading the widget."""
NO_PAGE = "no page with agent_nb's JupyterLab extension shows this notebook"


class NotOpenError(Exception):
    """The open notebook cannot be read, as the message states."""


class OpenNotebook:
    """Asks the pages of this kernel for cells. The hub connects it."""

    def __init__(self) -> None:
        self.send: Callable[[Json], None] | None = None
        """Sends a message to all windows; None before the hub exists."""
        self._ids = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._has_answered = self._is_silent = False

    async def cells(self, own: str, only: Sequence[int | str] | None = None) -> CellsRead:
        """The cells with these numbers or ids, or an outline of all; raises `NotOpenError`."""
        if self.send is None or not own:
            raise NotOpenError(NO_PAGE)
        request_id = str(next(self._ids))
        answer = self._waiting[request_id] = asyncio.get_running_loop().create_future()
        message = {"kind": "notebook", "request_id": request_id, "own": own, "only": only and [*only]}
        interval, times = (ANSWER, 1) if self._has_answered else (INTERVAL, 1 if self._is_silent else TIMES)
        try:
            for _ in range(times):
                self.send(message)
                if (await asyncio.wait([answer], timeout=interval))[0]:
                    cells, left_out = answer.result()
                    return CellsRead(read_notebook_cells(cells), left_out=count_of(left_out) or 0)
            self._is_silent = not self._has_answered
            raise NotOpenError(NO_PAGE)
        finally:
            del self._waiting[request_id]

    def receive(self, request_id: str, cells: Any, left_out: Any, error: str) -> None:
        """Take the answer of a window. Later ones are ignored."""
        self._has_answered = True
        answer = self._waiting.get(request_id)
        if answer is None or answer.done():
            return
        if error:
            answer.set_exception(NotOpenError(error[:200]))
        else:
            answer.set_result((cells, left_out))


open_notebook = OpenNotebook()
"""The open notebook of this kernel."""
