"""The table of numbers in an answer, and the words after a value in a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_nb._base.secrets import mask

MOST_NUMBERS = 20
"""Maximum numbers that a line lists."""


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


def unsupported_in(numbers: Sequence[AnswerNumber]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(number.text for number in numbers if not number.call_id))


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
