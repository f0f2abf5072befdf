"""The data of a dashboard (from the notebook, the prompt or a sample), and its figures, charts and table."""

import itertools
import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent_nb.demo.brief import Brief, Data
from agent_nb.demo.compose import Html, Layout, fill, join_html
from agent_nb.demo.texts import entry_for

MAX_ROWS, MAX_COLUMNS = 24, 5
_MAX_PROMPT = 20_000
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NUMBER = re.compile(r"^[^\w\s-]?-?[\d][\d,_ ]*(?:\.\d+)?\s?[%€$£]?$")
_TOTAL = re.compile(r"(?:DataFrame|Table|RecordBatch) with ([\d,]+) rows? and [\d,]+ columns?\n")
"""First line of a table that the notebook adds to a prompt."""
_DTYPE = re.compile(
    r"^[^\w\n]*([A-Za-z_][\w ]{0,30}?)[^\w\n]+(?:\d+ non-null[^\w\n]+)?"
    r"(?:u?int|float|object|str|string|datetime|bool|category)\w*\b",
    re.MULTILINE,
)


def read_data(brief: Brief) -> Data:
    return brief.data or _table_in(brief.prompt) or _sample(brief)


def _table_in(prompt: str) -> Data | None:
    """The first table of numbers in the prompt: CSV, Markdown, or aligned with spaces."""
    lines = prompt[:_MAX_PROMPT].splitlines()
    heading = _TOTAL.search(prompt[:_MAX_PROMPT])
    for split in (_split_commas, _split_pipes, _split_columns):
        rows = [cells for line in lines if len(cells := split(line)) > 1]
        for start, header in enumerate(rows):
            if (data := _numbers(header, rows[start + 1 : start + 1 + MAX_ROWS])) is not None:
                return replace(data, rows=f"{len(data.labels)} of {heading[1]}" if heading else "")
    return None


def _numbers(header: list[str], rows: list[list[str]]) -> Data | None:
    """The table with this header, or None without labels, numbers and at least two rows."""
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
    return Data(axis=header[label], labels=labels, columns=tuple(columns[:MAX_COLUMNS]), is_real=True)


def _fits(row: list[str], size: int, numeric: list[int]) -> bool:
    return len(row) == size and all(_NUMBER.match(row[i]) for i in numeric)


def _split_commas(line: str) -> list[str]:
    return [cell.strip(" \"'") for cell in re.split(r"[,;\t]", line)] if "|" not in line else []


def _split_pipes(line: str) -> list[str]:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return [] if all(set(cell) <= set("-: ") for cell in cells) else cells


def _split_columns(line: str) -> list[str]:
    """Columns as printed by pandas, without the index, which has no heading."""
    cells = re.split(r"\s{2,}", line.rstrip())
    return cells[1:] if len(cells) > 2 and (not cells[0] or cells[0].isdigit()) else []


def _sample(brief: Brief) -> Data:
    chance = random.Random(brief.seed)
    defaults = entry_for("measures", f"{brief.subject} {brief.prompt}")
    column_names = [name.strip() for name in _DTYPE.findall(brief.prompt[:_MAX_PROMPT])]
    measures = (column_names or defaults["names"])[:MAX_COLUMNS]
    return Data(
        axis="month",
        labels=_MONTHS,
        columns=tuple(
            (name, _season(chance, defaults["scale"] / (1 + 2.6 * i))) for i, name in enumerate(measures)
        ),
        is_real=False,
    )


def _season(chance: random.Random, scale: float) -> tuple[float, ...]:
    peak = chance.uniform(4, 8)
    year = (
        scale * (0.7 + 0.03 * i + 0.35 * max(0, 1 - abs(i - peak) / 5) + chance.uniform(-0.06, 0.06))
        for i in range(12)
    )
    return tuple(round(value, 1 if scale < 40 else 0) for value in year)


SAMPLE = "Sample numbers, made up from the words of the prompt."
TICKS = 5
ROWS = 6

Point = tuple[float, float]
Figure = tuple[str, float, str, tuple[float, ...]]
"""A name, a number, a remark, and the values of its sparkline."""


