"""Reports the progress of `agent.map` to a front end. The notebook registers one when it is loaded."""

from collections.abc import Callable
from typing import Any


class Tally:
    def __init__(self, total: int) -> None:
        self.total = total
        self.done = self.failed = self.running = self.loaded = 0
        self.cost = 0.0
        """US dollars so far, without runs of unknown price. Loaded runs cost nothing."""
        self.note = ""

    def counts(self) -> list[str]:
        """`3 of 8 done`, `4 running`, `1 failed`, `2 loaded`, without the zeros."""
        counts = {"running": self.running, "failed": self.failed, "loaded": self.loaded}
        return [
            f"{self.done} of {self.total} done",
            *(f"{number} {state}" for state, number in counts.items() if number),
        ]


class Watcher:
    """Shows the progress of one batch. The base class is a no-op."""

    def changed(self) -> None:
        """Called when the tally has changed."""

    def end(self, result: Any | None) -> None:
        """Called at the end with the `Runs`, or None if the batch failed."""


Watch = Callable[[Tally, Callable[[], None]], Watcher]
"""Creates the watcher of a batch, given its tally and a function that stops it."""

_watch: Watch | None = None


def watch_with(watch: Watch | None) -> None:
    """Set the function that is called when a batch starts; None to show nothing."""
    global _watch  # noqa: PLW0603 - there is one front end per process
    _watch = watch


def begin(tally: Tally, stop: Callable[[], None]) -> Watcher:
    return _watch(tally, stop) if _watch else Watcher()
