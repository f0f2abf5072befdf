"""What the page is sent of a run: its events, with everything left out that the page already has.

Pieces that follow each other are joined, a file that was streamed is not sent again with the call, the
message and the change that carry it. So the page receives the content about once, at any token rate.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agent_nb._base.secrets import mask, safe_text
from agent_nb._base.stream_masker import StreamMasker
from agent_nb._base.text import change_texts
from agent_nb._base.wire import Json, to_wire
from agent_nb.events import (
    Delta,
    Event,
    FileChanged,
    FileDelta,
    MessageAdded,
    RunFinished,
    ToolArgsDelta,
    ToolReady,
    TurnRetrying,
    UsageUpdated,
)

SHORT = 500
"""Characters of a string argument that a card may show; the whole was streamed, or is in the kernel."""

ESTIMATES_EVERY = 0.5
"""Seconds of the run between two guesses at what it has used: nobody reads them faster."""
ESTIMATES_STEP = 500
"""Tokens that make a guess worth its bytes."""
ESTIMATES_WAIT = 5.0
"""Seconds of the run after which it is told anyway."""

JOINED_WITHIN = 0.1
"""Seconds of the run that joined pieces may span: a run that is sent late can still be played as it came."""


class Feed:
    """Turns a run's events, in order, into wire events for the page. One per run and listener."""

    def __init__(self, within: float = JOINED_WITHIN) -> None:
        self._within = within
        self._streamed: dict[tuple[int, str], dict[str, int]] = {}
        """Bytes streamed of each path that is not finished, by variant and call."""
        self._estimates: dict[int, UsageUpdated] = {}
        """The guess at the usage that was told last, by variant."""
        self._open: dict[int, tuple[Delta, StreamMasker]] = {}
        """What each variant is writing, up to its newest piece, and what of it waits to be told."""

    def project(self, events: Sequence[Event]) -> list[Json]:
        """The wire events for these events, which follow those given before; in order within each variant."""
        wire: list[Json] = []
        written: dict[int, tuple[Delta, list[str]]] = {}
        estimates: dict[int, UsageUpdated] = {}
        for event in events:
            if isinstance(event, Delta):
                # Nearly every event is the next piece of what is being written.
                held = written.get(event.variant)
                if held is not None and self._joins(held[0], event):
                    held[1].append(event.text)
                else:
                    self._begin(event, written, wire)
            elif isinstance(event, UsageUpdated) and event.estimated:
                estimates[event.variant] = event
            else:
                if event.variant in written:
                    self._close(*written.pop(event.variant), wire)
                self._end(event.variant, wire)
                if isinstance(event, UsageUpdated | RunFinished):
                    estimates.pop(event.variant, None)
                if not isinstance(event, MessageAdded):
                    wire.append(self._slim(event))
        for delta, texts in written.values():
            self._close(delta, texts, wire)
        for variant, estimate in estimates.items():
            if self._is_worth(estimate, self._estimates.get(variant)):
                self._estimates[variant] = estimate
                wire.append(self._slim(estimate))
        return wire

    def _is_worth(self, estimate: UsageUpdated, told: UsageUpdated | None) -> bool:
        if told is None:
            return True
        waited, usage = estimate.at - told.at, estimate.usage
        much = usage.input != told.usage.input or usage.output >= told.usage.output + ESTIMATES_STEP
        return waited >= (ESTIMATES_EVERY if much else ESTIMATES_WAIT)

    def _begin(self, piece: Delta, written: dict[int, tuple[Delta, list[str]]], wire: list[Json]) -> None:
        if type(piece) is ToolArgsDelta and (piece.variant, piece.call_id) in self._streamed:
            return
        if piece.variant in written:
            self._close(*written[piece.variant], wire)
        if type(piece) is FileDelta:
            self._streamed.setdefault((piece.variant, piece.call_id), {})
        written[piece.variant] = piece, [piece.text]

    def _joins(self, first: Delta, second: Delta) -> bool:
        return second.at - first.at <= self._within and self._goes_on(first, second)

    def _goes_on(self, first: Delta, second: Delta) -> bool:
        if type(first) is not type(second):
            return False
        if type(first) is FileDelta and type(second) is FileDelta:
            return first.call_id == second.call_id and first.path == second.path and second.offset > 0
        if type(first) is ToolArgsDelta and type(second) is ToolArgsDelta:
            return first.call_id == second.call_id
        return True

    def _close(self, delta: Delta, texts: list[str], wire: list[Json]) -> None:
        """The pieces that were joined, as one; without their end if that may be the beginning of a secret."""
        text = "".join(texts)
        if type(delta) is FileDelta:
            paths = self._streamed[delta.variant, delta.call_id]
            before = paths.get(delta.path, 0) if delta.offset else 0
            paths[delta.path] = before + len(text.encode("utf-8", "surrogatepass"))
        stream = self._open.get(delta.variant)
        if stream is None or not self._goes_on(stream[0], delta):
            self._end(delta.variant, wire)
            stream = delta, StreamMasker()
        scrubber = stream[1]
        begun = _moved(delta, -len(scrubber.held))
        told = scrubber.more(text)
        self._open[delta.variant] = _moved(delta, len(text)), scrubber
        if told or not text:
            wire.append({**_wire(begun), "text": told})

    def _end(self, variant: int, wire: list[Json]) -> None:
        """What a variant was writing goes on no more: the rest of it is told."""
        if variant in self._open:
            delta, scrubber = self._open.pop(variant)
            if scrubber.held:
                wire.append({**_wire(_moved(delta, -len(scrubber.held))), "text": scrubber.rest()})

    def _slim(self, event: Event) -> Json:
        match event:
            case ToolReady(args=args):
                event = replace(event, args={name: _shortened(value) for name, value in args.items()})
            case TurnRetrying(variant=variant):
                self._streamed = {
                    place: paths for place, paths in self._streamed.items() if place[0] != variant
                }
            case FileChanged():
                event = self._without_streamed_text(event)
            case _:
                pass
        data: Json = change_texts(_wire(event), safe_text)
        return data

    def _without_streamed_text(self, event: FileChanged) -> FileChanged:
        """A change by no call may be what was streamed, too: a stopped run keeps what was being written."""
        sizes = [
            paths.pop(event.path, None)
            for (variant, call_id), paths in self._streamed.items()
            if variant == event.variant and event.call_id in (None, call_id)
        ]
        return replace(event, patch=None) if event.size in sizes else event


def _wire(event: Event) -> Json:
    """The event's fields but those that the batch tells for all: the run's id and the number."""
    data: Json = to_wire(event)
    del data["run_id"], data["seq"]
    if event.variant == 0:
        del data["variant"]
    return data


def _moved(delta: Delta, points: int) -> Delta:
    return replace(delta, offset=delta.offset + points) if type(delta) is FileDelta and points else delta


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > SHORT:
        return mask(value)[:SHORT] + "…"
    return value
