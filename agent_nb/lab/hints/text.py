"""Filters a text while it arrives: each block of its Markdown passes, or is replaced, when it is complete.

Code is what Markdown shows as code: fenced and indented blocks, and inline code. What passes depends on the text
alone, not on how it was cut into pieces.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from agent_nb.lab.hints.allowance import Allowance, code_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONG_SPAN = 40
"""Characters. Longer inline code counts as a line, whatever it is."""
DEEPEST = 100
"""Levels of lists and quotations in which code is found."""
_CODE = ("fence", "code_block")
_MAY_GO_ON = ("bullet_list_open", "ordered_list_open", "code_block")
"""Blocks that an empty line does not end."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_SENTENCE_END = re.compile(r"""[.!?…]["'”’»)*_]*\s+|[。！？]""")
_SPACE = re.compile(r"(?<!,)\s")


class TextFilter:
    """Filters the text of one part of an answer. `feed` and `finish` return what may be shown."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._line = self._pending = ""
        """The line that is arriving, and the lines before it that have not been judged."""
        self._wait = 0
        """Characters before the pending lines are parsed again, so that a long block takes linear time."""

    def feed(self, text: str) -> str:
        *lines, self._line = (self._line + text).split("\n")
        return "".join(self._end_line(f"{line}\n") for line in lines)

    def finish(self) -> str:
        """Ends the text; returns the rest of it."""
        rest, self._pending, self._line = self._pending + self._line, "", ""
        tokens = _parser().parse(rest)
        return "".join(self._judged(tokens, _LINE.findall(rest)))

    def _end_line(self, line: str) -> str:
        self._pending += line
        if line.strip() or len(self._pending) < self._wait:
            return ""
        lines, tokens = _LINE.findall(self._pending), _parser().parse(self._pending)
        end = _complete(tokens, len(lines))
        self._pending = "".join(lines[end:])
        self._wait = 0 if end else len(self._pending) * 3 // 2
        return "".join(self._judged(tokens, lines[:end]))

    def _judged(self, tokens: "list[Token]", lines: list[str]) -> Iterator[str]:
        leaves = [
            (token, token.map[0])
            for token in tokens
            if token.map and token.type in (*_CODE, "inline") and token.map[0] < len(lines)
        ]
        yield "".join(lines[: leaves[0][1] if leaves else None])
        starts = [*(start for _, start in leaves), len(lines)]
        for (token, start), end in zip(leaves, starts[1:], strict=True):
            text = "".join(lines[start:end])
            yield from self._block(token, text) if token.type in _CODE else self._sentences(text)

    def _block(self, token: "Token", text: str) -> Iterator[str]:
        info = " ".join(token.info.split()[1:])  # after the name of the language, where code can be, too
        lines = code_lines(f"{info}\n{token.content}")
        refusal = self._allowance.refusal_of_text(text, "code block")
        if lines and not refusal:
            refusal = self._allowance.refusal_of_code(lines)
        yield f"> {refusal}\n\n" if refusal else text

    def _sentences(self, text: str) -> Iterator[str]:
        without_code = _SPAN.sub(lambda span: "x" * len(span[0]), text)
        ends = [found.end() for found in _SENTENCE_END.finditer(without_code)]
        starts_line = True
        for start, end in pairwise((0, *ends, len(text))):
            sentence = text[start:end]
            lines = [line for span in _spans(sentence) for line in code_lines(span)]
            refusal = self._allowance.refusal_of_text(sentence, "sentence")
            if lines and not refusal:
                refusal = self._allowance.refusal_of_code(lines, inline=True)
            if refusal:
                sentence = f"> {refusal}\n\n" if starts_line else f"\n\n> {refusal}\n\n"
            yield sentence
            starts_line = sentence.endswith("\n")


def _complete(tokens: "list[Token]", line_count: int) -> int:
    """How many lines belong to blocks that nothing can be added to, if the last line is empty."""
    blocks = [(token.type, token.map) for token in tokens if token.level == 0 and token.map]
    if not blocks:
        return line_count
    kind, (start, end) = blocks[-1]
    return start if kind in _MAY_GO_ON or end == line_count else line_count


def _spans(sentence: str) -> Iterator[str]:
    """The inline code that counts: what has a space, other than after a comma, or is long."""
    one_line = re.sub(r"[\r\n]+", " ; ", sentence)  # Markdown makes spaces of line breaks, and they count
    for token in _parser().parseInline(one_line)[0].children or ():
        span = token.content.strip()
        if token.type == "code_inline" and (_SPACE.search(span) or len(span) > LONG_SPAN):
            yield span


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST})
