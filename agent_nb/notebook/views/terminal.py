"""A run in terminal IPython: text as it streams, a line for each row, and a status line at the bottom."""

import os
import re
import shutil
import sys

from agent_nb._base.secrets import safe_text
from agent_nb._base.stream_masker import StreamMasker
from agent_nb.engine.approval import Answer, Ask
from agent_nb.engine.handle import Handle
from agent_nb.events import ENDINGS, ApprovalRequested, Event, RunFinished, TextDelta, UsageUpdated
from agent_nb.notebook.views.view import View
from agent_nb.phase import phase_after
from agent_nb.render import ready_line
from agent_nb.render.rows import LOOKS, Look, line_text
from agent_nb.render.summary import replay_source
from agent_nb.render.transcript import Transcript
from agent_nb.run import Run

CLEAR_LINE = "\r\x1b[2K"
DIM, RESET = "\x1b[2m", "\x1b[0m"
_COLOURS = {"ok": "\x1b[32m", "err": "\x1b[31m", "warn": "\x1b[33m", "dim": DIM}
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def without_controls(text: str) -> str:
    return _CONTROLS.sub("", text)


class TerminalView(View):
    """Prints a run while it happens. The status line is left out when the output is not a terminal."""

    def __init__(self, handle: Handle) -> None:
        super().__init__(handle)
        self._live = sys.stdout.isatty()
        """Whether the user reads it: then it has colours and a status line."""
        self._colours = self._live and not os.environ.get("NO_COLOR")
        self._phases: dict[int, str] = {}
        """By variant, as are the transcripts."""
        self._transcripts: dict[int, Transcript] = {}
        self._masker = StreamMasker()
        self._mid_line = False
        self._status = ""

    def start(self, note: str) -> None:
        super().start(note)
        self._handle.subscribe(self._on_event)

    def warn(self, text: str) -> None:
        self._line(text)

    def ask_with(self, ask: Ask) -> None:
        async def ask_below(request: ApprovalRequested) -> Answer:
            self._clear_status()
            sys.stdout.write("\n" if self._mid_line else "")
            self._mid_line = False
            return await ask(request)

        super().ask_with(ask_below)

    def finish(self, run: Run, files_name: str | None, saved: list[str], image: bytes = b"") -> None:
        if run.variants:
            self._line(run.text)
        how = f"{ENDINGS[run.reason].words} in {run.seconds:.1f} s"
        if source := replay_source(run):
            how += f", replayed from {source}"
        self._line(f"{how}. {ready_line(run, files_name).replace('`', '')}")
        if run.html:
            self._line(f"{run.name}.open() shows the page in your browser.")

    def _on_event(self, event: Event) -> None:
        variant = event.variant
        self._phases[variant] = phase_after(self._phases.get(variant, ""), event)
        row = self._transcripts.setdefault(variant, Transcript()).add(event)
        several = len(self._phases) > 1
        if isinstance(event, TextDelta):
            if several:  # the texts of several variants at once would be unreadable
                return
            self._write(self._masker.more(event.text))
        elif not isinstance(event, UsageUpdated):  # which arrives in the middle of a text
            self._write(self._masker.rest())
        label = f"{variant + 1}: " if several else ""
        if row:
            self._line(label + line_text(row), LOOKS[row.state])
        if not isinstance(event, RunFinished):
            self._show_status()
        elif several:
            self._line(label + self._phases[variant])
        else:
            self._clear_status()
        sys.stdout.flush()

    def _write(self, text: str) -> None:
        if text := without_controls(text):
            self._clear_status()
            sys.stdout.write(text)
            self._mid_line = not text.endswith("\n")

    def _line(self, text: str, look: Look | None = None) -> None:
        self._clear_status()
        text = without_controls(safe_text(text))
        if look and self._colours:
            text = text.replace(look.icon, f"{_COLOURS[look.tone]}{look.icon}{RESET}", 1)
        sys.stdout.write(("\n" if self._mid_line else "") + text + "\n")
        self._mid_line = False
        sys.stdout.flush()

    def _show_status(self) -> None:
        if self._live and not self._mid_line:
            width = shutil.get_terminal_size().columns - 1
            phases = ", ".join(self._phases.values())
            status = without_controls(safe_text(f"{self._handle.name}: {phases}"))[:width]
            if status != self._status:
                sys.stdout.write(f"{CLEAR_LINE}{DIM}{status}{RESET}")
                self._status = status

    def _clear_status(self) -> None:
        if self._status:
            sys.stdout.write(CLEAR_LINE)
            self._status = ""
