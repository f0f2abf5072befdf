"""Shows a running run without the widget: redraws the first frame with the progress so far."""

import asyncio
from collections.abc import Callable, Iterable

from agent_nb._base.secrets import MaskedJson, StreamMasker
from agent_nb._base.text import printable_line
from agent_nb.core.events import ApprovalRequested, Event, TurnFinished
from agent_nb.core.phase import phase_after
from agent_nb.engine.handle import Handle
from agent_nb.notebook.asking import question_title
from agent_nb.notebook.live.live_run import FIRST_HELLO, LiveRun
from agent_nb.render import Progress, first_frame
from agent_nb.render.transcript import LineRow, Row, TextRow, ToolRow, Transcript

INTERVAL = 1.0
MAX_ROWS = 10
"""Number of newest rows shown: a Jupyter server drops outputs above 1 MB a second."""
MAX_SAVED_ROWS = 200
"""Number of newest rows in a notebook that is saved during a run; its frame changes only with each finished turn."""


def progress_of(events: Iterable[Event], hint: str, most: int = MAX_ROWS) -> Progress:
    phases: dict[int, str] = {}
    transcript = Transcript()
    for event in events:
        phases[event.variant] = phase_after(phases.get(event.variant, ""), event)
        transcript.add(event)
    if len(phases) > 1:
        lines = [
            LineRow(turn=0, title=f"Variant {number + 1}", detail=phase)
            for number, phase in sorted(phases.items())
        ]
        return Progress(f"{len(phases)} variants", tuple(lines), hint)
    rows: list[Row] = [
        _without_outputs(row) if isinstance(row, ToolRow) else row for row in transcript.rows[-most:]
    ]
    if last := transcript.streamed:
        # A partially received secret is not shown.
        rows.append(TextRow(turn=last.turn, text=StreamMasker().more(last.text)))
    return Progress(printable_line(phases.get(0, "starting")), tuple(rows), hint)


def _without_outputs(call: ToolRow) -> LineRow:
    state = "info" if call.state == "stopped" else call.state  # it has not ended yet
    return LineRow(turn=call.turn, title=call.title, detail=call.detail, state=state)


class LightForm:
    """Updates the output of one run until a page with the widget requests the run.

    Then a notebook that is saved before the end contains it, so it is updated at each finished turn, unless that would
    draw the widget anew because the front end does not update outputs `in_place`.
    """

    def __init__(
        self,
        handle: Handle,
        live: LiveRun,
        show: Callable[[MaskedJson], None],
        hint: str,
        *,
        in_place: bool = True,
    ) -> None:
        self._handle, self._live, self._show, self._hint = handle, live, show, hint
        self._in_place = in_place
        self._shown: Progress | None = None
        self._task = asyncio.get_running_loop().create_task(self._follow())

    def stop(self) -> None:
        self._task.cancel()

    def show_question(self, request: ApprovalRequested) -> None:
        """Show the question. `input()` then blocks the loop, and with it all updates."""
        several = len({event.variant for event in self._handle.events}) > 1
        title = question_title(request, several=several)
        self._update(f"{title[:1].upper()}{title[1:]}: answer below.")

    async def _follow(self) -> None:
        wait = FIRST_HELLO
        while not await self._live.is_watched(wait):
            self._update(self._hint)
            wait = INTERVAL
        async for event in self._handle:
            if self._in_place and isinstance(event, TurnFinished) and not self._handle.done:
                self._update(self._hint, MAX_SAVED_ROWS)
                await asyncio.sleep(INTERVAL)

    def _update(self, hint: str, most: int = MAX_ROWS) -> None:
        handle = self._handle
        progress = progress_of(handle.events, hint, most)
        if progress != self._shown:
            self._shown = progress
            self._show(first_frame(handle.key, handle.name, handle.model, handle.id, progress))