def dashboard(brief: Brief, layout: Layout, sections: Sequence[str]) -> dict[str, str]:
    """Key figures, two charts usable by pointer and keyboard, and a table of the numbers."""
    data = read_data(brief)
    line_first = layout.name != "sunset"
    turned = layout.name == "circles"
    charts = (
        _chart(data, 0, line=line_first and not data.ranked),
        _chart(data, min(1, len(data.columns) - 1), line=not line_first and not data.ranked),
    )[: len(data.columns) if data.ranked else 2]
    return {
        "columns": "1fr 1.6fr" if turned else "1.6fr 1fr",
        "lede": f"{_period(brief, data)} {_origin(data)}",
        "kpis": _tiles(data),
        "charts": join_html(reversed(charts) if turned else charts),
        "table_note": _table_note(data),
        "table": _table(data),
        "footer": "A dashboard by the offline demo model." + ("" if data.is_real else f" {SAMPLE}"),
    }


def _origin(data: Data) -> str:
    if data.source:
        return f"Computed from {data.source.replace('`', '')}."
    rows = f": {data.rows} rows" if data.rows else ""
    return f"From the numbers you gave{rows}." if data.is_real else SAMPLE


def _period(brief: Brief, data: Data) -> str:
    if data.ranked:
        return f"{len(data.labels)} {data.axis} values, largest first."
    span = f"{data.labels[0]} to {data.labels[-1]}"
    return brief.choice(
        (
            f"{span}.",
            f"{len(data.labels)} rows, {len(data.columns)} columns, one look.",
            f"The short version of {span}.",
        )
    )


def insight(brief: Brief) -> str:
    """The key message in one sentence."""
    data = read_data(brief)
    measure, values = data.columns[0]
    mean, best = sum(values) / len(values), max(range(len(values)), key=values.__getitem__)
    if data.ranked and min(values) == max(values):
        return f"All {len(values)} are equal. {measure}: {number(values[best])} each."
    above = f", {values[best] / mean - 1:.0%} above the average" if 0 < mean < values[best] else ""
    return f"{data.labels[best]} stands out. {measure}: {number(values[best])}{above}."


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:,.1f}"


def _chart(data: Data, column: int, *, line: bool) -> Html:
    measure, values = data.columns[column]
    low, high = _scale(values)
    step = 100 / max(len(values) - 1, 1) if line else 100 / len(values)
    places = [
        ((i if line else i + 0.5) * step, (high - v) / (high - low) * 100) for i, v in enumerate(values)
    ]
    readings = [
        f"{label.replace('|', '/')}|{number(value)}|{x:.1f}|{y:.1f}"
        for label, value, (x, y) in zip(data.labels, values, places, strict=True)
    ]
    grid = '<small style="top:{{top}}%">{{value}}</small>'
    return fill(
        '<div class="panel"><h2>{{measure}} by {{axis}}</h2>\n'
        '<p class="small" aria-live="polite">Point at the chart to read it.</p>\n'
        '<div class="plot" tabindex="0" role="img" aria-label="{{measure}} by {{axis}}, {{first}} to {{last}}" '
        'data-points="{{points}}">{{grid}}<svg viewBox="0 0 100 100" preserveAspectRatio="none">\n{{shapes}}\n</svg>'
        '</div>\n<div class="axis" aria-hidden="true">{{ticks}}</div></div>',
        measure=measure,
        axis=data.axis.lower(),
        first=data.labels[0],
        last=data.labels[-1],
        points="\n".join(readings),
        grid=join_html(
            (fill(grid, top=str(p), value=number(high - (high - low) * p / 100)) for p in (0, 25, 50, 75)), ""
        ),
        shapes=_line(places) if line else _columns(places, step),
        ticks=_ticks(data),
    )


def _scale(values: tuple[float, ...]) -> tuple[float, float]:
    """The limits of the axis: from zero or below to a round number above the maximum, in four even steps."""
    low, high = min(*values, 0.0), max(*values, 0.0)
    rough = (high - low) / 4 or 0.25
    power = 10 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10, 20) if m * power * 3.99 >= high - low)
    bottom = -math.ceil(-low / step) * step
    return bottom, max(bottom + 4 * step, high)


