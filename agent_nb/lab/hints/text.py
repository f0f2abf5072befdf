"""Filters a text while it arrives: prose passes sentence by sentence, code is held until its block has ended.

What passes depends on the text alone, not on how it was cut into pieces. Every character is looked at a fixed number
of times.
"""

import re

from agent_nb.lab.hints.allowance import Allowance
from agent_nb.lab.hints.code import code_lines, is_code
from agent_nb.lab.hints.plain import plain

_ENDS = frozenset(".!?…")
_ENDS_WITHOUT_SPACE = frozenset("。！？")
_LINE_ENDS = frozenset("\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")
_CLOSERS = frozenset("\"'”’»)*_")
_FENCE = re.compile(r"^[\s>]*(?:(?:[-*+]|\d{1,4}[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})(.*)$", re.DOTALL)
_OPENERS = {"<!--": "-->", "<pre": "</pre", "<code": "</code", "<script": "</script", "<style": "</style"}
_LIST_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,4}[.)])\s")
_INDENTED = re.compile(r"^(?: {4}|\t| {1,3}\t)")
_COMMENT = re.compile(r"^\s*(?:#|//|--|/\*|;|%)")
_SPAN = re.compile(r"(`+)(.+?)\1")
_VALUE = r"(?:-?\d[\d.]*|\"\w{0,8}\"|'\w{0,8}'|\[\]|True|False|None)"
_FREE_SPAN = re.compile(
    rf"[\w.$-]*(?:\((?:[\w., ]{{0,20}}|{_VALUE})\))?|\W*|</?[A-Za-z][\w-]*/?>|\w+ ?(?:[=!<>]=|[=<>]) ?{_VALUE}"
)
"""Inline code that is only a name, a call of one, an operator, a tag, or a name with a value."""
LONG_SPAN = 40
_LINK = re.compile(r"\[[^\[\]]*\]\([^()\s]*\)|\([^()`]*\)")
_CODE_CHARACTERS = re.compile(r"[=<>{}\[\]|\\;^~@$_`(]")
_WORD = re.compile(r"\w+")


