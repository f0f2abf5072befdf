"""Writes a run into its file while it goes, for a kernel that is killed: once a second, and at each finished turn.

A secret is never in the file, also none of which only the beginning has arrived: the end of a text is written once
more of it has followed.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import agent_nb.core.events as ev
from agent_nb._base.log import log
from agent_nb._base.program import process_start
from agent_nb._base.secrets import MaskedJson, cut_before_secret, registered
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.engine.handle import Handle, RunHandle
from agent_nb.files import Files
from agent_nb.run.run_writer import SentConversation, VariantRows, file_header
from agent_nb.run.store import RunStore

INTERVAL = 1.0
HELD = 200
"""Minimum number of characters at the end of a text that are not written yet."""


class Saving:
    """The file of a run in progress. The encoding and the writing are done in a thread."""

    def __init__(self, handle: Handle, store: RunStore, warn: Callable[[str], None]) -> None:
        self._handle, self._store, self._warn = handle, store, warn
        self._variants = [_SavedVariant(variant) for variant in handle.runs]
        self._part: Path | None = None
        self._secrets = -1
        self._due = asyncio.Event()
        handle.subscribe(self._see)
        self._task = asyncio.get_running_loop().create_task(self._follow(), name=f"agent_nb save {handle.id}")

    async def end(self) -> None:
        """Stop writing. The store then replaces the file by that of the whole run."""
        self._due.set()
        await self._task

    def _see(self, event: ev.Event) -> None:
        if isinstance(event, ev.TurnFinished | ev.RunFinished):
            self._due.set()
        elif isinstance(event, ev.RunStarted) and event.variant >= len(self._variants):  # it joins the others
            self._variants += map(_SavedVariant, self._handle.runs[len(self._variants) :])
            self._secrets = -1

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
        header: MaskedJson | None = None
        if len(registered) != self._secrets:  # what is a secret now may be in the file
            self._secrets = len(registered)
            header, first = self._header(), dict[str, Any]()
            for variant in self._variants:
                variant.begin(header, first)
        news = [(variant, *variant.news()) for variant in self._variants]
        await off_loop(self._append, header, news)

    def _append(
        self, header: MaskedJson | None, news: "Sequence[tuple[_SavedVariant, list[ev.Event], Files]]"
    ) -> None:
        lines = [line for variant, events, files in news for line in variant.lines(events, files)]
        if header:
            self._part = self._store.begin(
                f"{self._handle.name}-{self._handle.id}", [header, *lines], self._part
            )
        elif self._part is not None:
            self._store.append(self._part, lines)

    def _header(self) -> MaskedJson:
        handle, first, pid = self._handle, self._handle.runs[0], os.getpid()
        return file_header(
            model=handle.model,
            reason="interrupted",
            name=handle.name,
            key=handle.key,
            id=handle.id,
            pid=pid,
            process=process_start(pid),
            settings=first.settings,
            prompt=handle.prompt,
            fingerprint=first.fingerprint,
        )


class _SavedVariant:
    def __init__(self, handle: RunHandle) -> None:
        self._handle = handle
        self._conversations: dict[int, SentConversation] = {}
        """By the number of the event before it."""
        handle.subscribe(self._see)

    def _see(self, event: ev.Event) -> None:
        is_first = isinstance(event, ev.TurnStarted) and event.step == 1
        if is_first or isinstance(event, ev.ConversationCompacted):
            self._conversations[event.seq] = self._handle.conversation

    def begin(self, header: Json, first: Json) -> None:
        """Write all events, again if some have been written."""
        self._written, self._rows = 0, VariantRows(header, first, self._handle.variant)

    def news(self) -> tuple[list[ev.Event], Files]:
        """The events that are not in the file yet, and the files after them."""
        return self._handle.events[self._written :], self._handle.files

    def lines(self, events: Sequence[ev.Event], files: Files) -> Iterator[MaskedJson]:
        """The lines of these events, but for the end of a text that may go on."""
        events = events[: _safe_count(events)]
        self._written += len(events)
        return self._rows.encode(events, files, self._conversations)


def _safe_count(events: Sequence[ev.Event]) -> int:
    """The number of events that can be written: a text in the last ones may go on, and end in a secret."""
    texts = [
        getattr(event, "text", "")
        for event in takewhile(lambda event: isinstance(event, ev.Delta | ev.UsageUpdated), reversed(events))
    ][::-1]
    text = "".join(texts)
    held = max(HELD, max(map(len, registered), default=0))
    left, count = cut_before_secret(text, max(0, len(text) - held)), len(events) - len(texts)
    for piece in texts:
        left -= len(piece)
        count += left >= 0
    return count
