"""The progress of `agent.map` as a tqdm text bar. Disabled with TQDM_DISABLE=1, and in unattended notebooks, so that
their output is deterministic."""

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from tqdm import tqdm

from agent_nb._base.threads import ticking
from agent_nb.engine.batch.tally import Tally, Watcher
from agent_nb.notebook.front_end import is_attended, on_interrupt, say
from agent_nb.render.summary import dollars


class ProgressBar(Watcher):
    def __init__(self, shell: Any, tally: Tally, stop: Callable[[], None]) -> None:
        in_terminal = getattr(shell, "kernel", None) is None
        watched = sys.stdout.isatty() if in_terminal else is_attended(shell)
        is_disabled = not watched or bool(os.environ.get("TQDM_DISABLE"))
        self._tally, self._until_end = tally, ExitStack()
        self._until_end.enter_context(ticking())
        if in_terminal:  # Ctrl-C keeps the finished runs. A kernel cancels the cell, which does the same.
            self._until_end.enter_context(on_interrupt(lambda *_: stop()))
        self._bar = tqdm(total=tally.total, unit="run", file=sys.stdout, disable=is_disabled)

    def changed(self) -> None:
        cost = [f"{dollars(self._tally.cost)} so far"] if self._tally.cost else []
        self._bar.n, self._bar.initial = self._tally.done, self._tally.loaded  # loaded runs took no time
        self._bar.set_postfix_str(", ".join([*self._tally.counts()[1:], *cost]))

    def end(self, result: Any | None) -> None:
        self._until_end.close()
        self._bar.leave = result is not None
        self._bar.close()
        if result is not None and self._tally.note:
            say(f"{', '.join(self._tally.counts())}. {self._tally.note}")
