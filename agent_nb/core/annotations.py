"""Notes shown at a moment of a replay. A question pauses the replay until the reader has chosen an answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_nb.core.errors import ConfigError

LONGEST_TEXT = 5_000
LONGEST_QUESTION = 500
LONGEST_CHOICE = 300
MOST_CHOICES = 10
_EXAMPLE = '["It edits the page", "It stops"]'


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    at: float | str
    """Seconds of the run, or `turn 2`, `change 3`, `end`."""
    text: str = ""
    ask: str = ""
    choices: tuple[str, ...] = ()
    """Answers to choose from. A question without any, from an older file, is shown as a note."""
    answer: str = ""
    """The right choice, shown once the reader has answered; may be empty."""
    variant: int = 0

    def __post_init__(self) -> None:
        _check_text("text", self.text, LONGEST_TEXT)
        _check_text("ask", self.ask, LONGEST_QUESTION)
        _check_choices(self.choices)
        if not self.text.strip() and not self.ask.strip():
            raise ConfigError("A note needs a `text`, a question to `ask`, or both.")
        _check_text("answer", self.answer, LONGEST_TEXT)
        if (self.choices or self.answer) and not self.ask.strip():
            raise ConfigError('`choices` and `answer` need a question: `ask="What will it do next?"`.')
        if self.choices and self.answer and self.answer not in self.choices:
            raise ConfigError(f"`answer` is not one of the {len(self.choices)} choices.")


def question_choices(ask: str, choices: object) -> tuple[str, ...]:
    """Check that a question has choices and that they are unique. Masking may later make two equal."""
    if isinstance(choices, str) or not isinstance(choices, Sequence):
        raise ConfigError(f"`choices` is a list such as `{_EXAMPLE}`.")
    if ask and not choices:
        raise ConfigError(f"A question needs answers to choose from: `choices={_EXAMPLE}`.")
    if any(choice in choices[:index] for index, choice in enumerate(choices[: MOST_CHOICES + 1])):
        raise ConfigError("Two of the `choices` are the same.")
    return tuple(choices)


def answer_text(answer: int | str | None, choices: Sequence[str]) -> str:
    """The text of the right choice, given as text or as the number of the choice (from 1)."""
    if answer is None or isinstance(answer, str):
        return answer or ""
    number = answer.__index__() if hasattr(answer, "__index__") and not isinstance(answer, bool) else 0
    if not 1 <= number <= len(choices):
        have = f"1 to {len(choices)}" if choices else "none"
        raise ConfigError(f"There is no choice {answer!r}; the question has {have}.")
    return choices[number - 1]


def _check_choices(choices: tuple[str, ...]) -> None:
    if len(choices) == 1 or len(choices) > MOST_CHOICES:
        raise ConfigError(f"A question has 2 to {MOST_CHOICES} choices; this one has {len(choices)}.")
    for choice in choices:
        _check_text("choices", choice, LONGEST_CHOICE)
        if not choice.strip():
            raise ConfigError("One of the `choices` is empty.")


def _check_text(name: str, text: object, longest: int) -> None:
    if not isinstance(text, str):
        raise ConfigError(f"`{name}` must be text, not a value of type {type(text).__name__}.")
    if len(text) > longest:
        raise ConfigError(f"`{name}` has {len(text):,} characters; the most is {longest:,}.")
