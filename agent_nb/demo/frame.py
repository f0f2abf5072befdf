"""A table of the notebook as the kernel tools describe it, and the question about it that can be answered."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_nb.demo.texts import table

_LISTED = re.compile(r"^- (\w+): (?:(\w+)\.)?\w+, ([\d,]+) rows? x [\d,]+ columns?;", re.MULTILINE)
_FACTS = re.compile(r"^- (.{1,200}): (\w[^,\n]{0,200}), [\d,]{1,20} nulls?(.*)$", re.MULTILINE)
_NUMERIC = re.compile(r"u?int|float|decimal|double", re.I)
_DISTINCT = re.compile(r", ([\d,]+) distinct")
_COMMON = re.compile(r"(?:most common: |, )(.{1,200}?) \(([\d,]+)\)")
_MOST_GROUPS = 50
_LABELS = re.compile(r"(?:^|_| )(?:id|year|month|day|zip|postcode|lat|lon|index|number|no)$", re.I)
"""Names of numbers that are not amounts."""
_RATES = re.compile(
    r"price|rate|ratio|share|percent|score|rating|temperature|\bage\b|speed|length|width|height|mass", re.I
)
"""Names of numbers whose sum says nothing."""
_AVERAGE = re.compile(r"\b(?:average|mean|typical)", re.I)


@dataclass(frozen=True, slots=True)
class Frame:
    name: str
    library: str
    rows: str
    """How many, as text."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    dtype: str
    facts: str

    @property
    def is_number(self) -> bool:
        return _NUMERIC.match(self.dtype) is not None

    @property
    def is_category(self) -> bool:
        """Whether it has a few different values, and they are not masked."""
        found = _DISTINCT.search(self.facts)
        return found is not None and 2 <= _integer(found[1]) <= _MOST_GROUPS and "•••" not in self.facts

    @property
    def common(self) -> list[tuple[str, int]]:
        """The most common values and how often they occur."""
        _, _, values = self.facts.partition("; ")
        return [(value, _integer(count)) for value, count in _COMMON.findall(values)]


@dataclass(frozen=True, slots=True)
class Question:
    """How large is `number` for each value of `category`?"""

    frame: Frame
    category: Column
    number: Column
    measure: str
    """`total` or `average`."""

    @property
    def title(self) -> str:
        text = f"{'average ' if self.measure == 'average' else ''}{self.number.name} by {self.category.name}"
        return text[:1].upper() + text[1:]


def find_frame(listed: str, prompt: str) -> Frame | None:
    """The table that the prompt names, or else the newest; None if there is no table with rows."""
    frames = [Frame(*found) for found in _LISTED.findall(listed) if found[2] != "0"]
    named = (frame for frame in frames if re.search(rf"\b{frame.name}\b", prompt))
    return next(named, frames[0] if frames else None)


def find_question(frame: Frame, described: str, prompt: str) -> Question | None:
    """What to compute; None if the table has no category or no number."""
    columns = [Column(*found) for found in _FACTS.findall(described)]
    category = _chosen(
        [column for column in columns if column.is_category], prompt, table("columns")["categories"]
    )
    numbers = [column for column in columns if column.is_number]
    amounts = [column for column in numbers if not _LABELS.search(column.name)]
    number = _chosen(amounts or numbers, prompt, table("columns")["amounts"])
    if category is None or number is None:
        return None
    is_average = _AVERAGE.search(prompt) or _RATES.search(number.name)
    return Question(frame, category, number, "average" if is_average else "total")


def _chosen(columns: list[Column], prompt: str, usual: Sequence[str]) -> Column | None:
    """The column that the prompt names, or the one with the best of the usual names, or the first."""
    named = (each for each in columns if re.search(rf"\b{re.escape(each.name)}(?:e?s)?\b", prompt, re.I))
    known = (each for name in usual for each in columns if name in re.split(r"[\W_]+", each.name.lower()))
    return next(named, next(known, columns[0] if columns else None))


def _integer(text: str) -> int:
    return int(text.replace(",", ""))
