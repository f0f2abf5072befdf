"""The moments of a run: its files after each change, and the positions of its annotations."""

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate
from typing import SupportsFloat

from agent_nb._base.secrets import shortened
from agent_nb.core.annotations import Annotation
from agent_nb.core.errors import ConfigError
from agent_nb.core.event_list import EventList
from agent_nb.core.events import FileChanged, TurnStarted
from agent_nb.files import Files
from agent_nb.run.record import RunRecord

MOST_ANNOTATIONS = 200
_ROUNDED = 0.1
"""Tolerance in seconds for times after the end: the page rounds times to one digit."""

MomentPosition = tuple[int, float]
FileChanges = dict[str, str | bytes | None]


def changes_back_to(run: RunRecord, moment: object) -> FileChanges:
    """Changes that restore the files as of change number `moment`; None deletes a file."""
    initial, changes = file_changes(run.events)
    if isinstance(moment, bool) or not isinstance(moment, int) or not 0 <= moment <= len(changes):
        have = f"0 (as they were given) to {len(changes)} (the end)" if changes else "no changes of files"
        raise ConfigError(f"There is no moment {moment!r}: this run has {have}.")
    final = run.original_files
    newest = {change.path: change.version for change in (*initial, *changes)}
    current = {change.path: change for change in (*initial, *changes[:moment])}
    target: FileChanges = {path: _content(final, change, newest[path]) for path, change in current.items()}
    target |= {path: None for path in run.files if path not in current}
    return {path: content for path, content in target.items() if content != run.files.get(path)}


def file_changes(events: EventList) -> tuple[list[FileChanged], list[FileChanged]]:
    """Split file events into the run's initial files and the changes it made."""
    initial: list[FileChanged] = []
    changes: list[FileChanged] = []
    has_begun = False
    for event in events.of(TurnStarted, FileChanged):
        if isinstance(event, TurnStarted):
            has_begun = True
        else:
            (changes if has_begun else initial).append(event)
    return initial, changes


def _content(files: Files, change: FileChanged, newest: int) -> str | bytes | None:
    if change.action == "deleted":
        return None
    versions = files.versions(change.path)
    index = len(versions) - 1 - (newest - change.version)
    if index < 0:
        raise ConfigError(f"There is no version {change.version} of {change.path}.")
    return versions[index]


def sort_annotations(run: RunRecord, annotations: Iterable[Annotation]) -> tuple[Annotation, ...]:
    """Sort annotations by their moment; raise `ConfigError` for a moment that does not exist."""
    variants = {variant.variant: _Moments(variant.events) for variant in run.variants or (run,)}
    positions: list[tuple[Annotation, MomentPosition]] = []
    for note in annotations:
        if note.variant not in variants:
            raise ConfigError(f"There is no variant {note.variant!r} in this run.")
        at, position = variants[note.variant].find(note.at)
        positions.append((replace(note, at=at), position))
    if len(positions) > MOST_ANNOTATIONS:
        raise ConfigError(f"A run has at most {MOST_ANNOTATIONS} notes.")
    positions.sort(key=lambda entry: (entry[0].variant, entry[1]))
    return tuple(note for note, _ in positions)


class _Moments:
    def __init__(self, events: EventList) -> None:
        self._times = list(accumulate((event.at for event in events), max))
        self._by_name = _named_moments(events)

    def find(self, at: object) -> tuple[float | str, MomentPosition]:
        """The moment in its saved form, and its position."""
        if isinstance(at, SupportsFloat) and not isinstance(at, bool):
            time = float(at)
            if self._times and math.isfinite(time) and 0 <= time <= self._times[-1] + _ROUNDED:
                time = min(time, self._times[-1])
                return time, (bisect_right(self._times, time), time)
        elif isinstance(at, str) and (count := self._by_name.get(at)):
            return at, (count, self._times[count - 1])
        raise ConfigError(
            f"There is no moment {shortened(repr(at), 60)} in this run: it has {self._list_moments()}."
        )

    def _list_moments(self) -> str:
        if not self._times:
            return "no events"
        kinds = [[name for name in self._by_name if name.startswith(kind)] for kind in ("turn", "change")]
        ranges = [repr(names[0]) + (f" to {names[-1]!r}" if names[1:] else "") for names in kinds if names]
        return ", ".join([f"0 to {self._times[-1]:.1f} (seconds)", *ranges]) + " and 'end'"


def _named_moments(events: EventList) -> dict[str, int]:
    """Event counts at each named moment."""
    initial, _ = file_changes(events)
    changes = -len(initial)
    moments: dict[str, int] = {}
    for count, event in enumerate(events, 1):
        if isinstance(event, TurnStarted):
            moments.setdefault(f"turn {event.step}", count)
        elif isinstance(event, FileChanged):
            changes += 1
            if changes > 0:
                moments[f"change {changes}"] = count
    return {**moments, "end": len(events)}
