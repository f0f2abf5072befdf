"""Finds, for text that is not in a file, the lines that come nearest: what the model needs to try again."""

import difflib
import heapq
import re

MAX_LINES_SEARCHED = 20_000
MAX_LINES_SHOWN = 12
MAX_LINE_WIDTH = 200
CANDIDATES = 20

_WORD = re.compile(r"\w+")


def nearest_lines(text: str, wanted: str) -> str:
    """A hint for the model; its cost is bounded, whatever the texts."""
    lines = text.split("\n")[:MAX_LINES_SEARCHED]
    block = [line for line in wanted.split("\n")[:MAX_LINES_SHOWN]]
    start = _same_but_for_spaces(lines, block)
    if start is not None:
        return _shown(lines, start, len(block), "Only spaces, tabs or line ends differ there:")
    start = _most_alike(lines, block)
    if start is not None:
        return _shown(lines, start, len(block), "The nearest lines are:")
    return "Nothing in the file is like it: read the file first."


def _same_but_for_spaces(lines: list[str], block: list[str]) -> int | None:
    bare_lines = [" ".join(line.split()) for line in lines]
    bare = [" ".join(line.split()) for line in block]
    for start, line in enumerate(bare_lines):
        if line == bare[0] and bare_lines[start : start + len(bare)] == bare:
            return start
    return None


def _most_alike(lines: list[str], block: list[str]) -> int | None:
    """Where the block would begin if its most telling line stood at the line most like it."""
    telling = max(range(len(block)), key=lambda index: len(set(_WORD.findall(block[index]))))
    wanted = block[telling].strip()[:MAX_LINE_WIDTH]
    words = set(_WORD.findall(wanted))
    shared = {index: len(words.intersection(_WORD.findall(line))) for index, line in enumerate(lines)}
    candidates = heapq.nlargest(
        CANDIDATES, (index for index in shared if shared[index]), key=shared.__getitem__
    )
    matcher = difflib.SequenceMatcher(None, "", wanted, autojunk=False)

    def likeness(index: int) -> float:
        matcher.set_seq1(lines[index].strip()[:MAX_LINE_WIDTH])
        return matcher.ratio()

    best = max(candidates, key=likeness, default=None)
    return None if best is None else max(0, best - telling)


def _shown(lines: list[str], start: int, count: int, title: str) -> str:
    end = min(len(lines), start + count + 1)
    first = max(0, start - 1)
    rows = [
        f"{number + 1}  {_cropped(lines[number])}"
        for number in range(first, min(end, first + MAX_LINES_SHOWN))
    ]
    return "\n".join([title, *rows])


def _cropped(line: str) -> str:
    return line if len(line) <= MAX_LINE_WIDTH else f"{line[:MAX_LINE_WIDTH]}…"
