"""The data of a dashboard (from the notebook, the prompt or a sample), and its figures, charts and table."""

import itertools
import math
import random
import re
from dataclasses import replace

from agent_nb.demo.brief import Brief, Data, capital
from agent_nb.demo.templates import Html, entry_for, fill, fill_each

MAX_ROWS, MAX_COLUMNS = 24, 5
_MAX_PROMPT = 20_000
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NUMBER = re.compile(r"^[^\w\s-]?-?[\d][\d,_ ]*(?:\.\d+)?\s?[%€$£]?$")
_TOTAL = re.compile(r"(?:DataFrame|Table|RecordBatch) with ([\d,]+) rows? and [\d,]+ columns?\n")
"""First line of a table that the notebook adds to a prompt."""
_SAMPLE = "Sample numbers, made up from the words of the prompt."
_MAX_TICKS = 5
_TABLE_ROWS = 6
_CHART = """\
<div class="panel"><h2>{{measure}} by {{axis}}</h2>
<p class="small" aria-live="polite">Point at the chart to read it.</p>
<div class="plot" tabindex="0" role="img" aria-label="{{measure}} by {{axis}}, {{first}} to {{last}}" \
data-points="{{points}}">{{grid}}<svg viewBox="0 0 100 100" preserveAspectRatio="none">
{{shapes}}
</svg></div>
<div class="axis" aria-hidden="true">{{ticks}}</div></div>"""


def read_data(brief: Brief) -> Data:
    return brief.data or _table_in(brief.prompt[:_MAX_PROMPT]) or _sample(brief)


def _table_in(prompt: str) -> Data | None:
    """The first table of numbers in the prompt, as CSV or Markdown."""
    total = _TOTAL.search(prompt)
    lines = re.sub(r"[;\t]", ",", prompt).splitlines()
    for separator in (",", "|"):
        rows = [[cell.strip(" \"'") for cell in line.strip().strip("|").split(separator)] for line in lines]
        rows = [row for row in rows if len(row) > 1 and not all(set(cell) <= set("-: ") for cell in row)]
        for start, header in enumerate(rows):
            if data := _numbers(header, rows[start + 1 : start + 1 + MAX_ROWS]):
                return replace(data, rows=f"{len(data.labels)} of {total[1]}") if total else data
    return None


def _numbers(header: list[str], rows: list[list[str]]) -> Data | None:
    """The table with this header, or None without labels, numbers and at least two rows."""
    if not rows or len(rows[0]) != len(header) or any(_NUMBER.match(cell) for cell in header):
        return None
    numeric = [i for i, cell in enumerate(rows[0]) if _NUMBER.match(cell)]
    label = next((i for i in range(len(header)) if i not in numeric), 0)
    body = list(
        itertools.takewhile(
            lambda row: len(row) == len(header) and all(_NUMBER.match(row[i]) for i in numeric), rows
        )
    )
    columns = [
        (capital(header[i]), tuple(float(re.sub(r"[^\d.-]", "", row[i]) or 0) for row in body))
        for i in numeric
        if i != label
    ]
    if len(body) < 2 or not columns:
        return None
    labels = tuple(row[label] for row in body)
    return Data(axis=header[label], labels=labels, columns=tuple(columns[:MAX_COLUMNS]), is_real=True)


def _sample(brief: Brief) -> Data:
    """A year of numbers with a peak in summer."""
    chance = random.Random(brief.seed)
    measures = entry_for("measures", f"{brief.subject} {brief.prompt}")
    columns = []
    for i, name in enumerate(measures["names"]):
        scale, peak = measures["scale"] / (1 + 2.6 * i), chance.uniform(4, 8)
        year = (
            scale * (0.7 + 0.03 * i + 0.35 * max(0, 1 - abs(i - peak) / 5) + chance.uniform(-0.06, 0.06))
            for i in range(12)
        )
        columns.append((name, tuple(round(value, 1 if scale < 40 else 0) for value in year)))
    return Data(axis="month", labels=_MONTHS, columns=tuple(columns), is_real=False)


def dashboard(brief: Brief, layout: str) -> dict[str, str]:
    """Key figures, two charts usable by pointer and keyboard, and a table of the numbers."""
    data, is_reversed = read_data(brief), layout == "circles"
    count, span = len(data.labels), f"{data.labels[0]} to {data.labels[-1]}"
    if data.source:
        period = f"{count} {data.axis} values, largest first."
        origin = f"Computed from {data.source.replace('`', '')}."
        note = f"The first {_TABLE_ROWS} of {count}." if count > _TABLE_ROWS else f"All {count}."
        charts = [_chart(data, i, line=False) for i in range(min(2, len(data.columns)))]
    else:
        overview = f"{count} rows, {len(data.columns)} columns, one look."
        period = brief.choice((f"{span}.", overview, f"The short version of {span}."))
        origin = f"From the numbers you gave{f': {data.rows} rows' if data.rows else ''}."
        note = f"The last {min(_TABLE_ROWS, count)} of {count}."
        last, is_line = min(1, len(data.columns) - 1), layout != "sunset"
        charts = [_chart(data, 0, line=is_line), _chart(data, last, line=not is_line)]
    return {
        "columns": "1fr 1.6fr" if is_reversed else "1.6fr 1fr",
        "lede": f"{period} {origin if data.is_real else _SAMPLE}",
        "kpis": _tiles(data),
        "charts": Html("\n".join(reversed(charts) if is_reversed else charts)),
        "table_note": note,
        "table": _table(data),
        "footer": "A dashboard by the offline demo model." + ("" if data.is_real else f" {_SAMPLE}"),
    }


