"""Compares texts: line patches for the page, unified diffs for the model and the user.

Lines are split at newlines only, so that the page can apply a patch with `split("\\n")` and `join("\\n")`.
Time is bounded: equal lines at both ends are skipped, and a very large difference becomes one replacement.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from agent_nb.core.events import LinePatch

MAX_COMPARED_LINES = 2000
CONTEXT_LINES = 3


class _Hunk(NamedTuple):
    """Lines `old_start:old_end` became lines `new_start:new_end`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChange:
    first_line: int
    """The first changed line of the new text, counted from 1; 0 if the texts are the same."""
    added: int
    removed: int
    patch: tuple[LinePatch, ...]


def compare(old: str, new: str) -> LineChange:
    if new and not old:  # a new file is its own patch, so that it is not in memory twice
        lines = new.count("\n") + (not new.endswith("\n"))
        return LineChange(first_line=1, added=lines, removed=0, patch=((0, 1, new),))
    old_lines, new_lines = old.split("\n"), new.split("\n")
    hunks = _hunks(old_lines, new_lines)
    return LineChange(
        first_line=min(hunks[0].new_start + 1, len(new_lines)) if hunks else 0,
        added=sum(hunk.new_end - hunk.new_start for hunk in hunks) if new else 0,
        removed=sum(hunk.old_end - hunk.old_start for hunk in hunks) if old else 0,
        patch=tuple(
            (
                hunk.old_start,
                hunk.old_end - hunk.old_start,
                "\n".join(new_lines[hunk.new_start : hunk.new_end]),
            )
            for hunk in _without_deletions(hunks)
        ),
    )


def apply_patch(old: str, patch: Iterable[LinePatch]) -> str:
    """Apply a patch from `compare` and return the new text."""
    lines = old.split("\n")
    for start, count, text in reversed(tuple(patch)):
        lines[start : start + count] = text.split("\n")
    return "\n".join(lines)


def unified_diff(old: str, new: str, path: str) -> str:
    """Return a diff for `patch` and `git apply`; empty if the texts are equal."""
    old_lines, new_lines = _diff_lines(old), _diff_lines(new)
    hunks = _hunks(old_lines, new_lines)
    if not hunks:
        return ""
    diff = [f"--- a/{path}", f"+++ b/{path}"]
    for group in _grouped(hunks):
        start = max(0, group[0].old_start - CONTEXT_LINES)
        end = min(len(old_lines), group[-1].old_end + CONTEXT_LINES)
        new_start = group[0].new_start - (group[0].old_start - start)
        new_end = group[-1].new_end + (end - group[-1].old_end)
        diff.append(f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@")
        for hunk in group:
            diff += [f" {line}" for line in old_lines[start : hunk.old_start]]
            diff += [f"-{line}" for line in old_lines[hunk.old_start : hunk.old_end]]
            diff += [f"+{line}" for line in new_lines[hunk.new_start : hunk.new_end]]
            start = hunk.old_end
        diff += [f" {line}" for line in old_lines[start:end]]
    return "\n".join(diff) + "\n"


def _hunks(old: list[str], new: list[str]) -> list[_Hunk]:
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < shorter - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_middle, new_middle = old[start : len(old) - tail], new[start : len(new) - tail]
    if not old_middle and not new_middle:
        return []
    if not old_middle or not new_middle or max(len(old_middle), len(new_middle)) > MAX_COMPARED_LINES:
        return [_Hunk(start, len(old) - tail, start, len(new) - tail)]
    opcodes = SequenceMatcher(None, old_middle, new_middle).get_opcodes()
    return [_Hunk(*(start + place for place in places)) for kind, *places in opcodes if kind != "equal"]


def _without_deletions(hunks: list[_Hunk]) -> list[_Hunk]:
    """Extend hunks to at least one new line each, because a patch text cannot express zero lines."""
    merged: list[_Hunk] = []
    for hunk in hunks:
        old_start, old_end, new_start, new_end = hunk
        if new_start == new_end and old_start > 0:
            old_start, new_start = old_start - 1, new_start - 1
        elif new_start == new_end:
            old_end, new_end = old_end + 1, new_end + 1
        if merged and old_start < merged[-1].old_end:
            old_start, new_start = merged[-1].old_start, merged[-1].new_start
            merged.pop()
        merged.append(_Hunk(old_start, old_end, new_start, new_end))
    return merged


def _grouped(hunks: list[_Hunk]) -> list[list[_Hunk]]:
    groups = [[hunks[0]]]
    for hunk in hunks[1:]:
        if hunk.old_start - groups[-1][-1].old_end <= 2 * CONTEXT_LINES:
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
    return groups


def _diff_lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines


def _range(start: int, end: int) -> str:
    """Format a range for a hunk header as `first,count`; an empty range has the number of the line before it."""
    count = end - start
    return f"{start + 1 if count else start}" + ("" if count == 1 else f",{count}")
