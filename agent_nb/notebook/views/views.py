"""The views of a run: live in the page, once at the end if nobody is watching, as plain text, or in a terminal."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent_nb.engine.approval import Answer, Ask
from agent_nb.engine.handle import Handle
from agent_nb.events import ApprovalRequested
from agent_nb.notebook.session import shown_hub
from agent_nb.notebook.views.terminal import TerminalView, without_controls
from agent_nb.notebook.views.view import Pick, View
from agent_nb.options import Options
from agent_nb.render import Progress, abandoned_frame, bundle, first_frame, to_text
from agent_nb.run import Run

if TYPE_CHECKING:  # it loads what only the widget needs
    from agent_nb.notebook.views.light_view import LightForm


TRUST = "Trust the notebook to watch; interrupt to stop."
"""For a server that executes the cells: it removes what the widget looks for from outputs that are not trusted."""


def view_for(shell: Any, handle: Handle, options: Options, *, watched: bool, cell: str = "") -> View:
    """The view that suits the front end. `cell` is the whole cell, as the user wrote it."""
    if options.plain:
        return PlainView(handle)
    if getattr(shell, "kernel", None) is None:
        return TerminalView(handle)
    return LiveView(handle, options, cell) if watched else FrozenView(handle)


class PlainView(View):
    """Plain text at the end, the same every time."""

    def finish(self, run: Run, files_name: str | None, saved: list[str], image: bytes = b"") -> None:
        print(without_controls(to_text(run)))


class FrozenView(View):
    """The finished run, displayed once, because nbval and papermill ignore updates of a display."""

    def start(self, note: str) -> None:
        super().start(note and f"{note}\n")  # a blank line: the frame that follows has no space above it

    def finish(self, run: Run, files_name: str | None, saved: list[str], image: bytes = b"") -> None:
        from IPython.display import display

        display(bundle(run, image), raw=True)


class LiveView(FrozenView):
    """Displays a placeholder that the page replaces with the live widget, and updates it to the finished run."""

    def __init__(self, handle: Handle, options: Options, cell: str = "") -> None:
        super().__init__(handle)
        self._options, self._cell = options, cell
        self._saved: list[str] = []
        self._display: Any = None
        self._light: LightForm | None = None
        self._in_console = False
        self._can_update = True
        """False where a server executes the cell: jupyter-server-documents shows an update as one more output."""
        self._printed: list[str] = []

    def start(self, note: str) -> None:
        from IPython import get_ipython
        from IPython.display import display

        from agent_nb.notebook.front_end import has_cells, is_attended, needs_view
        from agent_nb.notebook.live.hub import hub
        from agent_nb.notebook.views.light_view import LightForm

        super().start(note)
        handle = self._handle
        self._live = hub().follow(handle, network=self._options.network)
        self._live.cell, self._live.in_background = self._cell, self._options.background
        self._live.failure = self._options.failure
        self._can_update = is_attended(get_ipython())
        stop = f"run `{handle.name}.stop()`" if self._options.background else "interrupt the kernel"
        hint = f"To stop it, {stop}." if self._can_update else TRUST
        frame = first_frame(handle.key, handle.name, handle.model, handle.id, Progress(hint=hint))
        self._display = display(frame, raw=True, display_id=True)
        self._in_console = self._can_update and not has_cells(get_ipython())
        if needs_view():
            display(hub().model)
        self._light = LightForm(handle, self._live, self._replace, hint)

    def warn(self, text: str) -> None:
        self._printed.append(text)
        super().warn(text)

    def connect(self, pick: Pick) -> None:
        def picked(number: int) -> None:
            if bound := pick(number):
                self._show(*bound, picked=True)

        self._live.on_pick = picked

    def ask_with(self, ask: Ask) -> None:
        async def ask_below(request: ApprovalRequested) -> Answer:
            if self._light is not None:
                self._light.show_question(request)
            return await ask(request)

        self._live.ask_otherwise = ask_below

    def finish(self, run: Run, files_name: str | None, saved: list[str], image: bytes = b"") -> None:
        self._saved = saved
        self._show(run, files_name, image, picked=self._handle.chosen is not None)

    def abandon(self, why: str) -> None:
        self._end_light()
        if self._display is not None:
            self._replace(abandoned_frame(self._handle.name, why))

    def _show(self, run: Run, files_name: str | None, image: bytes = b"", *, picked: bool = False) -> None:
        self._end_light()
        live = self._live
        live.stream.flush()
        self._replace(bundle(run, image))
        if self._in_console and not live.refused and not live.stream.watched.is_set():
            print(without_controls(bundle(run)["text/plain"]))
        # The page replaces what the update did not reach, so it hears of the end after the update.
        live.announce_ready(run, files_name, picked=picked, paths=self._saved)

    def _replace(self, form: dict[str, str]) -> None:
        from IPython.display import clear_output

        if self._can_update:
            self._display.update(form, raw=True)
            return
        clear_output(wait=True)
        for text in self._printed:
            super().warn(text)
        self._display.display(form, raw=True)

    def _end_light(self) -> None:
        if self._light is not None:
            self._light.stop()
            self._light = None


def show_run(run: Run | Handle) -> dict[str, str] | None:
    """The display of a run that is a cell's result; None for the plain `repr`, if it is running and not in the page."""
    hub = shown_hub()
    if isinstance(run, Handle):
        if run.result is None:
            shown = hub is not None and hub.knows(run.key, run.id)
            return first_frame(run.key, run.name, run.model, run.id) if shown else None
        run = run.result
    return bundle(run if hub is None else replace(run, key=hub.adopt(run)))