def insight(brief: Brief) -> str:
    """The key message in one sentence."""
    data = read_data(brief)
    measure, values = data.columns[0]
    mean, best = sum(values) / len(values), max(range(len(values)), key=values.__getitem__)
    if data.source and min(values) == max(values):
        return f"All {len(values)} are equal. {measure}: {number(values[best])} each."
    above = f", {values[best] / mean - 1:.0%} above the average" if 0 < mean < values[best] else ""
    return f"{data.labels[best]} stands out. {measure}: {number(values[best])}{above}."


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:,.1f}"


def _chart(data: Data, column: int, *, line: bool) -> Html:
    measure, values = data.columns[column]
    low, high = _scale(values)
    step = 100 / max(len(values) - 1, 1) if line else 100 / len(values)
    xs = [(i if line else i + 0.5) * step for i in range(len(values))]
    ys = [(high - value) / (high - low) * 100 for value in values]
    readings = [
        f"{label.replace('|', '/')}|{number(value)}|{x:.1f}|{y:.1f}"
        for label, value, x, y in zip(data.labels, values, xs, ys, strict=True)
    ]
    if line:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
        shapes = (
            f'<polygon points="0,100 {path} 100,100" fill="var(--accent)" opacity=".14"/>\n'
            f'<polyline points="{path}" fill="none" stroke="var(--accent)" stroke-width="2.5" '
            'stroke-linejoin="round" vector-effect="non-scaling-stroke"/>'
        )
    else:
        width = step * 0.62
        shapes = "\n".join(
            f'<rect x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(100 - y, 0):.1f}" '
            'fill="var(--accent)" opacity=".85"/>'
            for x, y in zip(xs, ys, strict=True)
        )
    grid = [(str(top), number(high - (high - low) * top / 100)) for top in (0, 25, 50, 75)]
    return fill(
        _CHART,
        measure=measure,
        axis=data.axis.lower(),
        first=data.labels[0],
        last=data.labels[-1],
        points="\n".join(readings),
        grid=fill_each('<small style="top:{{top}}%">{{value}}</small>', grid, ""),
        shapes=Html(shapes),
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


def _ticks(data: Data) -> Html:
    """A few labels along the axis, or one below the column of each category."""
    if data.source:
        style = "flex:1 1 0;overflow:hidden;text-overflow:ellipsis;text-align:center"
        return fill_each(f'<span style="{style}">{{{{t}}}}</span>', zip(data.labels), "")
    last, steps = len(data.labels) - 1, min(len(data.labels), _MAX_TICKS) - 1
    places = (round(i * last / max(steps, 1)) for i in range(steps + 1))
    return fill_each("<span>{{t}}</span>", ([data.labels[i]] for i in places), "")


def _tiles(data: Data) -> Html:
    """The sum, the largest and the smallest of categories; or the trend of each column."""
    tiles = []
    if data.source:
        measure, values = data.columns[0]
        mean = sum(values) / len(values)
        if not measure.startswith("Average"):
            tiles.append((measure, sum(values), f"{number(mean)} each on average", values))
        for i in (0, -1):
            distance = f"{abs(values[i] / mean - 1):.0%}" if mean > 0 else ""
            remark = f"{distance} {'above' if values[i] >= mean else 'below'} the average" if distance else ""
            tiles.append((data.labels[i], values[i], remark, values))
    else:
        for name, values in data.columns[:4]:
            change = values[-1] / values[0] - 1 if values[0] else 0
            arrow = "↑" if change > 0 else "↓" if change < 0 else "→"
            trend = f"{arrow} {abs(change):.0%} since {data.labels[0]}"
            tiles.append((f"{name}, {data.labels[-1]}", values[-1], trend, values))
    return fill_each(
        "<li><span>{{name}}</span><b>{{value}}</b><em>{{remark}}</em>{{line}}</li>",
        [(name, number(value), remark, _sparkline(values)) for name, value, remark, values in tiles],
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


def _table(data: Data) -> Html:
    """The largest categories, or the last rows."""
    names = [data.axis.capitalize(), *(name for name, _ in data.columns)]
    numbers = [map(number, values) for _, values in data.columns]
    rows = list(zip(data.labels, *numbers, strict=True))
    rows = rows[:_TABLE_ROWS] if data.source else rows[-_TABLE_ROWS:]
    cells = [fill_each("<th>{{name}}</th>", zip(names), "")]
    cells += [fill_each("<td>{{value}}</td>", zip(row), "") for row in rows]
    return Html("\n".join(f"<tr>{row}</tr>" for row in cells))
