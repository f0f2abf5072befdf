"""What the page receives about a run besides its events. `make events` writes the TypeScript types of these classes.

`docs/internals/widget-protocol.md` describes the messages that carry them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import agent_nb.events as ev
from agent_nb._base.secrets import StreamMasker, mask, safe_text
from agent_nb._base.text import change_texts, shortened
from agent_nb._base.wire import Json, to_wire
from agent_nb.run.annotations import Annotation
from agent_nb.run.supported_numbers import AnswerNumber
from agent_nb.run_settings import BoundKind, bound_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """An option that a cell which continues the run repeats."""

    text: str
    """As it stands in the cell: `-t kernel`."""
    label: str
    """In short: `kernel`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundName:
    """A name of the notebook that the page may use."""

    name: str
    kind: BoundKind


def bound_names(settings: Json) -> tuple[BoundName, ...]:
    """The names that the pages of a run with these settings are bound to."""
    types: dict[str, str] = settings.get("bind") or {}
    return tuple(BoundName(name=name, kind=bound_kind(kind)) for name, kind in types.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A failed cell, and what the answer of a run proposes in its place."""

    before: str
    after: str
    cell_id: str
    """The failed cell's id in its notebook; empty if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """What the page needs to know of a run from the start; it comes with every batch that begins at event 1."""

    key: str
    """What its output carries as `data-anb-run`; runs of the same request share it."""
    name: str
    model: str
    """Several models of a run with variants are separated by commas."""
    demo: bool
    magic: str = "agent"
    default_model: str = ""
    """The model of cells that name none; empty if the configured one is unknown."""
    repeats: tuple[Repeat, ...] = ()
    """The options of its cell that the next one needs too."""
    network: bool = False
    """Whether the live preview may load from any https address."""
    about: tuple[str, ...] = ()
    """What the header says about the settings of the run: `no values sent`."""
    digest: str | None = None
    """Identifies the run's saved output; None until the run has ended."""
    failed_check: str = ""
    """The check that failed and what was seen; empty until the run has ended."""
    annotations: tuple[Annotation, ...] = ()
    number: int = 0
    """Counts the runs that this kernel has shown."""
    folds: bool = False
    """Whether the outputs of older runs fold to their headers."""
    stage: bool = False
    """Whether the stage opens with the run."""
    running_code: tuple[int, ...] = ()
    """The variants in which code runs without asking because the user has allowed it for this run."""
    bound: tuple[BoundName, ...] = ()
    """What its pages are bound to. Such a page has no network."""
    connected: bool = False
    """Whether this kernel has bound them, so that pages can use the names."""
    undone: tuple[str, ...] = ()
    """The names that Undo has put back, each after the token of the call that had changed it: `4f1c fig`."""
    numbers: tuple[AnswerNumber, ...] = ()
    """Numbers in the answer of a loaded run or a replay; other runs have them in `Ready`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    line: str
    """The sentence that says which variables are set, with names in backticks."""
    files_name: str | None
    variant: int
    picked: bool
    paths: tuple[str, ...]
    digest: str
    again: str = ""
    """After a failure, the cell as the user wrote it; empty if it is unknown or has a secret in it."""
    others: tuple[str, ...] = ()
    """The same cell with other models: three at most."""
    failed_check: str = ""
    numbers: tuple[AnswerNumber, ...] = ()
    """Numbers in the answer that an output of the run has, or that nothing has."""
    fix: Fix | None = None
    """Of `%agent fix`, if the answer has a cell."""


JOINED_SECONDS = 0.1
"""Seconds of the run that a joined delta spans at most if all events are encoded at once: a replay keeps its pace."""
LONGEST_ARGUMENT = 500
"""Characters of a string argument that a card may show; the whole was streamed, or stays in the kernel."""

ESTIMATE_INTERVAL = 1.0
"""Seconds of the run between two estimates of its usage."""


class Encoder:
    """Encodes the events of one run, given in order. Its output depends on all events before."""

    def __init__(self) -> None:
        self._streamed: dict[tuple[int, str], dict[str, int]] = {}
        """Bytes streamed of each unfinished file, by variant and call, then by path."""
        self._estimates: dict[int, ev.UsageUpdated] = {}
        self._open: dict[int, tuple[ev.Delta, StreamMasker]] = {}
        """What each variant is writing: where it has got to, and the end that may yet turn out to be a secret."""

    def encode(self, events: Sequence[ev.Event], span: float = math.inf) -> list[Json]:
        """The wire events for these events. Their order holds within each variant.

        A joined delta spans at most `span` seconds of the run.
        """
        wire: list[Json] = []
        joined: dict[int, tuple[ev.Delta, list[str]]] = {}
        estimates: dict[int, ev.UsageUpdated] = {}
        for event in events:
            if isinstance(event, ev.Delta):
                # Nearly every event continues the delta before it.
                before = joined.get(event.variant)
                if before is not None and _continues(before[0], event, span):
                    before[1].append(event.text)
                elif self._is_new(event):
                    if before is not None:
                        wire += self._delta(*before)
                    joined[event.variant] = event, [event.text]
            elif isinstance(event, ev.UsageUpdated) and event.estimated:
                estimates[event.variant] = event
            else:
                if event.variant in joined:
                    wire += self._delta(*joined.pop(event.variant))
                wire += self._held_text(event.variant)
                if isinstance(event, ev.UsageUpdated | ev.RunFinished):
                    estimates.pop(event.variant, None)
                if not isinstance(event, ev.MessageAdded):
                    wire.append(self._whole(event))
        for delta, texts in joined.values():
            wire += self._delta(delta, texts)
        return wire + [_wire(estimate) for estimate in estimates.values() if self._is_due(estimate)]

    def _is_new(self, delta: ev.Delta) -> bool:
        """False for the arguments of a call whose file is being streamed: the page gets the file alone."""
        if isinstance(delta, ev.FileDelta):
            self._streamed.setdefault((delta.variant, delta.call_id), {})
        return not isinstance(delta, ev.ToolArgsDelta) or (delta.variant, delta.call_id) not in self._streamed

    def _is_due(self, estimate: ev.UsageUpdated) -> bool:
        last = self._estimates.get(estimate.variant)
        if last is not None and estimate.at - last.at < ESTIMATE_INTERVAL:
            return False
        self._estimates[estimate.variant] = estimate
        return True

    def _delta(self, delta: ev.Delta, texts: list[str]) -> list[Json]:
        """Joined deltas as one, without an end that may be the beginning of a secret."""
        text = "".join(texts)
        if isinstance(delta, ev.FileDelta):
            paths = self._streamed[delta.variant, delta.call_id]
            before = paths.get(delta.path, 0) if delta.offset else 0
            paths[delta.path] = before + len(text.encode("utf-8", "surrogatepass"))
        wire: list[Json] = []
        latest, masker = self._open.get(delta.variant, (None, StreamMasker()))
        if latest is not None and not _continues(latest, delta):
            wire += self._held_text(delta.variant)
            masker = StreamMasker()
        start = _moved(delta, -len(masker.held))
        safe = masker.more(text)
        self._open[delta.variant] = _moved(delta, len(text)), masker
        if safe or not text:
            wire.append(_masked_delta(start, safe))
        return wire

    def _held_text(self, variant: int) -> list[Json]:
        """Ends what the variant was writing: the delta that was held back, if any."""
        delta, masker = self._open.pop(variant, (None, None))
        if delta is None or masker is None or not masker.held:
            return []
        start = _moved(delta, -len(masker.held))
        return [_masked_delta(start, masker.rest())]

    def _whole(self, event: ev.Event) -> Json:
        """An event that is not a delta, without secrets and without what was streamed."""
        match event:
            case ev.ToolReady(args=args):
                event = replace(event, args={name: _shortened(value) for name, value in args.items()})
            case ev.TurnRetrying(variant=variant):
                self._streamed = {
                    place: paths for place, paths in self._streamed.items() if place[0] != variant
                }
            case ev.FileChanged():
                event = self._without_streamed_text(event)
        wire: Json = change_texts(_wire(event), safe_text)
        return wire

    def _without_streamed_text(self, event: ev.FileChanged) -> ev.FileChanged:
        # A stopped run keeps what was being written: that change belongs to no call.
        sizes = [
            paths.pop(event.path, None)
            for (variant, call_id), paths in self._streamed.items()
            if variant == event.variant and event.call_id in (None, call_id)
        ]
        return replace(event, patch=None) if event.size in sizes else event


def _continues(first: ev.Delta, second: ev.Delta, span: float = math.inf) -> bool:
    """Whether the text of `second` belongs after that of `first`, and begins within `span` seconds of it."""
    if type(first) is not type(second) or second.at - first.at > span:
        return False
    if isinstance(first, ev.FileDelta) and isinstance(second, ev.FileDelta):
        return first.call_id == second.call_id and first.path == second.path and second.offset > 0
    if isinstance(first, ev.ToolArgsDelta) and isinstance(second, ev.ToolArgsDelta):
        return first.call_id == second.call_id
    return True


def _wire(event: ev.Event) -> Json:
    """The event without its number and its run's id: the batch has both."""
    wire: Json = to_wire(event)
    del wire["run_id"], wire["seq"]
    if event.variant == 0:
        del wire["variant"]
    return wire


def _masked_delta(delta: ev.Delta, text: str) -> Json:
    """The delta with a text that is masked already, and with its path masked as other events mask it."""
    wire = {**_wire(delta), "text": text}
    return {**wire, "path": safe_text(delta.path)} if isinstance(delta, ev.FileDelta) else wire


def _moved(delta: ev.Delta, characters: int) -> ev.Delta:
    return replace(delta, offset=delta.offset + characters) if isinstance(delta, ev.FileDelta) else delta


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_ARGUMENT:
        return shortened(mask(value), LONGEST_ARGUMENT)
    return value
