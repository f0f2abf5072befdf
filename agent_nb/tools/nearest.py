"""Finds the lines of a file that are most like a text it does not contain, so that the model can try again."""

import difflib
import heapq
import re

MAX_CHARACTERS_SEARCHED = 200_000
MAX_LINES_SHOWN = 12
MAX_LINE_WIDTH = 200
MAX_WIDTH_COMPARED = 80
"""Comparing lines of the same few characters takes time in the cube of their width."""
CANDIDATES = 10
LINES_COMPARED = 4

_WORD = re.compile(r"\w+")
_BORDER = re.compile(r"[^\w.\-]")
"""A character that is part of no word and of no key."""


def nearest_lines(text: str, wanted: str) -> str:
    """A hint for the model. The time it takes is bounded for any text."""
    lines = text[:MAX_CHARACTERS_SEARCHED].split("\n")
    block = wanted[:MAX_CHARACTERS_SEARCHED].split("\n")[:MAX_LINES_SHOWN]
    start = _same_but_for_spaces(lines, block)
    if start is not None:
        return _shown(lines, start, block, "Only white space differs here:")
    start = _most_alike(lines, block)
    if start is not None:
        return _shown(lines, start, block, "The closest lines:")
    return "The file has nothing like it: read the file first."


def _same_but_for_spaces(lines: list[str], block: list[str]) -> int | None:
    bare_lines, bare = (["".join(line.split()) for line in each] for each in (lines, block))
    if not any(bare):
        return None
    for start, line in enumerate(bare_lines):
        if line == bare[0] and bare_lines[start : start + len(bare)] == bare:
            return start
    return None


def _most_alike(lines: list[str], block: list[str]) -> int | None:
    """Where the block would start in the file, judging by the best match of one of its lines.

    Only the longest lines of the block are compared, because short ones are alike by chance.
    """
    wanted = [line.strip()[:MAX_WIDTH_COMPARED] for line in block]
    longest = heapq.nlargest(LINES_COMPARED, range(len(block)), key=lambda offset: len(wanted[offset]))
    vocabulary = set(_WORD.findall("\n".join(block)))
    shared = [len(vocabulary.intersection(_WORD.findall(line))) for line in lines]
    candidates = heapq.nlargest(CANDIDATES, range(len(lines)), key=shared.__getitem__)
    best, start = 0.0, None
    matcher = difflib.SequenceMatcher(autojunk=False)
    for offset in sorted(longest):
        matcher.set_seq2(wanted[offset])
        for index in (index for index in candidates if shared[index]):
            matcher.set_seq1(lines[index].strip()[:MAX_WIDTH_COMPARED])
            if (weight := matcher.ratio() * len(wanted[offset])) > best:
                best, start = weight, max(0, index - offset)
    return start


def _shown(lines: list[str], start: int, block: list[str], title: str) -> str:
    word = max(_WORD.findall("\n".join(block)), key=len, default="")
    numbers = range(max(0, start - 1), min(len(lines), start + len(block) + 1))
    return "\n".join([title, *(f"{number + 1}  {_cropped(lines[number], word)}" for number in numbers)])


def _cropped(line: str, word: str) -> str:
    """A part of a long line, such as a minified one, around the word.

    It has no halves of words: half of a key would not be recognised, and not be masked.
    """
    if len(line) <= MAX_LINE_WIDTH:
        return line
    middle = max(0, line.find(word))
    start = max(0, middle - MAX_LINE_WIDTH // 2)
    end = start + MAX_LINE_WIDTH
    if start and (whole := _BORDER.search(line, start - 1, middle)):
        start = whole.end()
    if end < len(line):
        end = max((whole.start() for whole in _BORDER.finditer(line, middle, end + 1)), default=end)
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
