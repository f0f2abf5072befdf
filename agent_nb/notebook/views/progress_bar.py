"""The progress of `agent.map`: an HTML bar that the table of runs replaces, or one line in a terminal.

If nobody is watching, only the table is shown, so that the output of the same runs is the same.
"""

import asyncio
import contextlib
import shutil
import sys
import time
from collections.abc import Callable
from html import escape
from typing import Any

from IPython.display import display

from agent_nb._base.ticking import TICK
from agent_nb.batch.tally import Tally, Watcher
from agent_nb.notebook.front_end import is_attended, on_interrupt
from agent_nb.notebook.views.terminal import CLEAR_LINE, DIM, RESET
from agent_nb.render.summary import dollars

REDRAW = 0.25
"""Seconds between updates."""


def watch(shell: Any, tally: Tally, stop: Callable[[], None]) -> Watcher:
    """The watcher for this front end."""
    if getattr(shell, "kernel", None) is None:
        return Line(tally, stop)
    return Bar(shell, tally) if is_attended(shell) else Silent(shell, tally)


class _Ticking(Watcher):
    """Redraws a few times a second. The timer also wakes the loop, so that an interrupt is noticed."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.began = time.monotonic()
        self._changed = True
        self._ticker = asyncio.get_running_loop().create_task(self._tick())

    async def _tick(self) -> None:
        drawn = 0.0
        while True:
            if self._changed and time.monotonic() - drawn >= REDRAW:
                self._changed = False
                self.draw()
                drawn = time.monotonic()
            await asyncio.sleep(TICK)

    def changed(self) -> None:
        self._changed = True

    def end(self, result: Any | None) -> None:
        self._ticker.cancel()

    def draw(self) -> None:
        """Shows the current tally."""

    def status(self) -> str:
        """`3 of 8 done, 4 running, $0.12 so far, about 2 min left`."""
        tally = self.tally
        cost = f"{dollars(tally.cost)} so far" if tally.cost else ""
        left = time_left(tally, time.monotonic() - self.began)
        return ", ".join(filter(None, (*tally.counts(), cost, left)))


class Silent(_Ticking):
    """Shows only the table, at the end."""

    def __init__(self, shell: Any, tally: Tally) -> None:
        super().__init__(tally)
        self.shell, self.cell = shell, shell.execution_count

    def end(self, result: Any | None) -> None:
        super().end(result)
        if result is not None:
            self.show({"text/html": result._repr_html_(), "text/plain": repr(result)})
            if self.tally.note:
                print(self.tally.note)
            if self.shell.execution_count == self.cell:
                _show_once(self.shell, result)

    def show(self, bundle: dict[str, str]) -> None:
        display(bundle, raw=True)


class Bar(Silent):
    """A bar in the cell's output, updated in place."""

    def __init__(self, shell: Any, tally: Tally) -> None:
        super().__init__(shell, tally)
        self._display = display(self._bundle(), raw=True, display_id=True)

    def draw(self) -> None:
        self._display.update(self._bundle(), raw=True)

    def end(self, result: Any | None) -> None:
        super().end(result)
        if result is None:
            self.show({"text/html": "", "text/plain": ""})

    def show(self, bundle: dict[str, str]) -> None:
        if self.tally.loaded:
            note = f"{self.tally.loaded} of {self.tally.total} loaded from earlier runs."
            bundle = {"text/html": f"{bundle['text/html']}<p>{note}</p>", "text/plain": bundle["text/plain"]}
        self._display.update(bundle, raw=True)

    def _bundle(self) -> dict[str, str]:
        status = self.status()
        return {"text/html": bar_html(self.tally.done / self.tally.total, status), "text/plain": status}


class Line(_Ticking):
    """One line in a terminal. Ctrl-C stops the work and keeps the finished runs."""

    def __init__(self, tally: Tally, stop: Callable[[], None]) -> None:
        super().__init__(tally)
        self._handlers = contextlib.ExitStack()
        self._handlers.enter_context(on_interrupt(lambda *_: stop()))

    def draw(self) -> None:
        if sys.stdout.isatty():
            width = shutil.get_terminal_size().columns - 1
            sys.stdout.write(f"{CLEAR_LINE}{DIM}{self.status()[:width]}{RESET}")
            sys.stdout.flush()

    def end(self, result: Any | None) -> None:
        super().end(result)
        self._handlers.close()
        if sys.stdout.isatty():
            sys.stdout.write(CLEAR_LINE)
        if result is not None:
            print(" ".join(filter(None, (f"{self.status()}.", self.tally.note))))


def bar_html(share: float, status: str) -> str:
    """A bar in the colours of the page. In an untrusted notebook, which strips styles, only the text is left."""
    track = "height:4px;max-width:480px;border-radius:2px;background:color-mix(in srgb,currentColor 16%,transparent)"
    fill = f"width:{share:.1%};height:100%;border-radius:2px;background:var(--jp-brand-color1,#1976d2)"
    return f'<div style="{track}"><div style="{fill}"></div></div><p>{escape(status)}</p>'


def time_left(tally: Tally, elapsed: float) -> str:
    """`about 2 min left`; empty until a run has finished. Loaded runs are not counted, since they take no time."""
    asked = tally.done - tally.loaded
    left = tally.total - tally.done
    if not asked or not left:
        return ""
    seconds = elapsed / asked * left
    if seconds < 10:
        return "a few seconds left"
    if seconds < 90:
        return f"about {round(seconds, -1):.0f} s left"
    return f"about {seconds / 60:.0f} min left"


_shown: list[Any] = []
"""Tables in the output of the current cell."""


def _show_once(shell: Any, result: Any) -> None:
    """Keeps a table that is in the cell's output from being shown again as the cell's result."""
    formatter = shell.display_formatter.ipython_display_formatter

    def show(value: Any) -> None:
        if all(value is not one for one in _shown):
            display({"text/html": value._repr_html_(), "text/plain": repr(value)}, raw=True)

    def forget(*_: Any) -> None:
        _shown.clear()
        formatter.pop(type(result), None)
        shell.events.unregister("post_run_cell", forget)

    if not _shown:
        formatter.for_type(type(result), show)
        shell.events.register("post_run_cell", forget)
    _shown.append(result)