class TextFilter:
    """Filters the text of one part of an answer. `feed` and `finish` return what may be shown."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._out: list[str] = []
        self._unit: list[str] = []
        """The sentence that is being read, or the rest of the line if that is not plain prose."""
        self._sentence_ended = False
        self._ticks = 0
        self._whole_line = False
        """Whether nothing passes before the line has ended."""
        self._begun = False
        """Whether a part of this line has passed or was held back."""
        self._is_in_line = False
        """Whether what has passed so far ends in the middle of a line."""
        self._block: list[str] = []
        """Lines of code that have not been judged yet."""
        self._closer: re.Pattern[str] | None = None
        """What ends the block; None for code without a fence, which prose ends."""
        self._in_list = self._after_blank = False
        self._tail: tuple[str, ...] = ()
        """The last words that passed: a phrase of `avoid` may go on in the next unit."""

    def feed(self, text: str) -> str:
        for char in text:
            if char in _LINE_ENDS:
                self._end_line(char)
            else:
                self._read(char)
        return self._passed()

    def finish(self) -> str:
        """Ends the text; returns the rest of it."""
        if self._unit:
            self._end_line("")
        self._end_block()
        return self._passed()

    def _passed(self) -> str:
        passed, self._out = "".join(self._out), []
        return passed

    def _read(self, char: str) -> None:
        self._unit.append(char)
        if self._whole_line:
            return
        self._ticks += char == "`"
        if char in _ENDS or char in _ENDS_WITHOUT_SPACE:
            self._sentence_ended = True
        elif not char.isspace():
            self._sentence_ended = self._sentence_ended and char in _CLOSERS
        if self._sentence_ended and self._ticks % 2 == 0 and (char.isspace() or char in _ENDS_WITHOUT_SPACE):
            self._end_sentence()

    def _end_sentence(self) -> None:
        sentence = "".join(self._unit)
        self._sentence_ended = False
        if self._block or not _is_plain_prose(sentence) or (not self._begun and _INDENTED.match(sentence)):
            self._whole_line = True
            return
        self._pass_prose(sentence)
        if not self._begun:
            self._note_line(sentence)
        self._unit, self._begun = [], True

    def _end_line(self, end: str) -> None:
        line, is_start = "".join(self._unit), not self._begun
        self._unit, self._ticks = [], 0
        self._whole_line = self._sentence_ended = False
        if self._closer:
            self._block.append(line + end)
            if self._closer.match(line):
                self._end_block()
        elif not line.strip():
            self._blank(line + end)
        elif closer := _closer_of(plain(line), is_start=is_start):
            self._end_block()
            self._block, self._closer = [line + end], closer
        elif self._is_code(line, is_start=is_start):
            self._block.append(line + end)
        else:
            self._end_block()
            self._pass_prose(line + end)
        if is_start:
            self._note_line(line)
        self._begun = False

    def _note_line(self, line: str) -> None:
        """Remembers of a line what decides whether an indented one after it is code."""
        self._after_blank = not line.strip()
        if not self._after_blank:
            self._in_list = bool(_LIST_ITEM.match(line)) or (self._in_list and line[:1].isspace())

    def _blank(self, text: str) -> None:
        # Between two lines of code it belongs to the block, and after a sentence it ends the line.
        if self._block:
            self._block.append(text)
        else:
            self._pass(text)

    def _is_code(self, line: str, *, is_start: bool) -> bool:
        if is_code(_without_spans(line)):
            return True
        if self._block:
            return line[:1].isspace() or bool(_COMMENT.match(line))
        return is_start and self._after_blank and not self._in_list and bool(_INDENTED.match(line))

    def _end_block(self) -> None:
        """Judges the block as a whole: either all of it passes or nothing."""
        block, self._block = self._block, []
        blanks: list[str] = []
        while block and not block[-1].strip():
            blanks.insert(0, block.pop())
        if block:
            text = "".join(block)
            self._judge(text, _counted(block, fenced=self._closer is not None), "code block")
        self._closer = None
        for blank in blanks:
            self._pass(blank)

    def _pass_prose(self, text: str) -> None:
        spans = [span for span in _counted_spans(text) if is_code(span) or len(span) > LONG_SPAN]
        lines = [line for span in spans for line in code_lines(span)]
        self._judge(text, lines, "sentence", inline=True)

    def _judge(self, text: str, lines: list[str], what: str, *, inline: bool = False) -> None:
        allowance = self._allowance
        refusal = allowance.refusal_of_text(text, what, self._tail)
        if not refusal and lines:
            refusal = allowance.refusal_of_code(lines, "" if inline else what)
        if refusal:
            self._pass(("\n\n> " if self._is_in_line else "> ") + refusal + "\n\n")
            return
        self._tail = allowance.avoid.tail(text, self._tail)
        self._pass(text)

    def _pass(self, text: str) -> None:
        self._out.append(text)
        self._is_in_line = not text.endswith("\n")


def _is_plain_prose(sentence: str) -> bool:
    """Whether a sentence can pass before its line has ended: what follows cannot make code of it."""
    bare = _LINK.sub(" ", _SPAN.sub(" ", plain(sentence)))
    return (
        len(_WORD.findall(bare)) > 2
        and not _CODE_CHARACTERS.search(bare)
        and not _COMMENT.match(bare)
        and not is_code(bare)
    )


def _without_spans(line: str) -> str:
    """The line without its inline code, which is counted by itself; a line of only that is a line of code."""
    bare = _SPAN.sub(" x ", line)
    if len(_WORD.findall(_SPAN.sub(" ", line))) > 1 or not _counted_spans(line):
        return bare
    return line.replace("`", "")


def _counted_spans(text: str) -> list[str]:
    return [span for _, span in _SPAN.findall(text) if not _FREE_SPAN.fullmatch(plain(span.strip()))]


def _closer_of(line: str, *, is_start: bool) -> re.Pattern[str] | None:
    """What ends the block that a line opens; None if it opens none."""
    if is_start and (fence := _FENCE.match(line)):
        mark = fence[1]
        return re.compile(rf"^[\s>]*{re.escape(mark[0])}{{{len(mark)},}}\s*$")
    lowered = line.lower()
    for opener, closer in _OPENERS.items():
        start = lowered.rfind(opener)
        if start >= 0 and closer not in lowered[start:]:
            return re.compile(rf"(?is).*{re.escape(closer)}")
    return None


def _counted(block: list[str], *, fenced: bool) -> list[str]:
    """The lines of code in a block; the marks of a fence are none."""
    if not fenced or not (fence := _FENCE.match(block[0])):
        return [line for each in block for line in code_lines(each)]
    info = fence[2].split(maxsplit=1)[1:]  # after the name of the language, where code can hide too
    inner = block[1:-1] if len(block) > 1 and _FENCE.match(block[-1]) else block[1:]
    return [line for each in (*info, *inner) for line in code_lines(each)]