def _line(places: list[Point]) -> Html:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return Html(
        f'<polygon points="0,100 {path} 100,100" fill="var(--accent)" opacity=".14"/>\n'
        f'<polyline points="{path}" fill="none" stroke="var(--accent)" stroke-width="2.5" '
        'stroke-linejoin="round" vector-effect="non-scaling-stroke"/>'
    )


def _columns(places: list[Point], step: float) -> Html:
    width = step * 0.62
    return join_html(
        f'<rect x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(100 - y, 0):.1f}" '
        'fill="var(--accent)" opacity=".85"/>'
        for x, y in places
    )


def _ticks(data: Data) -> Html:
    """A few labels along the axis, or one below the column of each category."""
    if not data.ranked:
        last, steps = len(data.labels) - 1, min(len(data.labels), TICKS) - 1
        spread = (round(i * last / max(steps, 1)) for i in range(steps + 1))
        return join_html((fill("<span>{{t}}</span>", t=data.labels[i]) for i in spread), "")
    tick = '<span style="flex:1 1 0;overflow:hidden;text-overflow:ellipsis;text-align:center">{{t}}</span>'
    return join_html((fill(tick, t=label) for label in data.labels), "")


def _tiles(data: Data) -> Html:
    tile = "<li><span>{{name}}</span><b>{{value}}</b><em>{{remark}}</em>{{line}}</li>"
    return join_html(
        fill(tile, name=name, value=number(value), remark=remark, line=_sparkline(values))
        for name, value, remark, values in (_ranks(data) if data.ranked else _trends(data))
    )


def _trends(data: Data) -> Iterator[Figure]:
    for name, values in data.columns[:4]:
        change = values[-1] / values[0] - 1 if values[0] else 0
        arrow = "↑" if change > 0 else "↓" if change < 0 else "→"
        trend = f"{arrow} {abs(change):.0%} since {data.labels[0]}"
        yield f"{name}, {data.labels[-1]}", values[-1], trend, values


def _ranks(data: Data) -> Iterator[Figure]:
    measure, values = data.columns[0]
    mean = sum(values) / len(values)
    if not measure.startswith("Average"):
        yield measure, sum(values), f"{number(mean)} each on average", values
    for i in (0, -1):
        yield data.labels[i], values[i], _relative_to_mean(values[i], mean), values


def _relative_to_mean(value: float, mean: float) -> str:
    return (
        f"{abs(value / mean - 1):.0%} {'above' if value >= mean else 'below'} the average" if mean > 0 else ""
    )


def _sparkline(values: tuple[float, ...]) -> Html:
    low, high = min(values), max(values)
    step, size = 100 / max(len(values) - 1, 1), high - low or 1
    path = " ".join(f"{i * step:.0f},{4 + 26 * (high - value) / size:.0f}" for i, value in enumerate(values))
    return Html(
        '<svg viewBox="0 0 100 40" preserveAspectRatio="none" aria-hidden="true">'
        f'<polygon points="0,40 {path} 100,40" fill="var(--accent)" opacity=".13"/><polyline points="{path}" '
        'fill="none" stroke="var(--accent)" stroke-width="2" vector-effect="non-scaling-stroke"/></svg>'
    )


def _table_note(data: Data) -> str:
    count = len(data.labels)
    if not data.ranked:
        return f"The last {min(ROWS, count)} of {count}."
    return f"The first {ROWS} of {count}." if count > ROWS else f"All {count}."


def _table(data: Data) -> Html:
    names = (data.axis.capitalize(), *(name for name, _ in data.columns))
    header = join_html((fill("<th>{{name}}</th>", name=name) for name in names), "")
    rows = []
    visible_rows = slice(ROWS) if data.ranked else slice(-ROWS, None)
    for i, label in list(enumerate(data.labels))[visible_rows]:
        cells = (fill("<td>{{value}}</td>", value=number(values[i])) for _, values in data.columns)
        rows.append(fill("<tr><td>{{label}}</td>{{cells}}</tr>", label=label, cells=join_html(cells, "")))
    return Html(f"<tr>{header}</tr>\n{join_html(rows)}")
