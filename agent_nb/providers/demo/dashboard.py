"""Dashboards: key figures, a chart that can be read, shares, and the numbers themselves."""

import json

from agent_nb.providers.demo.brief import Brief
from agent_nb.providers.demo.compose import Html, fill, head, joined, note
from agent_nb.providers.demo.data import Data, read_data
from agent_nb.providers.demo.look import FONTS, Look
from agent_nb.providers.demo.texts import template

SAMPLE = "Sample numbers, made up from the words of the prompt."


def dashboard(brief: Brief, look: Look, found: str) -> Html:
    data = read_data(brief)
    measure, values = data.columns[0]
    points = _points(values)
    labelled = [
        (label, number(value), round(x, 2), round(y, 2))
        for label, value, (x, y) in zip(data.labels, values, points, strict=True)
    ]
    return fill(
        template("dashboard.html"),
        head=head(brief.name, look),
        head_font=Html(FONTS[look.font]),
        columns="1.7fr 1fr" if look.layout != 1 else "1fr 1.7fr",
        name=brief.name,
        lede=f"{data.labels[0]} to {data.labels[-1]}. {'From the numbers you gave.' if data.given else SAMPLE}",
        found=note(found),
        kpis=_kpis(data),
        measure=measure,
        axis=data.axis,
        first=data.labels[0],
        last=data.labels[-1],
        shapes=_bars(points) if look.layout == 2 else _line(points),
        ticks=joined(
            (fill("<span>{{t}}</span>", t=data.labels[i]) for i in _spread(len(data.labels), 5)), ""
        ),
        share_title=f"Best {len(_ranked(data))} by {measure}",
        share_note="Longest bar: the highest value.",
        bars=_shares(data),
        table_note=f"{len(data.labels)} rows, {len(data.columns)} measures.",
        table=_table(data),
        footer="A dashboard by the offline demo model." + ("" if data.given else f" {SAMPLE}"),
        points=Html(json.dumps(labelled).replace("<", "\\u003c")),
    )


def insight(brief: Brief) -> str:
    """The one sentence a reader should take along."""
    data = read_data(brief)
    measure, values = data.columns[0]
    mean, best = sum(values) / len(values), max(range(len(values)), key=values.__getitem__)
    above = f", {values[best] / mean - 1:.0%} above the average" if mean > 0 else ""
    return f"{measure} was highest in {data.labels[best]}: {number(values[best])}{above}."


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:,.1f}"


def _points(values: tuple[float, ...]) -> list[tuple[float, float]]:
    """Places in a 100 by 100 square, the highest value a little under its top."""
    high, low = max(*values, 0.0), min(*values, 0.0)
    span = (high - low) * 1.08 or 1
    step = 100 / max(len(values) - 1, 1)
    return [(i * step, 100 - (value - low) / span * 100) for i, value in enumerate(values)]


def _line(points: list[tuple[float, float]]) -> Html:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return Html(
        f'<polygon points="0,100 {path} 100,100" fill="var(--accent)" opacity=".14"/>\n'
        f'<polyline points="{path}" fill="none" stroke="var(--accent)" stroke-width="2.5" '
        'stroke-linejoin="round" vector-effect="non-scaling-stroke"/>'
    )


def _bars(points: list[tuple[float, float]]) -> Html:
    width = 58 / len(points)
    return joined(
        f'<rect x="{min(max(x - width / 2, 0), 100 - width):.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{100 - y:.1f}" fill="var(--accent)" opacity=".8"/>'
        for x, y in points
    )


def _spread(count: int, wanted: int) -> list[int]:
    """Indices from first to last, evenly."""
    wanted = min(count, wanted)
    return [round(i * (count - 1) / max(wanted - 1, 1)) for i in range(wanted)]


def _kpis(data: Data) -> Html:
    tile = "<li><span>{{name}}</span><b>{{value}}</b><em>{{change}}</em></li>"
    tiles = []
    for name, values in data.columns[:4]:
        change = values[-1] / values[0] - 1 if values[0] else 0
        arrow = "↑" if change > 0 else "↓" if change < 0 else "→"
        words = f"{arrow} {abs(change):.0%} since {data.labels[0]}"
        tiles.append(fill(tile, name=f"{name}, {data.labels[-1]}", value=number(values[-1]), change=words))
    return joined(tiles)


def _ranked(data: Data) -> list[tuple[str, float]]:
    return sorted(zip(data.labels, data.columns[0][1], strict=True), key=lambda pair: -pair[1])[:6]


def _shares(data: Data) -> Html:
    ranked = _ranked(data)
    highest = ranked[0][1] or 1
    bar = '<li><span>{{label}}</span><i style="--v:{{width}}%"></i><b>{{value}}</b></li>'
    return joined(
        fill(bar, label=label, width=f"{max(value / highest, 0) * 100:.0f}", value=number(value))
        for label, value in ranked
    )


def _table(data: Data) -> Html:
    header = joined(
        (fill("<th>{{n}}</th>", n=n) for n in (data.axis.capitalize(), *(n for n, _ in data.columns))), ""
    )
    rows = []
    for i, label in enumerate(data.labels):
        cells = (fill("<td>{{v}}</td>", v=number(values[i])) for _, values in data.columns)
        rows.append(fill("<tr><td>{{label}}</td>{{cells}}</tr>", label=label, cells=joined(cells, "")))
    return Html(f"<tr>{header}</tr>\n{joined(rows)}")
