"""The views of a run: live in the page, once at the end if nobody is watching, as plain text, or in a terminal."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from agent_nb.engine.approval import Answer, Ask
from agent_nb.engine.handle import Handle
from agent_nb.events import ApprovalRequested
from agent_nb.notebook.views.terminal import TerminalView, without_controls
from agent_nb.render import abandoned_frame, bundle, first_frame, to_text
from agent_nb.run import Run

if TYPE_CHECKING:  # it loads what only the widget needs
    from agent_nb.notebook.views.light import LightForm

Pick = Callable[[int], tuple[Run, str | None] | None]
"""Binds a variant, counted from 1; returns it and the name of its files, or None if others are still running."""


Annotate = Callable[[int, float | str, str], Run]
"""Puts a note on the run of the variable: a variant, counted from 1, a moment, and the text."""


class View(Protocol):
    """Shows one run in the cell's output."""

    def start(self, note: str) -> None: ...

    def on_pick(self, pick: Pick) -> None: ...

    def on_annotate(self, annotate: Annotate) -> None: ...

    def ask_with(self, ask: Ask) -> None:
        """Sets how to ask for approval where the view itself cannot."""

    def finish(self, run: Run, files_name: str | None, saved: list[str], image: bytes = b"") -> None:
        """Shows the finished run. `image` is a small JPEG of its page, for readers of an untrusted notebook."""

    def warn(self, text: str) -> None: ...

    def abandon(self, why: str) -> None:
        """The run cannot be shown; its output must not say "running" any longer."""


def view_for(shell: Any, handle: Handle, *, plain: bool, attended: bool, network: bool = False) -> View:
    """The view that suits the front end; with `network` its live preview may use any https address."""
    if plain:
        return PlainView(handle)
    if getattr(shell, "kernel", None) is None:
        return TerminalView(handle)
    return LiveView(handle, network=network) if attended else FrozenView()


class _KernelView:
    """What the views in a kernel share."""

    def start(self, note: str) -> None:
        if note:
            self.warn(f"{note}\n")  # a blank line: the frame that follows has no space above it

    def warn(self, text: str) -> None:
        print(text)

    def on_pick(self, pick: Pick) -> None:
        """Does nothing: only the widget has a Pick button."""

    def on_annotate(self, annotate: Annotate) -> None:
        """Does nothing: only the widget takes notes."""

    def ask_with(self, ask: Ask) -> None:
        """Does nothing: nobody is there."""

    def abandon(self, why: str) -> None:
        """Does nothing: only the widget shows a run that is under way."""


class PlainView(_KernelView):
    """Plain text at the end, the same every time."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def ask_with(self, ask: Ask) -> None:
        self._handle.approve_with(ask)

    def start(self, note: str) -> None:
        if note:
            self.warn(note)

    def finish(self, run: Run, files_name: str | None, saved: list[str], image: bytes = b"") -> None:
        print(without_controls(to_text(run)))


class FrozenView(_KernelView):
    """The finished run, displayed once, because nbval and papermill ignore updates of a display."""

    def finish(self, run: Run, files_name: str | None, saved: list[str], image: bytes = b"") -> None:
        from IPython.display import display

        display(bundle(run, image), raw=True)


class LiveView(_KernelView):
    """Displays a placeholder that the page replaces with the live widget, and updates it to the finished run."""

    def __init__(self, handle: Handle, *, network: bool = False) -> None:
        self._handle, self._network = handle, network
        self._saved: list[str] = []
        self._display: Any = None
        self._light: LightForm | None = None

    def start(self, note: str) -> None:
        from IPython import get_ipython
        from IPython.display import display

        from agent_nb.notebook.host import needs_view
        from agent_nb.notebook.live.hub import hub
        from agent_nb.notebook.views.light import LightForm

        super().start(note)
        handle = self._handle
        self._live = hub().follow(handle, network=self._network)
        frame = first_frame(handle.key, handle.name, handle.model, handle.id)
        self._display = display(frame, raw=True, display_id=True)
        if needs_view(get_ipython()):
            display(hub().model)
        self._light = LightForm(handle, self._live, self._update)

    def on_pick(self, pick: Pick) -> None:
        def picked(number: int) -> None:
            if bound := pick(number):
                self._show(*bound, picked=True)

        self._live.on_pick = picked

    def on_annotate(self, annotate: Annotate) -> None:
        self._live.on_annotate = annotate

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
            self._display.update(abandoned_frame(self._handle.name, why), raw=True)

    def _show(self, run: Run, files_name: str | None, image: bytes = b"", *, picked: bool = False) -> None:
        self._end_light()
        live = self._live
        live.stream.flush()
        if live.placed:
            self._display.update(bundle(run, image), raw=True)
        else:
            # The output was cleared: there is nothing to update.
            self._display.display(bundle(run, image), raw=True)
            live.placed = True
        # The page replaces what the update did not reach, so it hears of the end after the update.
        live.announce_ready(run, files_name, picked=picked, paths=self._saved)

    def _update(self, form: dict[str, str]) -> None:
        if self._live.placed:
            self._display.update(form, raw=True)

    def _end_light(self) -> None:
        if self._light is not None:
            self._light.stop()
            self._light = None


def show_run(run: Run | Handle) -> dict[str, str] | None:
    """The display of a run that is a cell's result; None for the plain `repr`, if it is running and not in the page."""
    widget = sys.modules.get("agent_nb.notebook.live.hub")
    hub = widget.existing_hub() if widget is not None else None
    if isinstance(run, Handle):
        if run.result is None:
            shown = hub is not None and hub.knows(run.key, run.id)
            return first_frame(run.key, run.name, run.model, run.id) if shown else None
        run = run.result
    return bundle(run if hub is None else replace(run, key=hub.adopt(run)))
