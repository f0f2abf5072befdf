"""Shows a run under way where no page has the widget: its first frame is replaced by a light form, again and again."""

import asyncio
from collections.abc import Callable

from agent_nb.engine.handle import Handle
from agent_nb.events import ApprovalRequested
from agent_nb.notebook.asking import question_title
from agent_nb.notebook.live.live_run import FIRST_HELLO, LiveRun
from agent_nb.render import RunSoFar, first_frame, light_form

INTERVAL = 1.0
"""Seconds between two updates."""
TALL_UPDATES = 2
"""Updates with the height of the widget: in a browser that is slow to load, it often comes right after them."""


class LightForm:
    """Updates the output of one run as long as no page has said hello."""

    def __init__(self, handle: Handle, live: LiveRun, show: Callable[[dict[str, str]], None]) -> None:
        self._handle, self._live, self._show = handle, live, show
        self._run = RunSoFar(handle.key, handle.name, handle.model, handle.id)
        self._read = 0
        """How many of the events are in the form."""
        self._updates = 0
        self._shown, self._question = "", ""
        self._task = asyncio.get_running_loop().create_task(self._follow())

    def stop(self) -> None:
        self._task.cancel()

    def show_question(self, request: ApprovalRequested) -> None:
        """Shows what is asked below the form. `input()` then blocks the loop, and with it all updates."""
        self._read_new()
        title = question_title(request, several=len(self._run.variants) > 1)
        self._update(f"{title[:1].upper()}{title[1:]}: answer below.")

    async def _follow(self) -> None:
        if await self._live.is_watched(FIRST_HELLO):
            return
        self._update()
        while not await self._live.is_watched(INTERVAL):
            self._update()
        self._show(first_frame(self._handle.key, self._handle.name, self._handle.model, self._handle.id))

    def _read_new(self) -> bool:
        """Takes in the events since the last time; returns whether there were any."""
        new = self._handle.events[self._read :]
        for event in new:
            self._run.add(event)
        self._read += len(new)
        return bool(new)

    def _update(self, question: str = "") -> None:
        """Shows what has happened since the last update, if that changes the form."""
        if not self._read_new() and question == self._question:
            return
        self._question = question
        tall = self._updates < TALL_UPDATES and not question and not self._live.refused
        stop = f"run `{self._handle.name}.stop()`" if self._live.in_background else "interrupt the kernel"
        note = f"Still running at the last update. The result will replace this; to stop the run, {stop}."
        form = light_form(self._run, note, question, tall=tall)
        if form["text/html"] != self._shown:
            self._shown = form["text/html"]
            self._updates += 1
            self._show(form)
