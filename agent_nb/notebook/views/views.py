"""The views of a run: live in the page, once at the end if nobody is watching, as plain text, or in a terminal."""

import contextlib
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from IPython import get_ipython
from IPython.display import clear_output, display

from agent_nb._base.atomic import FOLDER
from agent_nb._base.secrets import MaskedJson, StreamMasker, terminal_text
from agent_nb._base.text import without_controls
from agent_nb._base.threads import running_loop
from agent_nb.core.events import ENDINGS, ApprovalRequested, Event, RunFinished, TextDelta, UsageUpdated
from agent_nb.core.options import Options
from agent_nb.core.phase import phase_after
from agent_nb.engine.approval import Answer, Ask
from agent_nb.engine.handle import Handle
from agent_nb.notebook.failures import FailedCell, PlainCell
from agent_nb.notebook.front_end import has_cells, is_attended, keeps_displays, needs_view, say
from agent_nb.notebook.session import settings, shown_hub
from agent_nb.render import TEXT, Progress, abandoned_frame, bundle, first_frame
from agent_nb.render.shown import addition
from agent_nb.render.summary import ready_line, replay_source
from agent_nb.render.transcript import ROW_STYLES, RowStyle, Transcript, line_text
from agent_nb.run import Run

if TYPE_CHECKING:  # it loads what only the widget needs
    from agent_nb.notebook.views.light_view import LightForm

Pick = Callable[[int], tuple[Run, str | None] | None]
"""Sets the variables to a variant (from 1); returns it and the name of its files, or None if others are running."""
Keep = Callable[[Run], str]
"""Keeps a run with the user's decisions about its changes of cells; returns its path, empty if it is not saved."""
CLEAR_LINE = "\r\x1b[2K"
DIM, RESET = "\x1b[2m", "\x1b[0m"
_COLOURS = {"ok": "\x1b[32m", "err": "\x1b[31m", "warn": "\x1b[33m", "dim": DIM}
WATCH = "If it is not shown here, trust the notebook to watch, stop and answer it."
TRUST = "Trust the notebook to watch; interrupt to stop."
"""Hint for servers that execute cells: they strip the widget's markup from untrusted outputs."""


def _display(form: MaskedJson, *, display_id: bool = False) -> Any:
    return display(form, raw=True, **({"display_id": True} if display_id else {}))


class View:
    """Base class: shows one run in the cell's output. Prints only warnings."""

    failure: FailedCell | PlainCell | None = None
    """The cell that `%agent fix` or `explain` is about."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def start(self, note: str) -> None:
        if note:
            self.warn(note)

    def warn(self, text: str) -> None:
        say(text)

    def connect(self, pick: Pick, keep: Keep) -> None:
        """Set the callbacks of the widget's buttons: Pick, and those of changes of cells."""

    def ask_with(self, ask: Ask) -> None:
        """Set the fallback that asks when this view cannot."""
        self._handle.approve_with(ask)

    def finish(self, run: Run, files_name: str | None, paths: list[str], image: bytes = b"") -> None:
        """Show the finished run. `image` is a small PNG of its page, for readers who do not see the page."""

    @property
    def is_drawn(self) -> bool:
        """Whether a page of the front end shows the live widget."""
        return False

    def abandon(self, why: str) -> None:
        """Mark the output as no longer running if the run cannot be shown."""


