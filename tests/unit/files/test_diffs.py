import difflib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.files.diffs import MAX_COMPARED_LINES, apply_patch, compare, unified_diff

LINES = st.lists(st.sampled_from(["", "a", "b", "<p>", "x\r", "\u2028", "é"]), max_size=30)
TEXTS = LINES.map("\n".join) | st.text(max_size=60)


def apply_unified(old: str, diff: str) -> str:
    """Reads a unified diff as strictly as `patch` does."""
    lines = old.split("\n")
    if lines[-1] == "":
        lines.pop()
    else:
        lines[-1] += "\\"
    result: list[str] = []
    position = 0
    body = diff.replace("\n\\ No newline at end of file", "\\").split("\n")[2:-1] if diff else []
    for row in body:
        if header := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", row):
            start = int(header[1]) - (header[2] != "0")
            result += lines[position:start]
            position = start
            assert len(result) == int(header[3]) - (header[4] != "0")
        elif row[0] == "+":
            result.append(row[1:])
        else:
            assert lines[position] == row[1:]
            position += 1
            if row[0] == " ":
                result.append(row[1:])
    result += lines[position:]
    return "".join(line[:-1] if line.endswith("\\") else f"{line}\n" for line in result)


@given(TEXTS, TEXTS)
def test_patch_leads_from_old_to_new(old: str, new: str) -> None:
    assert apply_patch(old, compare(old, new).patch) == new


@given(TEXTS, TEXTS)
def test_patch_hunks_stand_in_order_apart(old: str, new: str) -> None:
    end = 0
    for start, count, _ in compare(old, new).patch:
        assert start >= end
        end = start + count
    assert end <= len(old.split("\n"))


@given(TEXTS, TEXTS)
def test_unified_diff_applies_to_old(old: str, new: str) -> None:
    assert apply_unified(old, unified_diff(old, new, "a.txt")) == new


@pytest.mark.parametrize("gap", range(1, 12))
def test_unified_diff_reads_like_difflib(gap: int) -> None:
    old = [f"line {number}" for number in range(40)]
    new = [*old[:5], "changed", *old[6 : 6 + gap], *old[8 + gap :], "more"]
    expected = difflib.unified_diff(old, new, "a/a.txt", "b/a.txt", lineterm="")
    assert unified_diff("\n".join([*old, ""]), "\n".join([*new, ""]), "a.txt") == "\n".join([*expected, ""])


def test_no_change_gives_no_diff() -> None:
    assert unified_diff("a\n", "a\n", "a.txt") == ""
    assert compare("a\n", "a\n").patch == ()
    assert compare("a\n", "a\n").first_line == 0


def test_counts_are_those_of_people() -> None:
    created = compare("", "a\nb\n")
    assert (created.added, created.removed, created.first_line) == (2, 0, 1)
    unfinished = compare("", "a\nb")
    assert (unfinished.added, unfinished.removed) == (2, 0)
    edited = compare("a\nb\nc\n", "a\nx\ny\nc\n")
    assert (edited.added, edited.removed, edited.first_line) == (2, 1, 2)
    emptied = compare("a\nb\n", "")
    assert (emptied.added, emptied.removed) == (0, 2)


def test_deleting_lines_is_not_emptying_them() -> None:
    assert compare("a\nb\nc", "a\nc").patch == ((0, 2, "a"),)
    assert compare("a\nb\nc", "a\n\nc").patch == ((1, 1, ""),)


def test_huge_rewrite_is_one_replacement() -> None:
    old = "\n".join(f"old {number}" for number in range(MAX_COMPARED_LINES + 1))
    new = "\n".join(f"new {number}" for number in range(MAX_COMPARED_LINES + 1))
    head, tail = "same\n", "\nsame"
    patch = compare(head + old + tail, head + new + tail).patch
    assert patch == ((1, MAX_COMPARED_LINES + 1, new),)
