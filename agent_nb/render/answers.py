"""Answers with a type: one as a small table, those of all variants as a table with a strip plot of each number."""

import base64
import json
import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from agent_nb._base.secrets import short_line
from agent_nb._base.table import Table
from agent_nb._base.wire import Json
from agent_nb.core.events import ToolFinished, ToolReady
from agent_nb.render.answer_numbers import AnswerNumber, entry_note, pointer
from agent_nb.render.finished_run import FinishedRun
from agent_nb.render.summary import model_label

MOST_ROWS = 50
MOST_COLUMNS = 8
MAX_ENTRY = 400
"""Maximum characters of a value in a table."""
_LARGEST = 1e300
"""Larger numbers are not drawn: the range of the plot could overflow."""
_LABELS = ("variant", "model", "code", "agree")
_WIDTH, _MARGIN, _STEP = 420, 16, 8
"""Pixels: width of a plot, its margins, and the distance of dots above each other."""


def entry_text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return short_line(text, MAX_ENTRY)


def answer_fields(answer: Any, taken: Collection[str] = ()) -> Json:
    """The answer by field name, empty without one. Names in `taken` get a prefix."""
    return {
        f"answer_{name}" if name in taken else name: value for name, (value, _) in _fields(answer).items()
    }


def answer_notes(run: FinishedRun, taken: Collection[str] = ()) -> dict[str, str]:
    """What to say after each of the `answer_fields`: ` (not computed)`."""
    notes = (entry_note(*field, run.answer_numbers) for field in _fields(run.plain_answer).values())
    return dict(zip(answer_fields(run.plain_answer, taken), notes, strict=True))


def _fields(answer: Any) -> dict[str, tuple[Any, str]]:
    """Each field with its JSON pointer."""
    if isinstance(answer, Mapping):
        return {name: (value, pointer("", name)) for name, value in answer.items()}
    return {} if answer is None else {"answer": (answer, "")}


def answer_table(answer: Any, numbers: Sequence[AnswerNumber] = ()) -> Table:
    """A row for each field, or for each item of a list."""
    columns, rows = ["field", "value"], [[(name, None), field] for name, field in _fields(answer).items()]
    if isinstance(answer, list):
        columns = ["", "value"]
        rows = [[(str(at + 1), None), (item, pointer("", at))] for at, item in enumerate(answer)]
        names = list(dict.fromkeys(name for item in answer if isinstance(item, dict) for name in item))
        if answer and len(names) <= MOST_COLUMNS and all(isinstance(item, dict) for item in answer):
            columns = ["", *names]
            rows = [
                [number, *((item.get(name, ""), pointer(str(path), name)) for name in names)]
                for number, (item, path) in rows
            ]
    entries = [
        [entry_text(value) + entry_note(value, path, numbers) for value, path in row]
        for row in rows[:MOST_ROWS]
    ]
    omitted = f"{len(rows) - MOST_ROWS:,} more rows are in `answer`." if len(rows) > MOST_ROWS else ""
    return Table(columns, entries, "The answer is empty.", note=omitted)


