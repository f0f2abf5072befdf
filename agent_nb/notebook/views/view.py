"""What every view of a run can do; most front ends can do only some of it."""

from collections.abc import Callable

from agent_nb.engine.approval import Ask
from agent_nb.engine.handle import Handle
from agent_nb.run import Run

Pick = Callable[[int], tuple[Run, str | None] | None]
"""Binds a variant, counted from 1; returns it and the name of its files, or None if others are still running."""


class View:
    """Shows one run in the cell's output. This one shows nothing but warnings."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def start(self, note: str) -> None:
        if note:
            self.warn(note)

    def warn(self, text: str) -> None:
        print(text)

    def connect(self, pick: Pick) -> None:
        """Sets what the widget's Pick buttons do."""

    def ask_with(self, ask: Ask) -> None:
        """Sets how to ask for approval where the view itself cannot."""
        self._handle.approve_with(ask)

    def finish(self, run: Run, files_name: str | None, saved: list[str], image: bytes = b"") -> None:
        """Shows the finished run. `image` is a small PNG of its page, for readers who do not see the page."""

    def abandon(self, why: str) -> None:
        """The run cannot be shown; an output that says "running" must not say so any longer."""
