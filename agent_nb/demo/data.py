"""The numbers of a dashboard: from the notebook or the prompt, otherwise a sample seeded by the prompt."""

import itertools
import random
import re
from dataclasses import replace

from agent_nb.demo.brief import Brief, Data
from agent_nb.demo.texts import entry_for

MAX_ROWS, MAX_COLUMNS = 24, 5
_READ = 20_000
"""Characters of a prompt that are searched for numbers."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NUMBER = re.compile(r"^[^\w\s-]?-?[\d][\d,_ ]*(?:\.\d+)?\s?[%€$£]?$")
_TOTAL = re.compile(r"(?:DataFrame|Table|RecordBatch) with ([\d,]+) rows? and [\d,]+ columns?\n")
"""The first line of a table that the notebook puts into a prompt."""
_DTYPE = re.compile(
    r"^[^\w\n]*([A-Za-z_][\w ]{0,30}?)[^\w\n]+(?:\d+ non-null[^\w\n]+)?"
    r"(?:u?int|float|object|str|string|datetime|bool|category)\w*\b",
    re.MULTILINE,
)


def read_data(brief: Brief) -> Data:
    return brief.data or _table(brief.prompt) or _sample(brief)


def _table(prompt: str) -> Data | None:
    """The first table of numbers in the prompt: CSV, Markdown, or aligned with spaces."""
    lines = prompt[:_READ].splitlines()
    heading = _TOTAL.search(prompt[:_READ])
    for split in (_commas, _pipes, _columns):
        rows = [cells for line in lines if len(cells := split(line)) > 1]
        for start, header in enumerate(rows):
            if (found := _numbers(header, rows[start + 1 : start + 1 + MAX_ROWS])) is not None:
                return replace(found, rows=f"{len(found.labels)} of {heading[1]}" if heading else "")
    return None


def _numbers(header: list[str], rows: list[list[str]]) -> Data | None:
    """The table with this header, if it has labels, numbers and at least two rows."""
    if not rows or len(rows[0]) != len(header) or any(_NUMBER.match(cell) for cell in header):
        return None
    numeric = [i for i, cell in enumerate(rows[0]) if _NUMBER.match(cell)]
    body = list(itertools.takewhile(lambda row: _fits(row, len(header), numeric), rows))
    label = next((i for i in range(len(header)) if i not in numeric), 0)
    columns = [
        (
            header[i][:1].upper() + header[i][1:],
            tuple(float(re.sub(r"[^\d.-]", "", row[i]) or 0) for row in body),
        )
        for i in numeric
        if i != label
    ]
    if len(body) < 2 or not columns:
        return None
    labels = tuple(row[label] for row in body)
    return Data(axis=header[label], labels=labels, columns=tuple(columns[:MAX_COLUMNS]), given=True)


def _fits(row: list[str], size: int, numeric: list[int]) -> bool:
    return len(row) == size and all(_NUMBER.match(row[i]) for i in numeric)


def _commas(line: str) -> list[str]:
    return [cell.strip(" \"'") for cell in re.split(r"[,;\t]", line)] if "|" not in line else []


def _pipes(line: str) -> list[str]:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return [] if all(set(cell) <= set("-: ") for cell in cells) else cells


def _columns(line: str) -> list[str]:
    """Columns as pandas prints them, without the row number, which has no heading."""
    cells = re.split(r"\s{2,}", line.rstrip())
    return cells[1:] if len(cells) > 2 and (not cells[0] or cells[0].isdigit()) else []


def _sample(brief: Brief) -> Data:
    chance = random.Random(brief.seed)
    usual = entry_for("measures", f"{brief.subject} {brief.prompt}")
    named = [name.strip() for name in _DTYPE.findall(brief.prompt[:_READ])]
    measures = (named or usual["names"])[:MAX_COLUMNS]
    return Data(
        axis="month",
        labels=_MONTHS,
        columns=tuple(
            (name, _season(chance, usual["scale"] / (1 + 2.6 * i))) for i, name in enumerate(measures)
        ),
        given=False,
    )


def _season(chance: random.Random, scale: float) -> tuple[float, ...]:
    """Twelve months with a slight rise, a peak in summer and some noise."""
    peak = chance.uniform(4, 8)
    year = (
        scale * (0.7 + 0.03 * i + 0.35 * max(0, 1 - abs(i - peak) / 5) + chance.uniform(-0.06, 0.06))
        for i in range(12)
    )
    return tuple(round(value, 1 if scale < 40 else 0) for value in year)
