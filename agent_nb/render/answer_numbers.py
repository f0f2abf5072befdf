"""The table of numbers in an answer, and its words: the lines above and below the answer, and after a value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_nb._base.secrets import mask

MOST_NUMBERS = 20
"""Maximum numbers that the line below an answer lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNumber:
    """A number in the answer, supported by an output or unsupported."""

    start: int
    """Offset in UTF-16 units in the text as displayed, without code."""
    text: str
    call_id: str
    """The call whose output contains it; empty if unsupported."""
    path: str | None = None
    """JSON pointer to the value that contains it, in an answer with a type; None in the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNumbers:
    """The numbers of one variant's answer, as every form shows them."""

    table: tuple[AnswerNumber, ...]
    above: str
    """The line above the answer if no code ran; empty otherwise."""
    below: str
    """The line below the answer with the unsupported numbers; empty if there are none."""

    @property
    def marks(self) -> dict[int, str]:
        """The unsupported numbers of the text by offset."""
        return {each.start: each.text for each in self.table if each.path is None and not each.call_id}


def unsupported_in(numbers: Sequence[AnswerNumber]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(number.text for number in numbers if not number.call_id))


def line_below(numbers: Sequence[AnswerNumber]) -> str:
    texts = unsupported_in(numbers)
    suffix = f" and {len(texts) - MOST_NUMBERS} more" if len(texts) > MOST_NUMBERS else ""
    return f"Not computed: {', '.join(texts[:MOST_NUMBERS])}{suffix}" if texts else ""


def pointer(path: str, key: str | int) -> str:
    """The JSON pointer to an item, with secrets masked."""
    return f"{path}/{mask(str(key)).replace('~', '~0').replace('/', '~1')}"


def entry_note(value: Any, path: str | None, numbers: Sequence[AnswerNumber]) -> str:
    """The words after a value in a table: ` (not computed)`, or which of its numbers."""
    typed = [each for each in numbers if path is not None and each.path is not None]
    inside = [each for each in typed if f"{each.path}/".startswith(f"{path}/")]
    texts = unsupported_in(inside)
    which = "" if isinstance(value, int | float) else f": {', '.join(texts[:MOST_NUMBERS])}"
    return f" (not computed{which})" if texts else ""
