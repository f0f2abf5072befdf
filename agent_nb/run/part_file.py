"""The file of a run in progress: what a killed kernel leaves of it. `RunStore.begin` makes one.

A secret is never in it, also none of which only the beginning has arrived: the end of a text is written once more of
it has followed.
"""

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import agent_nb.core.events as ev
from agent_nb._base.atomic import locked, write_atomically
from agent_nb._base.secrets import StreamMasker, registered
from agent_nb._base.text import whole_text
from agent_nb._base.wire import Json
from agent_nb.files import Files
from agent_nb.run.run_writer import (
    EventRows,
    SentConversation,
    Stream,
    conversation_line,
    dump_line,
    set_texts,
)

HELD = 200
"""Minimum number of characters at the end of a text that are not written yet."""


class PartFile:
    """Appends lines to the file, which it makes. The caller holds the lock of the folder."""

    def __init__(self, path: Path, header: Json, *, within: Path) -> None:
        self.path, self._header, self._within = path, header, within
        self._file = -1
        self._make(())

    def write(self, lines: Iterable[Json], *, again: bool = False) -> None:
        """Append lines, or write the file again with these lines alone."""
        if again:
            self.close()
            with locked(self.path.parent / ".lock", within=self._within, seconds=10):
                self._make(lines)
            return
        data = _encoded(lines)
        while data:
            data = data[os.write(self._file, data) :]

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _make(self, lines: Iterable[Json]) -> None:
        write_atomically(self.path, _encoded([self._header, *lines]), within=self._within)
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))


def _encoded(lines: Iterable[Json]) -> bytes:
    return "".join(f"{dump_line(line)}\n" for line in lines).encode()


class Batch(NamedTuple):
    """Events of a variant that are not in the file yet."""

    parts: Sequence[tuple[SentConversation | None, Sequence[ev.Event]]]
    """Each with the conversation before it, if that is another one."""
    files: Files
    """The files after the events."""
    open: ev.Delta | None
    """A piece of the text that may go on; its end is not in `parts`."""


class PartRows(EventRows):
    """Encodes the batches of a variant. `first` is the first conversation of the file, and filled with it."""

    def __init__(self, variant: int, settings: Json, first: Json) -> None:
        super().__init__(settings)
        self._variant, self._first = variant, first
        self._maskers: dict[Stream, tuple[StreamMasker, int]] = {}
        """The masker of each text that may go on, and the length of what it has returned."""
        self._open: ev.Delta | None = None

    def batch(self, batch: Batch) -> Iterator[Json]:
        self._open = batch.open
        for conversation, events in batch.parts:
            if conversation is not None:
                line = conversation_line(self._variant, conversation, self._first)
                self._first.update({} if self._first else line)
                yield line
            yield from self.encode(events, batch.files)

    def mask(self, stream: Stream, rows: Sequence[Json]) -> None:
        masker, offset = self._maskers.pop(stream, (StreamMasker(), rows[0].get("offset", 0)))
        pieces = [whole_text(row["text"]) for row in rows]
        text = masker.more("".join(pieces))
        if self._open is not None and stream == self.stream(self._open):
            self._maskers[stream] = masker, offset + len(text)
        else:
            text += masker.rest()
        remaining = iter(text)
        texts = ["".join(itertools.islice(remaining, len(piece))) for piece in pieces[:-1]]
        set_texts(rows, pieces, [*texts, "".join(remaining)], offset)


def split(events: Sequence[ev.Event]) -> tuple[int, ev.Delta | None]:
    """How many of these events can be written: all but the end of a text that may go on, of which this is a piece."""
    most, held = max(HELD, max(map(len, registered), default=0)), 0
    count, piece = len(events), None
    for at in reversed(range(len(events))):
        event = events[at]
        if isinstance(event, ev.Delta) and held < most:
            held += len(event.text)
            count, piece = at, piece or event
        elif not isinstance(event, ev.UsageUpdated):
            break
    return count, piece
