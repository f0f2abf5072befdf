"""The runs of a batch. Those that are saved need not all stay in memory."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agent_nb.batch.jobs import Job
from agent_nb.batch.store import Store
from agent_nb.errors import SavedRunError
from agent_nb.run import Run
from agent_nb.run.compare import Figures

MOST_LOADED = 256
"""How many saved runs of a batch are in memory at a time."""


class Results:
    """The runs of a batch by the index of their job.

    A saved run may leave memory and is read again when it is asked for. What the table shows always stays.
    """

    def __init__(self, jobs: Sequence[Job], store: Store | None) -> None:
        self.jobs = tuple(jobs)
        self.figures: list[Figures | None] = [None] * len(self.jobs)
        self._store = store
        self._unsaved: dict[int, Run] = {}
        self._loaded: OrderedDict[int, Run] = OrderedDict()
        """Saved runs in memory, the one that was used last at the end."""
        self._ids: dict[int, str] = {}
        """Ids of the saved runs: a later batch may replace a file."""

    def name(self, index: int) -> str:
        """The name of a run: an expression for it, if the result of the batch is bound to `runs`."""
        return f"runs[{index}]"

    def key(self, index: int) -> str:
        return f"runs-{self.jobs[index].key}"

    def add(self, index: int, run: Run, *, saved: bool = False) -> None:
        """Adds a run; `saved` if its file contains the same run."""
        self.figures[index] = Figures.of(run)
        if saved:
            self._ids[index] = run.id
            self._remember(index, run)
        else:
            self._unsaved[index] = run

    def find_saved(self) -> int:
        """Adds the runs that earlier batches saved; returns how many. Blocks: call it in a thread."""
        if self._store is None:
            return 0
        for index, run in enumerate(self._store.find((job.key, job.request) for job in self.jobs)):
            if run is not None:
                self.add(index, self._named(index, run), saved=True)
        return len(self._ids)

    def save(self, index: int, run: Run) -> bool:
        """Writes a run to the store; whether it may leave memory. Blocks: call it in a thread.

        It may not if its file contains another value, as when a secret was masked, or if a later batch would
        replace the file because the run did not end normally.
        """
        if self._store is None:
            return False
        job = self.jobs[index]
        self._store.save(run, job.key, job.request, job.label)
        if len(self.jobs) <= MOST_LOADED or run.reason != "end_turn":
            return False
        try:
            return self._store.load(job.key) == run
        except SavedRunError:
            return False

    def __getitem__(self, index: int) -> Run:
        if index in self._unsaved:
            return self._unsaved[index]
        run = self._loaded.get(index) or self._load(index)
        self._remember(index, run)
        return run

    def _remember(self, index: int, run: Run) -> None:
        self._loaded.pop(index, None)
        self._loaded[index] = run
        while len(self._loaded) > MOST_LOADED:
            self._loaded.popitem(last=False)

    def _load(self, index: int) -> Run:
        assert self._store is not None, "only saved runs leave memory"
        try:
            run = self._store.load(self.jobs[index].key)
        except SavedRunError as error:
            raise SavedRunError(f"`{self.name(index)}` cannot be loaded again. {error}") from None
        if run.id != self._ids[index]:
            raise SavedRunError(
                f"`{self.name(index)}` cannot be loaded again: another run has replaced its file in"
                f" {str(self._store.folder)!r}."
            )
        return self._named(index, run)

    def _named(self, index: int, run: Run) -> Run:
        return replace(run, name=self.name(index), key=self.key(index))

    def __getstate__(self) -> dict[str, Any]:
        """A pickle contains every run: the folder may not exist where it is loaded."""
        runs = {index: self[index] for index, figures in enumerate(self.figures) if figures is not None}
        return {**self.__dict__, "_store": None, "_unsaved": runs, "_loaded": OrderedDict(), "_ids": {}}
