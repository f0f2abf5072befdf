"""How much code may be given at a step, and the sentences for what is held back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from agent_nb.lab.hints.code import code_lines, is_encoded
from agent_nb.lab.hints.plain import AvoidList, plain

STEPS: dict[str, str] = {
    "question": "a question",
    "pointer": "a pointer",
    "partial": "a part of the solution",
}
"""The steps of the ladder, and how a person reads them."""
MOST_LINES = {"question": 0, "pointer": 1, "partial": 3}
"""Lines of code that may be given at a step, all runs and turns together until the person's next try."""
ONE_INLINE = 1
"""Lines of code in the middle of a sentence that may be given where blocks may not."""


@dataclass(slots=True)
class Allowance:
    """What may still be given. The turns, tool calls and variants of a run share one."""

    step: str
    avoid: AvoidList
    file: str = "lab.toml"
    """The lab file as sentences name it."""
    given: set[str] = field(default_factory=set)
    """The lines of code that were given, as digests. The same line again is free."""
    own: set[str] = field(default_factory=set)
    """The person's own lines of code, as digests. They may be quoted."""
    held: list[str] = field(default_factory=list)
    """A sentence for everything that was held back."""

    def refusal_of_code(self, lines: Sequence[str], what: str) -> str:
        """Why these lines of code are held back; empty if they may be given, and then they count.

        `what` names them in the sentence, such as "code block"; it is empty for code within a sentence.
        """
        most = MOST_LINES[self.step] if what else max(MOST_LINES[self.step], ONE_INLINE)
        found = {_digest(line) for line in lines} - self.own
        if found <= self.given or len(self.given | found) <= most:
            self.given |= found
            return ""
        size = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
        return self._hold(
            f"A {what} of {size} was held back" if what else f"Code of {size} was held back", "mode"
        )

    def add_own(self, text: str) -> None:
        """Lets the lines of a text pass: the person has written them, so they give nothing away."""
        self.own.update(_digest(line) for each in text.splitlines() for line in code_lines(each))

    def refusal_of_text(self, text: str, what: str, before: Sequence[str] = ()) -> str:
        """Why a text is held back, code or not; `before` are the words that came before it."""
        if is_encoded(text):
            return self._hold("An encoded text was held back", "mode")
        if self.avoid.matches(text, before):
            return self._hold(f"A {what} was held back", "avoid")
        return ""

    def _hold(self, sentence: str, rule: str) -> str:
        reason = {
            "mode": "this lab gives hints, not solutions.",
            "avoid": "it gives away what this lab asks for.",
        }[rule]
        self.held.append(f"{sentence}: {reason} (`{rule}` in {self.file})")
        return self.held[-1]


def _digest(line: str) -> str:
    return sha256("".join(plain(line).split()).casefold().encode("utf-8", "replace")).hexdigest()[:16]
