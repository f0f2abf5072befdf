"""Dashboards: key figures, two charts for pointer and keyboard, and a table of the numbers."""

import math

from agent_nb.demo.brief import Brief
from agent_nb.demo.compose import Html, fill, head, joined, layouts, note, rest
from agent_nb.demo.data import Data, read_data
from agent_nb.demo.look import Look
from agent_nb.demo.texts import template

SAMPLE = "Sample numbers, made up from the words of the prompt."
TICKS = 5
ROWS = 6

Point = tuple[float, float]


def dashboard(brief: Brief, look: Look, found: str) -> Html:
    data = read_data(brief)
    line_first = look.layout != 2
    charts = (
        _chart(data, 0, line=line_first),
        _chart(data, min(1, len(data.columns) - 1), line=not line_first),
    )
    return fill(
        template("dashboard.html"),
        head=head(brief.name, look),
        layout=layouts("dashboard")[look.layout].later,
        rest=rest(look),
        columns="1fr 1.6fr" if look.layout == 1 else "1.6fr 1fr",
        name=brief.name,
        lede=f"{_period(brief, data)} {'From the numbers you gave.' if data.given else SAMPLE}",
        found=note(found),
        kpis=_kpis(data),
        charts=joined(reversed(charts) if look.layout == 1 else charts),
        table_note=f"The last {min(ROWS, len(data.labels))} of {len(data.labels)}.",
        table=_table(data),
        footer="A dashboard by the offline demo model." + ("" if data.given else f" {SAMPLE}"),
    )


def _period(brief: Brief, data: Data) -> str:
    span = f"{data.labels[0]} to {data.labels[-1]}"
    return brief.choice(
        (
            f"{span}.",
            f"{len(data.labels)} rows, {len(data.columns)} columns, one look.",
            f"The short version of {span}.",
        )
    )


def insight(brief: Brief) -> str:
    """The one sentence that a reader should remember."""
    data = read_data(brief)
    measure, values = data.columns[0]
    mean, best = sum(values) / len(values), max(range(len(values)), key=values.__getitem__)
    above = f", {values[best] / mean - 1:.0%} above the average" if mean > 0 else ""
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
        grid=joined(
            (fill(grid, top=str(p), value=number(high - (high - low) * p / 100)) for p in (0, 25, 50, 75)), ""
        ),
        shapes=_line(places) if line else _columns(places, step),
        ticks=joined((fill("<span>{{t}}</span>", t=data.labels[i]) for i in _spread(len(values))), ""),
    )


def _scale(values: tuple[float, ...]) -> tuple[float, float]:
    """The ends of the axis: from zero or below to a round number above the highest value, in four even steps."""
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
    return joined(
        f'<rect x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(100 - y, 0):.1f}" '
        'fill="var(--accent)" opacity=".85"/>'
        for x, y in places
    )


def _spread(count: int) -> list[int]:
    """Evenly spaced indices from the first to the last."""
    wanted = min(count, TICKS)
    return [round(i * (count - 1) / max(wanted - 1, 1)) for i in range(wanted)]


def _kpis(data: Data) -> Html:
    tile = "<li><span>{{name}}</span><b>{{value}}</b><em>{{change}}</em>{{line}}</li>"
    tiles = []
    for name, values in data.columns[:4]:
        change = values[-1] / values[0] - 1 if values[0] else 0
        arrow = "↑" if change > 0 else "↓" if change < 0 else "→"
        trend = f"{arrow} {abs(change):.0%} since {data.labels[0]}"
        tiles.append(
            fill(
                tile,
                name=f"{name}, {data.labels[-1]}",
                value=number(values[-1]),
                change=trend,
                line=_sparkline(values),
            )
        )
    return joined(tiles)


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
    names = (data.axis.capitalize(), *(name for name, _ in data.columns))
    header = joined((fill("<th>{{name}}</th>", name=name) for name in names), "")
    rows = []
    for i, label in list(enumerate(data.labels))[-ROWS:]:
        cells = (fill("<td>{{value}}</td>", value=number(values[i])) for _, values in data.columns)
        rows.append(fill("<tr><td>{{label}}</td>{{cells}}</tr>", label=label, cells=joined(cells, "")))
    return Html(f"<tr>{header}</tr>\n{joined(rows)}")