class TerminalView(View):
    """Prints a run as it progresses. The status line is omitted if the output is not a terminal."""

    def __init__(self, handle: Handle) -> None:
        super().__init__(handle)
        self._live = sys.stdout.isatty()
        """Whether the output is a terminal, which gets colours and a status line."""
        self._colours = self._live and not os.environ.get("NO_COLOR")
        self._phases: dict[int, str] = {}
        """By variant, like the transcripts."""
        self._transcripts: dict[int, Transcript] = {}
        self._masker = StreamMasker()
        self._mid_line = False
        self._status = ""

    def start(self, note: str) -> None:
        super().start(note)
        self._handle.subscribe(self._print)

    def warn(self, text: str) -> None:
        self._line(text)

    def ask_with(self, ask: Ask) -> None:
        async def ask_below(request: ApprovalRequested) -> Answer:
            self._clear_status()
            sys.stdout.write("\n" if self._mid_line else "")
            self._mid_line = False
            return await ask(request)

        super().ask_with(ask_below)

    def finish(self, run: Run, files_name: str | None, paths: list[str], image: bytes = b"") -> None:
        if run.variants:
            self._line(run.text)
        added = addition(run)
        for line in (*added.above, *added.lines):
            self._line(line)
        how = f"{ENDINGS[run.reason].words} in {run.seconds:.1f} s"
        if source := replay_source(run):
            how += f", replayed from {source}"
        self._line(f"{how}. {ready_line(run, files_name).replace('`', '')}")
        if run.html:
            self._line(f"{run.name}.open() shows the page in your browser.")

    def _print(self, event: Event) -> None:
        with contextlib.suppress(BrokenPipeError):  # the reader, such as `head`, has seen enough
            self._on_event(event)

    def _on_event(self, event: Event) -> None:
        variant = event.variant
        self._phases[variant] = phase_after(self._phases.get(variant, ""), event)
        row = self._transcripts.setdefault(variant, Transcript()).add(event)
        several = len(self._phases) > 1
        if isinstance(event, TextDelta):
            if several:  # the texts of several variants at once would be unreadable
                return
            self._write(self._masker.more(event.text))
        elif not isinstance(event, UsageUpdated):  # arrives in the middle of a text
            self._write(self._masker.rest())
        label = f"{variant + 1}: " if several else ""
        if row:
            self._line(label + line_text(row), ROW_STYLES[row.state])
            for text in row.lines:
                self._line(f"  {text}")
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

    def _line(self, text: str, look: RowStyle | None = None) -> None:
        self._clear_status()
        text = terminal_text(text)
        if look and self._colours:
            text = text.replace(look.icon, f"{_COLOURS[look.tone]}{look.icon}{RESET}", 1)
        sys.stdout.write(("\n" if self._mid_line else "") + text + "\n")
        self._mid_line = False
        sys.stdout.flush()

    def _show_status(self) -> None:
        if self._live and not self._mid_line:
            width = shutil.get_terminal_size().columns - 1
            phases = ", ".join(self._phases.values())
            status = terminal_text(f"{self._handle.name}: {phases}")[:width]
            if status != self._status:
                sys.stdout.write(f"{CLEAR_LINE}{DIM}{status}{RESET}")
                self._status = status

    def _clear_status(self) -> None:
        if self._status:
            sys.stdout.write(CLEAR_LINE)
            self._status = ""


def view_for(shell: Any, handle: Handle, options: Options, *, watched: bool, cell: str = "") -> View:
    """The view that suits the front end. `cell` is the whole cell, as the user wrote it."""
    if options.plain:
        return PlainView(handle)
    if getattr(shell, "kernel", None) is None:
        return FrozenView(handle) if keeps_displays(shell) else TerminalView(handle)
    return LiveView(handle, options, cell) if watched else FrozenView(handle)


class PlainView(View):
    """Prints deterministic plain text at the end."""

    def finish(self, run: Run, files_name: str | None, paths: list[str], image: bytes = b"") -> None:
        print(TEXT.render(run))


class FrozenView(View):
    """The finished run, displayed once, because nbval, papermill and ploomber-engine ignore updates of a display."""

    def start(self, note: str) -> None:
        super().start(note and f"{note}\n")  # a blank line: the frame that follows has no space above it

    def finish(self, run: Run, files_name: str | None, paths: list[str], image: bytes = b"") -> None:
        _display(bundle(run, image))


