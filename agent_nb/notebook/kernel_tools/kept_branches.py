"""The branches of finished runs: a run that continues one of these is forked from its branch.

One thread looks after them: it stops those that are idle, and ends those that take much memory.
"""

import importlib
import math
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from agent_nb._base.log import log
from agent_nb._base.threads import start_thread

IDLE_SECONDS = 60.0
MEMORY_LIMIT = 1 << 30
"""Bytes of a branch that it shares neither with the session nor with another branch."""
LOOK_SECONDS = 5.0


class KeptBranch(Protocol):
    session: Any
    used_at: float
    """When a run has last used it."""

    @property
    def pid(self) -> int: ...
    @property
    def has_ended(self) -> bool: ...
    def pause(self, *, stopped: bool) -> None:
        """Stop the processes of the branch, or continue them."""

    def end(self) -> None: ...


class KeptBranches:
    def __init__(self) -> None:
        self._runs: dict[str, list[KeptBranch]] = {}
        """By the id of the run, oldest first. Variants that end before the others have a branch each until then."""
        self._changing, self._changed = threading.RLock(), threading.Event()
        self._is_watched = False

    def __iter__(self) -> Iterator[KeptBranch]:
        with self._changing:
            return iter([branch for branches in self._runs.values() for branch in branches])

    def keep(self, run_id: str, branch: KeptBranch, most: int) -> None:
        """Keep a branch, and end those of older runs than the newest `most`."""
        with self._changing:
            self._runs.setdefault(run_id, []).append(branch)
            branch.used_at = time.monotonic()
            for old in [*self._runs][: max(0, len(self._runs) - most)]:
                for each in self._runs.pop(old):
                    each.end()
            if self._runs and not self._is_watched:
                self._is_watched = start_thread("kept branches", self._watch) is not None
            self._changed.set()

    def resumed(self, session: Any) -> Any:
        """The branch of the run with this `BranchedKernel`, running; None if it has ended."""
        with self._changing:
            branch = next((branch for branch in self if branch.session is session), None)
            if branch is not None:
                branch.used_at = time.monotonic()
                branch.pause(stopped=False)
            return branch

    def end(self, *branches: KeptBranch) -> None:
        with self._changing:
            for run_id, kept in [*self._runs.items()]:
                self._runs[run_id] = [branch for branch in kept if branch not in branches]
                if not self._runs[run_id]:
                    del self._runs[run_id]
            self._changed.set()
        for branch in branches:
            branch.end()

    def forget(self) -> None:
        """In a process that was forked: the branches and the thread are those of the other one."""
        self.__init__()  # type: ignore[misc]

    def _watch(self) -> None:
        while True:
            self._changed.clear()
            for branch in self:
                self._look_at(branch)
            with self._changing:
                if not self._runs:
                    self._is_watched = False
                    return
            self._changed.wait(LOOK_SECONDS)

    def _look_at(self, branch: KeptBranch) -> None:
        memory = 0 if branch.has_ended else own_memory(branch.pid)
        if branch.has_ended or memory > MEMORY_LIMIT:
            log.info("a branch of a finished run has ended: %s bytes of its own", memory)
            self.end(branch)
            return
        with self._changing:
            if time.monotonic() - branch.used_at >= IDLE_SECONDS:
                branch.pause(stopped=True)


def own_memory(pid: int) -> float:
    """The bytes of a process that no other has, and those that it shares with others than this one; 0 if unknown."""
    try:
        private, shared = _sizes("self")
    except OSError:  # no Linux
        try:
            return float(importlib.import_module("psutil").Process(pid).memory_full_info().uss)
        except Exception:  # psutil is not installed, or may not look at the process
            return 0
    try:
        private, others = _sizes(pid)
    except OSError:
        return math.inf  # it has ended, or hides what it has
    return private + max(0, others - shared)


def _sizes(process: int | str) -> tuple[int, int]:
    """The private and the shared bytes of a process."""
    sizes = {"Private": 0, "Shared": 0, "SwapPss": 0}
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
        kind, _, size = line.partition(":")
        if (kind := kind.partition("_")[0]) in sizes:
            sizes[kind] += int(size.split()[0]) << 10
    return sizes["Private"] + sizes["SwapPss"], sizes["Shared"]


KEPT = KeptBranches()
