"""Run data that the page receives besides events. `make events` writes the TypeScript types of these classes.

`docs/internals/widget-protocol.md` describes the messages that carry them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import agent_nb.core.events as ev
from agent_nb._base.secrets import Exact, StreamMasker, shortened
from agent_nb._base.wire import Json, to_wire
from agent_nb.core.annotations import Annotation
from agent_nb.core.event_list import continues
from agent_nb.core.run_settings import BoundKind, bound_kind
from agent_nb.files import change_summary
from agent_nb.files.cell_changes import CellChange, ChangeDecision
from agent_nb.render.shown import ShownFeatures

LONGEST_ARGUMENT = 500
"""Characters of a string argument shown on a card; the full value was streamed or stays in the kernel."""
AsAccepted = Callable[[ev.Event, Json], Json]
"""Replaces what the user is asked to accept in an event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """An option of the run's cell, for a cell that continues the run."""

    text: str
    """The option as written in the cell: `-t kernel`."""
    label: str
    """Short form: `kernel`."""
    ticked: bool
    """Whether the next cell has it unless the user leaves it out; otherwise only if the user adds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundName:
    """A notebook variable that the page may use."""

    name: str
    kind: BoundKind


def bound_names(settings: Json) -> tuple[BoundName, ...]:
    """The notebook variables that the run's pages are bound to."""
    types: dict[str, str] = settings.get("bind") or {}
    return tuple(BoundName(name=name, kind=bound_kind(kind)) for name, kind in types.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The user's decision about a change of a cell."""

    change: str
    """The change's id."""
    decision: ChangeDecision


def decided_rows(decided: Mapping[str, ChangeDecision]) -> tuple[Decided, ...]:
    return tuple(Decided(change=change, decision=decision) for change, decision in decided.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """Data that the page needs from the start; sent with every batch that begins at event 1."""

    key: str
    """The output's `data-anb-run`; shared by runs of the same request."""
    name: str
    model: str
    """Comma-separated if the variants use several models."""
    demo: bool
    magic: str = "agent"
    default_model: str = ""
    """The default model; the next cell names any other. Empty if unknown, or if the run was loaded or replayed."""
    repeats: tuple[Repeat, ...] = ()
    """Options of the run's cell, for the next cell."""
    network: bool = False
    """Whether the live preview may load from any https address."""
    about: tuple[str, ...] = ()
    """Notes on the run's settings for the header, such as `no values sent`."""
    digest: str | None = None
    """Identifies the run's saved output; None until the run has ended."""
    failed_check: str = ""
    """The failed check with its actual values; empty until the run has ended."""
    annotations: tuple[Annotation, ...] = ()
    number: int = 0
    """Sequence number of the run in this kernel."""
    folds: bool = False
    """Whether the outputs of older runs fold to their headers."""
    stage: bool = False
    """Whether the stage opens with the run."""
    running_code: tuple[int, ...] = ()
    """Variants in which the user has allowed all code for this run."""
    bound: tuple[BoundName, ...] = ()
    """Variables that its pages are bound to. Bound pages have no network access."""
    connected: bool = False
    """Whether this kernel serves the bound variables."""
    undone: tuple[str, ...] = ()
    """Names restored by Undo, each after the token of the call that changed it: `4f1c fig`."""
    reviewable: bool = False
    """Whether its changes of cells can be accepted, and images be pasted below it: not for a loaded run or a replay."""
    decided: tuple[Decided, ...] = ()
    features: ShownFeatures = field(default_factory=dict)
    """As in `Ready`, for a run that is shown again, loaded or replayed."""
    suggestions: tuple[tuple[str, ...], ...] = ()
    """Prompts for the next cell, by variant, for the demo model; the page shows them once there is a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    line: str
    """A sentence that lists the variables set, with names in backticks."""
    variant: int
    picked: bool
    paths: tuple[str, ...]
    digest: str
    again: str = ""
    """After a failure, the cell as the user wrote it; empty if unknown or if it contains a secret."""
    others: tuple[str, ...] = ()
    """The same cell with other models, at most three."""
    failed_check: str = ""
    features: ShownFeatures = field(default_factory=dict)
    """What features show of each variant."""
    fix: CellChange | None = None
    """The change that `%agent fix` offers; None if the answer has none."""


class Encoder:
    """Encodes the events of one run in order. It masks what streams; the door masks the rest.

    Stateful: the output depends on earlier events.
    """

    def __init__(self, as_accepted: AsAccepted = lambda event, wire: wire) -> None:
        self._as_accepted = as_accepted
        self._streamed: dict[tuple[int, str], dict[str, int]] = {}
        """Bytes streamed of each unfinished file, by variant and call, then by path."""
        self._changes: dict[tuple[int, str | None], str] = {}
        """The last change of each unfinished call, by variant and call, in the words of the tools that write files."""
        self._open: dict[int, tuple[ev.Delta, StreamMasker]] = {}
        """The open stream of each variant: its last delta, and a masker that buffers a possible start of a secret."""

    def encode(self, events: Iterable[ev.Event]) -> list[Json]:
        """Encode events for the page, in order within each variant."""
        wire: list[Json] = []
        for event in events:
            if isinstance(event, ev.Delta):
                wire += self._delta(event)
            elif isinstance(event, ev.UsageUpdated):  # may arrive in the middle of a text
                wire.append(event_wire(event))
            else:
                wire += self._flush(event.variant)
                if not isinstance(event, ev.MessageAdded):
                    wire.append(self._complete_event(event))
        return wire

    def _delta(self, delta: ev.Delta) -> list[Json]:
        """Encode a delta, but hold back an end that may be the start of a secret."""
        if isinstance(delta, ev.FileDelta):
            paths = self._streamed.setdefault((delta.variant, delta.call_id), {})
            size = paths.get(delta.path, 0) if delta.offset else 0
            paths[delta.path] = size + len(delta.text.encode("utf-8", "surrogatepass"))
        elif isinstance(delta, ev.ToolArgsDelta) and (delta.variant, delta.call_id) in self._streamed:
            return []  # the page shows the file instead
        wire: list[Json] = []
        previous, masker = self._open.get(delta.variant, (None, None))
        if previous is None or masker is None or not continues(delta, previous):
            wire += self._flush(delta.variant)
            masker = StreamMasker()
        held = len(masker.held)
        safe = masker.more(delta.text)
        self._open[delta.variant] = delta, masker
        if safe or not delta.text:
            wire.append(_masked_delta(delta, -held, safe))
        return wire

    def _flush(self, variant: int) -> list[Json]:
        """Close the variant's stream; return the held-back delta, if any."""
        delta, masker = self._open.pop(variant, (None, None))
        if delta is None or masker is None or not masker.held:
            return []
        return [_masked_delta(delta, len(delta.text) - len(masker.held), masker.rest())]

    def _complete_event(self, event: ev.Event) -> Json:
        """Encode a non-delta event, without already streamed text."""
        match event:
            case ev.ToolReady(args=args):
                event = replace(event, args={name: _shortened(name, value) for name, value in args.items()})
            case ev.TurnRetrying(variant=variant):
                self._streamed = {key: paths for key, paths in self._streamed.items() if key[0] != variant}
            case ev.FileChanged():
                self._changes[event.variant, event.call_id] = change_summary(event)
                event = self._without_streamed_text(event)
            case ev.ToolFinished(variant=variant, call_id=call_id, summary=summary):
                # The page shows the size and the line counts of a change by itself.
                if self._changes.pop((variant, call_id), None) == summary:
                    event = replace(event, summary="")
        return self._as_accepted(event, event_wire(event))

    def _without_streamed_text(self, event: ev.FileChanged) -> ev.FileChanged:
        # A stopped run saves unfinished files in a change without a call.
        sizes = [
            paths.pop(event.path, None)
            for (variant, call_id), paths in self._streamed.items()
            if variant == event.variant and event.call_id in (None, call_id)
        ]
        return replace(event, patch=None) if event.size in sizes else event


def event_wire(event: ev.Event) -> Json:
    """The event without `seq` and `run_id`, which the batch contains."""
    wire: Json = to_wire(event)
    del wire["run_id"], wire["seq"]
    if event.variant == 0:
        del wire["variant"]
    return wire


def _masked_delta(delta: ev.Delta, shift: int, text: str) -> Json:
    """The delta with already masked text, which starts `shift` characters after its own."""
    wire = {**event_wire(delta), "text": Exact(text)}
    if isinstance(delta, ev.FileDelta):
        wire["offset"] = delta.offset + shift
    return wire


def _shortened(name: str, value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_ARGUMENT and name != "code":  # which can be inserted
        return shortened(value, LONGEST_ARGUMENT)
    return value