class LiveView(FrozenView):
    """Displays a placeholder that the page replaces with the live widget, and updates it to the finished run."""

    def __init__(self, handle: Handle, options: Options, cell: str = "") -> None:
        super().__init__(handle)
        self._options, self._cell = options, cell
        self._paths: list[str] = []
        self._display: Any = None
        self._extras: tuple[str | None, bytes] = None, b""
        """What is shown besides the run: the name of its files, and an image of its page."""
        self._picked = False
        self._light: LightForm | None = None
        self._in_console = False
        self._can_update = True
        """False where a server executes the cell: jupyter-server-documents shows an update as one more output."""
        self._printed: list[str] = []

    def start(self, note: str) -> None:
        from agent_nb.notebook.live.hub import hub
        from agent_nb.notebook.views.light_view import LightForm

        super().start(note)
        handle = self._handle
        self._live = hub().follow(handle, network=self._options.network)
        self._live.cell, self._live.failure = self._cell, self.failure
        self._can_update = is_attended(get_ipython())
        stop = f"run `{handle.name}.stop()`" if self._options.background else "interrupt the kernel"
        hint = f"To stop it, {stop}." if self._can_update else TRUST
        # Another window of a shared notebook keeps the first frame until it trusts the notebook.
        watch = f"{hint} {WATCH}" if self._can_update else hint
        frame = first_frame(handle.key, handle.name, handle.model, handle.id, Progress(hint=watch))
        self._display = _display(frame, display_id=True)
        self._in_console = self._can_update and not has_cells(get_ipython())
        if needs_view():
            display(hub().model)
        in_place = self._can_update and not needs_view()
        self._light = LightForm(handle, self._live, self._replace, hint, in_place=in_place)

    def warn(self, text: str) -> None:
        self._printed.append(text)
        super().warn(text)

    def connect(self, pick: Pick, keep: Keep) -> None:
        def on_pick(number: int) -> None:
            if result := pick(number):
                self._show(*result, picked=True)

        def on_decide(run: Run) -> None:
            if path := keep(run):
                self._paths = [*(old for old in self._paths if not old.startswith(FOLDER)), path]
            self._show(run, *self._extras, picked=self._picked)

        self._live.on_pick, self._live.on_decide = on_pick, on_decide

    def ask_with(self, ask: Ask) -> None:
        async def ask_below(request: ApprovalRequested) -> Answer:
            if self._light is not None:
                self._light.show_question(request)
            return await ask(request)

        self._live.ask_otherwise = ask_below

    def finish(self, run: Run, files_name: str | None, paths: list[str], image: bytes = b"") -> None:
        self._paths = paths
        self._show(run, files_name, image, picked=self._handle.chosen is not None)

    @property
    def is_drawn(self) -> bool:
        return self._live.stream.watched.is_set() and not self._live.refused

    def abandon(self, why: str) -> None:
        self._stop_light()
        if self._display is not None:
            self._replace(abandoned_frame(self._handle.name, why))

    def _show(self, run: Run, files_name: str | None, image: bytes = b"", *, picked: bool = False) -> None:
        self._stop_light()
        live, self._extras, self._picked = self._live, (files_name, image), picked
        live.stream.flush()
        is_saved = any(path.startswith(FOLDER) for path in self._paths)
        live.load = f"%{settings(get_ipython()).magic_name} load {run.name}" if is_saved else ""
        self._replace(bundle(run, image, live.load))
        if self._in_console and not live.refused and not live.stream.watched.is_set():
            print(without_controls(bundle(run)["text/plain"]))
        # The page replaces outputs that missed the update, so announce the end after it.
        live.announce_ready(run, files_name, picked=picked, paths=self._paths)

    def _replace(self, form: MaskedJson) -> None:
        if self._can_update:
            self._display.update(form, raw=True)
            return
        clear_output(wait=True)
        for text in self._printed:
            super().warn(text)
        self._display.display(form, raw=True)

    def _stop_light(self) -> None:
        if self._light is not None:
            self._light.stop()


def show_run(run: Run | Handle) -> MaskedJson | None:
    """The display bundle of a run as a cell's result; None (plain `repr`) if it is running and unknown to the page."""
    if isinstance(run, Handle):
        if run.result is None:
            is_known = shown_hub() is not None and shown_hub().knows(run.key, run.id)
            return first_frame(run.key, run.name, run.model, run.id) if is_known else None
        run = run.result
    hub = shown_hub() or _new_hub(get_ipython())
    return bundle(run if hub is None else replace(run, key=hub.adopt(run)))


def _new_hub(shell: Any) -> Any:
    """The hub for the first run of this kernel that is shown; None if no page can connect to it."""
    in_kernel = getattr(shell, "kernel", None) is not None and running_loop() is not None
    if not in_kernel or not is_attended(shell) or not has_cells(shell):
        return None
    from agent_nb.notebook.live.hub import hub

    if needs_view():
        display(hub().model)
    return hub()
