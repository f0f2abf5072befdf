"""Writes a run into its file while it goes, for a kernel that is killed: once a second, and at each finished turn."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from itertools import pairwise

import agent_nb.core.events as ev
from agent_nb._base.log import log
from agent_nb._base.secrets import registered
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.core.event_list import EventList
from agent_nb.core.messages import Usage
from agent_nb.engine.handle import Handle, RunHandle
from agent_nb.files import Files
from agent_nb.run.part_file import Batch, PartFile, PartRows, split
from agent_nb.run.record import RunRecord
from agent_nb.run.run_writer import SentConversation
from agent_nb.run.store import RunStore

INTERVAL = 1.0


class Saving:
    """The file of a run in progress. The encoding and the writing are done in a thread."""

    def __init__(self, handle: Handle, store: RunStore, warn: Callable[[str], None]) -> None:
        self._handle, self._store, self._warn = handle, store, warn
        self._variants = [_SavedVariant(variant) for variant in handle.runs]
        self._part: PartFile | None = None
        self._secrets = -1
        self._due = asyncio.Event()
        handle.subscribe(self._see)
        self._task = asyncio.get_running_loop().create_task(self._follow(), name=f"agent_nb save {handle.id}")

    async def end(self) -> None:
        """Stop writing. The store then replaces the file by that of the whole run."""
        self._due.set()
        await self._task
        if self._part is not None:
            self._part.close()

    def _see(self, event: ev.Event) -> None:
        if isinstance(event, ev.TurnFinished | ev.RunFinished):
            self._due.set()

    async def _follow(self) -> None:
        try:
            while await self._next():
                await self._write()
        except OSError as error:
            self._warn(f"The run is not saved while it goes: {error.strerror or error}.")
        except Exception:  # it is saved once it has ended
            log.exception("a run could not be written while it goes")

    async def _next(self) -> bool:
        """Wait until it is time to write; False once the run has ended."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._due.wait(), INTERVAL)
        self._due.clear()
        return not self._handle.done

    async def _write(self) -> None:
        again = len(registered) != self._secrets  # what is a secret now may be in the file
        self._secrets = len(registered)
        if again:
            first: Json = {}
            for variant in self._variants:
                variant.begin(self._handle.runs[0].settings, first)
        batches = [variant.take() for variant in self._variants]
        await off_loop(self._append, self._record(), batches, again=again)

    def _append(self, record: RunRecord, batches: Sequence[Batch], *, again: bool) -> None:
        pairs = zip(self._variants, batches, strict=True)
        lines = [line for variant, batch in pairs for line in variant.rows.batch(batch)]
        if self._part is None:
            self._part, again = self._store.begin(record), False
        self._part.write(lines, again=again)

    def _record(self) -> RunRecord:
        """What the header is made of."""
        handle = self._handle
        return RunRecord(
            id=handle.id,
            name=handle.name,
            key=handle.key,
            prompt=handle.prompt,
            model=handle.model,
            reason="interrupted",
            settings=handle.runs[0].settings,
            fingerprint=handle.runs[0].fingerprint,
            files=Files(),
            messages=(),
            events=EventList(),
            usage=Usage(),
            cost=None,
            seconds=0.0,
        )


class _SavedVariant:
    def __init__(self, handle: RunHandle) -> None:
        self._handle = handle
        self._seen = self._taken = 0
        """Numbers of events."""
        self._conversations: dict[int, SentConversation] = {}
        """By the number of events before them."""

    def begin(self, settings: Json, first: Json) -> None:
        """Write all events, again if some have been written."""
        self._taken = 0
        self.rows = PartRows(self._handle.variant, settings, first)

    def take(self) -> Batch:
        handle = self._handle
        self._see(handle.events[self._seen :])
        events = handle.events[self._taken :]
        count, piece = split(events)
        start, end = self._taken, self._taken + count
        places = [start, *(place for place in self._conversations if start < place <= end)]
        parts = [
            (self._conversations.get(place) if place > start else None, events[place - start : stop - start])
            for place, stop in pairwise([*places, end])
        ]
        self._taken = end
        return Batch(parts, handle.files, piece)

    def _see(self, events: Sequence[ev.Event]) -> None:
        """Note the conversation that begins with the first turn, or after the last compaction of these events."""
        added = 0
        for at in reversed(range(len(events))):
            event = events[at]
            is_first = isinstance(event, ev.TurnStarted) and event.step == 1
            if is_first or isinstance(event, ev.ConversationCompacted):
                now = self._handle.conversation
                messages = now.messages[: len(now.messages) - added]
                self._conversations[self._seen + at + 1] = now._replace(messages=messages)
                break
            added += isinstance(event, ev.MessageAdded)
        self._seen += len(events)
