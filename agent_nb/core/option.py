"""What an option of `%%agent` is: its spelling, its help, and how its words are read."""

from collections.abc import Callable
from dataclasses import field
from typing import Any, NamedTuple, TypeVar

Value = TypeVar("Value")


class Number(NamedTuple):
    kind: type[int] | type[float]
    accepts: Callable[[float], bool]
    description: str
    example: str


class Option(NamedTuple):
    flags: tuple[str, ...]
    """Empty for the positional NAME."""
    metavar: str | None
    help: str
    number: Number | None = None
    choices: tuple[str, ...] = ()
    is_switch: bool = False
    turns_off: bool = False
    """Whether the switch sets False."""
    repeats: bool = False
    is_optional: bool = False
    """Whether its value is optional. It is then a path or one of `choices`."""
    is_expression: bool = False
    """Whether its value is the rest of the line: an expression about the run that has ended."""
    label: Callable[[Any], str] | None = None
    """Formats a value for the page, if a cell that continues the run repeats the option."""
    grants: bool = False
    """Whether it gives the model more to see or to do. It is not repeated from someone else's run, only offered."""
    after: str = ""
    """The name of the option that it follows in the help; empty for the last place."""
    completes: str = ""
    """What Tab offers as its value, such as `path`; empty for its choices."""

    def read(self, word: str) -> Any:
        """Parse a word of the line; raises `ValueError` if it is not a valid value."""
        if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'":
            word = word[1:-1]
        if self.number is None:
            value: Any = word
            accepted = self.takes(word) or not word if self.is_optional else bool(word) or not self.flags
        else:
            value = self.number.kind(word)
            accepted = self.number.accepts(value)
        if not accepted:
            raise ValueError(word)
        return value

    def takes(self, word: str) -> bool:
        """Whether the word after this option is its optional value. In `--replay hero`, it is the name of the run."""
        return word in self.choices or "/" in word or word.strip("\"'").endswith(".jsonl")


def flag(  # noqa: PLR0913 - everything about an option
    spelling: str,
    text: str,
    *,
    default: Any = None,
    number: Number | None = None,
    choices: tuple[str, ...] = (),
    label: Callable[[Any], str] | None = None,
    grants: bool = False,
    after: str = "",
    completes: str = "",
) -> Option:
    """An option from its spelling, such as `-m --model MODEL`, and its help.

    A default of False makes it a switch, True one that turns off; a default of () makes it repeatable.
    """
    parts = spelling.split()
    return Option(
        flags=tuple(part for part in parts if part.startswith("-")),
        metavar=next((part for part in parts if not part.startswith("-")), None),
        help=text,
        number=number,
        choices=choices,
        is_switch=isinstance(default, bool),
        turns_off=default is True,
        repeats=default == (),
        is_optional="[" in spelling,
        is_expression=spelling.endswith("EXPRESSION"),
        label=label,
        grants=grants,
        after=after,
        completes=completes,
    )


def option(default: Value, spelling: str, text: str, **columns: Any) -> Value:
    """Define a field of `Options` with its default."""
    return field(default=default, metadata={"option": flag(spelling, text, default=default, **columns)})


def count(example: int) -> Number:
    return Number(int, lambda value: 1 <= value < 10**9, "a whole number of at least 1", str(example))


def above_zero(example: str, unit: str = "a number") -> Number:
    return Number(float, lambda value: 0 < value < float("inf"), f"{unit} above 0", example)
