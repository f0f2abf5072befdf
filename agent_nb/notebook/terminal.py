"""A run in terminal IPython: text as it streams, one line per tool, a status line that stays below."""

import shutil
import sys

from agent_nb.engine import RunHandle
from agent_nb.events import Event, RunFinished, TextDelta, ToolFinished, ToolReady, ToolStarted, TurnRetrying
from agent_nb.phase import phase_after
from agent_nb.render import ready_line
from agent_nb.run import Run

CLEAR_LINE = "\r\x1b[2K"
DIM, RESET = "\x1b[2m", "\x1b[0m"


class TerminalView:
    """Writes to the terminal while the run goes on; without one (a pipe) only whole lines."""

    def __init__(self, handle: RunHandle) -> None:
        self._handle = handle
        self._live = sys.stdout.isatty()
        self._phase = ""
        self._titles: dict[str, str] = {}
        self._mid_line = False
        self._status = ""
        """The status line as it stands; empty when there is none."""

    def start(self, note: str) -> None:
        if note:
            self.warn(note)
        self._handle.subscribe(self._on_event)

    def warn(self, text: str) -> None:
        self._line(text)

    def finish(self, run: Run, files_name: str | None, saved: list[str]) -> None:
        self._line(f"{self._phase} in {run.seconds:.1f} s. {ready_line(run, files_name).replace('`', '')}")

    def _on_event(self, event: Event) -> None:
        self._phase = phase_after(self._phase, event)
        match event:
            case TextDelta(text=text):
                self._clear_status()
                sys.stdout.write(text)
                self._mid_line = not text.endswith("\n")
            case ToolStarted(call_id=call_id, title=title) | ToolReady(call_id=call_id, title=title):
                self._titles[call_id] = title
            case ToolFinished(call_id=call_id, ok=ok, code=code, summary=summary):
                mark = "✓" if ok else "■" if code == "STOPPED" else "✗"
                self._line(f"{mark} {self._titles.get(call_id, '')}  {summary}")
            case TurnRetrying(why=why):
                self._line(f"… {why}")
            case RunFinished():
                self._clear_status()
            case _:
                pass
        if not self._mid_line and not isinstance(event, RunFinished):
            self._show_status()
        sys.stdout.flush()

    def _line(self, text: str) -> None:
        self._clear_status()
        sys.stdout.write(("\n" if self._mid_line else "") + text + "\n")
        self._mid_line = False
        sys.stdout.flush()

    def _show_status(self) -> None:
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            status = f"{self._handle.name}: {self._phase}"[:width]
            if status != self._status:
                sys.stdout.write(f"{CLEAR_LINE}{DIM}{status}{RESET}")
                self._status = status

    def _clear_status(self) -> None:
        if self._status:
            sys.stdout.write(CLEAR_LINE)
            self._status = ""
