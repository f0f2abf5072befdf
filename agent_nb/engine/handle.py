"""What can be followed while it goes on: one run, or several as one."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any, Protocol

from agent_nb.engine.journal import Book
from agent_nb.engine.tool_runner import Ask
from agent_nb.events import Event, Reason
from agent_nb.files import Files
from agent_nb.run import Run


class Recorded(Protocol):
    """Who records a run, as far as the run knows."""

    outcome: str
    """Where the cassette is, or why there is none."""

    async def settled(self) -> None:
        """Waits until the cassette is written."""


class Handle(ABC):
    """Work under way: `await` it for the `Run`, iterate it for its events."""

    def __init__(self, run_id: str, book: Book) -> None:
        self.id = run_id
        self.name = self.key = "run"
        self.result: Run | None = None
        self.chosen: int | None = None
        """The variant, from 1, that was picked before all had ended."""
        self.follower: asyncio.Task[None] | None = None
        """Cache by whoever waits for the end in the background."""
        self._book = book

    def label(self, name: str, key: str) -> None:
        """What the run is called, and the mark its output carries."""
        self.name, self.key = name, key

    def subscribe(self, subscriber: Callable[[Event], None]) -> None:
        """Calls `subscriber` with every event, those so far first. What it raises is logged, no more."""
        self._book.subscribe(subscriber)

    @property
    def events(self) -> list[Event]:
        """Everything that has happened so far."""
        return self._book.events

    @property
    def done(self) -> bool:
        return self.result is not None

    def batches(self) -> AsyncIterator[list[Event]]:
        """The events as they happen, those of one moment together."""
        return self._book.batches()

    async def __aiter__(self) -> AsyncIterator[Event]:
        async for batch in self.batches():
            for event in batch:
                yield event

    def __await__(self) -> Generator[Any, None, Run]:
        return self._wait().__await__()

    @abstractmethod
    async def _wait(self) -> Run: ...

    @abstractmethod
    def stop(self, reason: Reason = "stopped", number: int | None = None) -> None:
        """Ends it at once, or the variant of that number, from 1; what there is stays."""

    @abstractmethod
    def reach(self, ask: Ask) -> None:
        """How to reach the person for approvals; whoever shows the run sets it."""

    @abstractmethod
    def files_of(self, variant: int) -> Files:
        """The files of a variant as they stand."""

    @property
    @abstractmethod
    def model(self) -> str: ...

    @property
    @abstractmethod
    def recorded(self) -> str:
        """Where its cassette is, or why there is none; empty when none was asked for."""
