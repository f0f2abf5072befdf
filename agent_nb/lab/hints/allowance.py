"""How much code may be given at a step, and the sentences for what is held back."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_nb._base.text import sha256

STEPS: dict[str, str] = {
    "question": "a question",
    "pointer": "a pointer",
    "partial": "a part of the solution",
}
"""The steps of the ladder, and how the user reads them."""
MOST_LINES = {"question": 0, "pointer": 1, "partial": 3}
"""Lines of code that may be given at a step, all runs and turns together until the user's next try."""
ONE_INLINE = 1
"""Lines of code in the middle of a sentence that may be given where blocks may not."""
LONG_LINE = 80
"""Characters. A longer line of code counts as several."""
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_WORD = re.compile(r"[\W_]+")


class AvoidList:
    """The words and phrases of `avoid`: matched as whole words in any case, also in names such as `useRecursion`."""

    def __init__(self, phrases: Sequence[str]) -> None:
        self._phrases = {reading for phrase in phrases for reading in _readings(phrase) if reading.strip()}

    def matches(self, text: str) -> bool:
        if not self._phrases:
            return False
        return any(_contains(each, phrase) for each in _readings(text) for phrase in self._phrases)


def _readings(text: str) -> tuple[str, str]:
    """The words in lower case with a space around each, with `maxDepth` as one word and as two."""
    visible = "".join(char for char in text if unicodedata.category(char) != "Cf")
    simple = unicodedata.normalize("NFKC", visible)
    one, two = (_NO_WORD.sub(" ", f" {each} ").casefold() for each in (simple, _CAMEL.sub(" ", simple)))
    return one, two


def _contains(text: str, phrase: str) -> bool:
    if any(unicodedata.east_asian_width(char) in "WF" for char in phrase):
        return phrase.strip() in text  # Chinese and Japanese put no spaces between words
    return phrase in text


@dataclass(slots=True)
class Allowance:
    """What may still be given. The turns and variants of a run share one."""

    step: str
    avoid: AvoidList
    file: str = "lab.toml"
    """The lab file as sentences name it."""
    given: set[str] = field(default_factory=set)
    """The lines of code that were given, as digests. The same line again is free."""
    own: set[str] = field(default_factory=set)
    """The user's own lines of code, as digests. They may be quoted."""
    held: list[str] = field(default_factory=list)
    """A sentence for everything that was held back."""

    def refusal_of_code(self, lines: Sequence[str], *, inline: bool = False) -> str:
        """Why these lines of code are held back; empty if they may be given, and then they count."""
        most = max(MOST_LINES[self.step], ONE_INLINE) if inline else MOST_LINES[self.step]
        found = {_digest(line) for line in lines} - self.own
        if found <= self.given or len(self.given | found) <= most:
            self.given |= found
            return ""
        size = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
        return self.hold(f"{'Code' if inline else 'A code block'} of {size}")

    def refusal_of_text(self, text: str, what: str) -> str:
        """Why a text is held back, code or not; empty if it contains nothing of `avoid`."""
        if not self.avoid.matches(text):
            return ""
        return self._hold(f"A {what}", "it gives away what this lab asks for. (`avoid`")

    def hold(self, what: str) -> str:
        """Notes that something is held back in this mode; returns the sentence that says so."""
        return self._hold(what, "this lab gives hints, not solutions. (`mode`")

    def _hold(self, what: str, reason: str) -> str:
        self.held.append(f"{what} was held back: {reason} in {self.file})")
        return self.held[-1]

    def add_own(self, text: str) -> None:
        """Lets the lines of a text pass: the user has written them, so they give nothing away."""
        self.own.update(map(_digest, code_lines(text)))


def code_lines(code: str) -> list[str]:
    """The lines of code as they are counted. Several statements on one line, or a long one, are several."""
    pieces = (" ".join(piece.split()) for piece in re.split(r"[\r\n;]", code))
    return [
        piece[start : start + LONG_LINE]
        for piece in pieces
        if re.search(r"\w", piece)
        for start in range(0, len(piece), LONG_LINE)
    ]


def _digest(line: str) -> str:
    return sha256("".join(line.split()).casefold())[:16]