@dataclass(frozen=True, repr=False)
class Answers:
    """The answers of a run's variants: `rows()` as plain dicts, else a table with a strip plot of each number."""

    variants: Sequence[FinishedRun]

    def rows(self) -> list[Json]:
        """One plain dict per variant: number, model, fields of its answer, last line of its code, how many agree.

        Answers agree if they are the same with numbers rounded to four digits.
        """
        forms = [_rounded(variant.plain_answer) for variant in self.variants]
        rows = []
        for number, variant in enumerate(self.variants, 1):
            agree = 0 if variant.plain_answer is None else forms.count(forms[number - 1])
            fields = answer_fields(variant.plain_answer, _LABELS)
            row = {"variant": number, "model": variant.model, **fields}
            rows.append({**row, "code": _last_line(variant), "agree": agree})
        return rows

    def numbers(self) -> dict[str, list[float]]:
        """The values of each field that is a number in all answers; empty for fewer than two answers."""
        answers = [answer_fields(variant.plain_answer) for variant in self._answered]
        if len(answers) < 2:
            return {}
        names = [name for name in answers[0] if all(_is_number(answer.get(name)) for answer in answers)]
        return {name: [float(answer[name]) for answer in answers] for name in names}

    @property
    def _answered(self) -> list[FinishedRun]:
        return [variant for variant in self.variants if answer_fields(variant.plain_answer)]

    def table(self) -> Table:
        rows = self.rows()
        fields = dict.fromkeys(name for row in rows for name in [*row][2:-2])
        names = ["variant", "model", *[*fields][:MOST_COLUMNS], "code", "agree"]
        answered = sum(row["agree"] > 0 for row in rows)
        for row in rows:
            row |= {"model": model_label(row["model"]), "agree": f"{row['agree']} of {answered}"}
        words = [answer_notes(variant, _LABELS) for variant in self.variants]
        entries = [
            [entry_text(row.get(name, "")) + notes.get(name, "") for name in names]
            for row, notes in zip(rows, words, strict=True)
        ]
        numbers = self.numbers()
        hollow = {name: [bool(answer_notes(one)[name]) for one in self._answered] for name in numbers}
        ranges = {name: _quartiles(values) for name, values in numbers.items()}
        notes = [
            f"{name}: median {at:.4g}, middle half {low:.4g} to {high:.4g}"
            f"{'; hollow: not computed' if any(hollow[name]) else ''}."
            for name, (low, at, high) in ranges.items()
        ]
        plots = {name: _address(strip_plot(values, hollow[name])) for name, values in numbers.items()}
        headings = [name if name != "code" else "last line of code" for name in names]
        return Table(headings, entries, "No answers.", note=" ".join(notes), plots=plots)

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def strip_plot(values: Sequence[float], hollow: Sequence[bool] = ()) -> str:
    """Draw a dot for each value, overlapping ones above each other, with the median and the middle half."""
    least, most = min(values), max(values)
    dots_in_order = sorted(zip_longest(values, hollow))
    places = [
        _MARGIN + (_WIDTH - 2 * _MARGIN) * (value - least) / (most - least or 1) for value, _ in dots_in_order
    ]
    heights: Counter[int] = Counter()
    dots = ""
    for place, (_, is_hollow) in zip(places, dots_in_order, strict=True):
        heights[round(place / _STEP)] += 1
        look = ' fill="none" stroke="#2f81f7"' if is_hollow else ""
        dots += f'<circle cx="{place:.1f}" cy="-{_STEP * heights[round(place / _STEP)]}" r="3.5"{look}/>'
    height = _STEP * (max(heights.values()) + 1)
    low, median, high = _quartiles(places)
    ends = ((_MARGIN, "start", least), (_WIDTH - _MARGIN, "end", most))[: 1 + (most > least)]
    labels = "".join(
        f'<text x="{x}" y="14" text-anchor="{side}">{value:.4g}</text>' for x, side, value in ends
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -{height} {_WIDTH} {height + 20}" width="{_WIDTH}"'
        f' height="{height + 20}" font-family="sans-serif" font-size="11" fill="#808080" stroke-width="1.5">'
        f'<path d="M{low:.1f} 0V-{height}H{max(high, low + 1):.1f}V0" opacity=".25"/>'
        f'<path d="M{_MARGIN} 0H{_WIDTH - _MARGIN}M{median:.1f} 0V-{height}" stroke="#808080"/>'
        f'<g fill="#2f81f7" fill-opacity=".8">{dots}</g>{labels}</svg>'
    )


def _quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, median, high


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


def _rounded(answer: Any) -> str:
    def rounded(number: str) -> str:
        return f"{float(number) + 0.0:.4g}"  # -0.0 is 0

    plain = json.loads(json.dumps(answer), parse_float=rounded, parse_int=rounded)
    return json.dumps(plain, sort_keys=True)


def _address(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _last_line(run: FinishedRun) -> str:
    """The last line of the code that succeeded last."""
    succeeded = {event.call_id for event in run.events.of(ToolFinished) if event.ok}
    codes = [event.args.get("code") for event in run.events.of(ToolReady) if event.call_id in succeeded]
    lines = [code.strip().rpartition("\n")[2] for code in codes if isinstance(code, str)]
    return lines[-1] if lines else ""
