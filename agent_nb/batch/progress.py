"""Who is told how long work goes. `%load_ext agent_nb` has the notebook look; elsewhere nobody does."""

from collections.abc import Callable
from typing import Any


class Tally:
    """How far the work is. It changes as the work goes on, for whoever draws it."""

    __slots__ = ("cost", "done", "failed", "loaded", "note", "running", "total")

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = self.failed = self.running = self.loaded = 0
        self.cost = 0.0
        """US dollars spent since the work began, as far as prices are known."""
        self.note = ""
        """What the person should know beside the numbers."""

    def words(self) -> list[str]:
        """`3 of 8 done`, `4 running`, `1 failed`, `2 loaded`: only what there is to tell."""
        told = {"running": self.running, "failed": self.failed, "loaded": self.loaded}
        return [
            f"{self.done} of {self.total} done",
            *(f"{number} {what}" for what, number in told.items() if number),
        ]


class Watcher:
    """Looks on. This one does nothing; others draw."""

    def changed(self) -> None:
        """The tally has changed."""

    def end(self, result: Any | None) -> None:
        """The work is over; None when it never came to a result."""


Watch = Callable[[Tally, Callable[[], None]], Watcher]
"""Begins to look at a tally; the function ends the work."""

_watch: Watch | None = None


def watch_with(watch: Watch | None) -> None:
    """From now on `watch` is called whenever long work begins; None for nobody."""
    global _watch  # noqa: PLW0603 - one front end per process
    _watch = watch


def begin(tally: Tally, stop: Callable[[], None]) -> Watcher:
    """Tells whoever looks that work has begun."""
    return _watch(tally, stop) if _watch else Watcher()
