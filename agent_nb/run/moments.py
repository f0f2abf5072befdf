"""The moments of a run: its files as they were after each change, and where its annotations are."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate
from typing import SupportsFloat

from agent_nb._base.text import shortened
from agent_nb.errors import ConfigError
from agent_nb.event_list import EventList
from agent_nb.events import FileChanged, TurnStarted
from agent_nb.files import Files
from agent_nb.run.annotations import Annotation
from agent_nb.run.record import RunRecord

MOST_ANNOTATIONS = 200
_NAMED = re.compile(r"(turn|change) +0*(\d{1,9})", re.IGNORECASE)
_ROUNDED = 0.1
"""Seconds that a time may lie after the end: the page shows times with one digit."""

MomentPosition = tuple[int, float]
FileChanges = dict[str, str | bytes | None]


def changes_back_to(run: RunRecord, moment: object) -> FileChanges:
    """What turns the files of a run into those after change number `moment`; None deletes a file."""
    given, made = file_changes(run.events)
    if isinstance(moment, bool) or not isinstance(moment, int) or not 0 <= moment <= len(made):
        have = f"0 (as they were given) to {len(made)} (the end)" if made else "no changes of files"
        raise ConfigError(f"There is no moment {moment!r}: this run has {have}.")
    left = run.files if run.given_files is None else run.given_files
    newest = {change.path: change.version for change in (*given, *made)}
    then = {change.path: change for change in (*given, *made[:moment])}
    wanted: FileChanges = {path: _content(left, change, newest[path]) for path, change in then.items()}
    wanted |= {path: None for path in run.files if path not in then}
    return {path: content for path, content in wanted.items() if content != run.files.get(path)}


def file_changes(events: EventList) -> tuple[list[FileChanged], list[FileChanged]]:
    """The files that a run was given, each as a change, and the changes that it made."""
    given: list[FileChanged] = []
    made: list[FileChanged] = []
    begun = False
    for event in events.of(TurnStarted, FileChanged):
        if isinstance(event, TurnStarted):
            begun = True
        else:
            (made if begun else given).append(event)
    return given, made


def _content(files: Files, change: FileChanged, newest: int) -> str | bytes | None:
    if change.action == "deleted":
        return None
    versions = files.versions(change.path)
    index = len(versions) - 1 - (newest - change.version)
    if index < 0:
        raise ConfigError(f"There is no version {change.version} of {change.path}.")
    return versions[index]


def placed(run: RunRecord, annotations: Iterable[Annotation]) -> tuple[Annotation, ...]:
    """The annotations in the order of the run. One at a moment that does not exist raises `ConfigError`."""
    variants = {one.variant: _Moments(one.events) for one in run.variants or (run,)}
    found: list[tuple[Annotation, MomentPosition]] = []
    for one in annotations:
        if one.variant not in variants:
            raise ConfigError(f"There is no variant {one.variant!r} in this run.")
        at, place = variants[one.variant].find(one.at)
        found.append((replace(one, at=at), place))
    if len(found) > MOST_ANNOTATIONS:
        raise ConfigError(f"A run has at most {MOST_ANNOTATIONS} notes.")
    found.sort(key=lambda each: (each[0].variant, each[1]))
    return tuple(one for one, _ in found)


class _Moments:
    def __init__(self, events: EventList) -> None:
        self._times = list(accumulate((event.at for event in events), max))
        self._named = _named_moments(events)

    def find(self, at: object) -> tuple[float | str, MomentPosition]:
        """A moment in the form in which it is saved, and its place."""
        if isinstance(at, SupportsFloat) and not isinstance(at, bool):
            time = float(at)
            if self._times and math.isfinite(time) and 0 <= time <= self._times[-1] + _ROUNDED:
                time = min(time, self._times[-1])
                return time, (bisect_right(self._times, time), time)
        elif isinstance(at, str):
            match = _NAMED.fullmatch(at.strip())
            name = f"{match[1].lower()} {match[2]}" if match else at.strip().lower()
            if count := self._named.get(name):
                return name, (count, self._times[count - 1])
        raise ConfigError(
            f"There is no moment {shortened(repr(at), 60)} in this run: it has {self._listed()}."
        )

    def _listed(self) -> str:
        if not self._times:
            return "no events"
        kinds = [[name for name in self._named if name.startswith(kind)] for kind in ("turn", "change")]
        named = [repr(names[0]) + (f" to {names[-1]!r}" if names[1:] else "") for names in kinds if names]
        return ", ".join([f"0 to {self._times[-1]:.1f} (seconds)", *named]) + " and 'end'"


def _named_moments(events: EventList) -> dict[str, int]:
    """How many events have happened at each moment that has a name."""
    given, _ = file_changes(events)
    changes = -len(given)
    moments: dict[str, int] = {}
    for count, event in enumerate(events, 1):
        if isinstance(event, TurnStarted):
            moments.setdefault(f"turn {event.step}", count)
        elif isinstance(event, FileChanged):
            changes += 1
            if changes > 0:
                moments[f"change {changes}"] = count
    return {**moments, "end": len(events)}
