"""The numbers of a dashboard: those in the prompt if there are any, else a sample seeded by its words."""

import random
import re
from dataclasses import dataclass

from agent_nb.providers.demo.brief import Brief

MAX_ROWS, MAX_COLUMNS = 24, 5
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NUMBER = re.compile(r"^[^\w\s-]?-?[\d][\d,_ ]*(?:\.\d+)?\s?[%€$£]?$")
_DTYPE = re.compile(
    r"^\W*([A-Za-z_][\w ]{0,30}?)\W+(?:\d+ non-null\W+)?(?:u?int|float|object|str|string|datetime|bool|category)\w*\b",
    re.MULTILINE,
)
_MEASURES = (
    (r"weather|climate|temperature|rain", ("Temperature, °C", "Rain, mm", "Sun, hours", "Wind, km/h"), 18),
    (
        r"web|traffic|visitors?|blog|page ?views|analytics",
        ("Visits", "Readers", "Sign-ups", "Pages per visit"),
        4200,
    ),
    (
        r"energy|solar|power|electric\w*|water",
        ("Produced, kWh", "Used, kWh", "Saved, kg CO2", "Stored, kWh"),
        640,
    ),
    (
        r"fitness|running|health|steps|sleep|training",
        ("Minutes", "Kilometres", "Sessions", "Resting pulse"),
        210,
    ),
    (
        r"students?|course|class|grades?|school|learning",
        ("Learners", "Lessons done", "Questions", "Mean score"),
        120,
    ),
    (r"", ("Revenue", "Orders", "Customers", "Returns"), 8200),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    axis: str
    labels: tuple[str, ...]
    columns: tuple[tuple[str, tuple[float, ...]], ...]
    """At least one, each as long as `labels`."""
    given: bool
    """Whether the numbers came with the prompt."""


def read_data(brief: Brief) -> Data:
    return _table(brief.prompt) or _sample(brief)


def _table(prompt: str) -> Data | None:
    """The first CSV, Markdown or white-space aligned table of the prompt that holds numbers."""
    for split in (_commas, _pipes, _columns):
        rows = [cells for line in prompt.splitlines() if len(cells := split(line)) > 1]
        if (found := _numbers(rows)) is not None:
            return found
    return None


def _numbers(rows: list[list[str]]) -> Data | None:
    for start, header in enumerate(rows[:-2]):
        body = []
        for row in rows[start + 1 :]:
            if len(row) != len(header):
                break
            body.append(row)
        numeric = [i for i in range(len(header)) if body and all(_NUMBER.match(row[i]) for row in body)]
        if len(body) < 2 or not numeric or any(_NUMBER.match(cell) for cell in header):
            continue
        label = next((i for i in range(len(header)) if i not in numeric), numeric[0])
        body = body[:MAX_ROWS]
        columns = [
            (header[i][:1].upper() + header[i][1:], tuple(_value(row[i]) for row in body))
            for i in numeric
            if i != label
        ]
        if columns:
            labels = tuple(row[label] for row in body)
            return Data(axis=header[label], labels=labels, columns=tuple(columns[:MAX_COLUMNS]), given=True)
    return None


def _commas(line: str) -> list[str]:
    return [cell.strip(" \"'") for cell in re.split(r"[,;\t]", line)] if "|" not in line else []


def _pipes(line: str) -> list[str]:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return [] if all(set(cell) <= set("-: ") for cell in cells) else cells


def _columns(line: str) -> list[str]:
    """Columns as pandas prints them; the row number in front, which has no heading, is left out."""
    cells = re.split(r"\s{2,}", line.rstrip())
    return cells[1:] if len(cells) > 2 and (not cells[0] or cells[0].isdigit()) else []


def _value(cell: str) -> float:
    return float(re.sub(r"[^\d.-]", "", cell) or 0)


def _sample(brief: Brief) -> Data:
    chance = random.Random(brief.seed)
    words = f"{brief.subject} {brief.prompt[:300]}"
    names, scale = next(
        (n, s) for pattern, n, s in _MEASURES if re.search(rf"\b(?:{pattern})\b", words, re.I)
    )
    named = [name.strip() for name in _DTYPE.findall(brief.prompt)]
    measures = (named or list(names))[:MAX_COLUMNS]
    return Data(
        axis="month",
        labels=_MONTHS,
        columns=tuple((name, _season(chance, scale / (1 + 2.6 * i))) for i, name in enumerate(measures)),
        given=False,
    )


def _season(chance: random.Random, scale: float) -> tuple[float, ...]:
    """A year that rises a little, with a summer and some noise."""
    peak = chance.uniform(4, 8)
    year = (
        scale * (0.7 + 0.03 * i + 0.35 * max(0, 1 - abs(i - peak) / 5) + chance.uniform(-0.06, 0.06))
        for i in range(12)
    )
    return tuple(round(value, 1 if scale < 40 else 0) for value in year)
