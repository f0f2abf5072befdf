"""The pages of a class side by side: an overview, and a file for each student that shows the versions.

The overview has no script. The pages of students run in sandboxed frames, inside a frame that has the policy of saved
outputs, so that their scripts reach neither each other nor the network.
"""

import html
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from agent_nb._base.text import printable_line
from agent_nb.lab.marks.row import Row
from agent_nb.lab.marks.table import COLUMNS, NUMBERS, cells
from agent_nb.lab.marks.versions import Version
from agent_nb.render.policy import SANDBOX, policy_for
from agent_nb.render.summary import dollars, plural

_OVERVIEW_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-src file: http: https:"
_COLOURS = (
    ":root{color-scheme:light dark}body{margin:0;font:14px/1.45 system-ui,sans-serif;"
    "color:light-dark(#222,#e4e4e4);background:light-dark(#fff,#111)}a{color:light-dark(#0550ae,#7ab7ff)}"
    ".mut{color:light-dark(#59636e,#9aa4af)}.err{color:light-dark(#b32424,#ff8f8f)}"
)
_WIDTH = 900
"""Pixels of the window that a page sees at least."""
_MOST_LINKS = 20


def viewer(student: str, versions: Sequence[Version], left_out: int) -> str:
    """The file of one student: the newest version of the page, and a slider for the others."""
    wire = [{"label": version.label, "document": version.document} for version in versions]
    record = json.dumps(wire, ensure_ascii=False)
    # The documents inherit this policy, and each sets its base before its own policy forbids any other.
    policy = policy_for(record).replace("; base-uri 'none'", "")
    gone = f'<span class="mut">{plural(left_out, "version")} left out</span>' if left_out else ""
    slider = (
        f'<input type="range" min="1" max="{len(versions)}" value="{len(versions)}" aria-label="Version of the page"'
        f"{' disabled' if len(versions) < 2 else ''}>"
    )
    return (
        f"{_head(policy, _name(student), 'viewer.css')}"
        f"<body><header>{slider}<output></output>{gone}</header>"
        f'<div id="stage" data-sandbox="{SANDBOX}" data-width="{_WIDTH}"></div>'
        f'<script type="application/json" id="versions">{record.replace("<", chr(92) + "u003c")}</script>'
        f"<script>{_source('viewer.js')}</script></body></html>\n"
    )


def overview(rows: Sequence[Row], files: Sequence[str]) -> str:
    """The page with the table and all students; `files` are the addresses of their files, empty if there is none."""
    places = {row.student: number for number, row in enumerate(rows, 1)}
    table = "".join(f"<tr>{_cells(row, number)}</tr>" for number, row in enumerate(rows, 1))
    heads = "".join(
        f"<th{' class=num' if 0 < place <= NUMBERS else ''}>{name.replace('_', ' ')}</th>"
        for place, name in enumerate(COLUMNS)
    )
    cards = "".join(
        _card(row, number, file, places)
        for number, (row, file) in enumerate(zip(rows, files, strict=True), 1)
    )
    return (
        f"{_head(_OVERVIEW_POLICY, 'Marks', 'overview.css')}"
        f"<body><h1>{plural(len(rows), 'submission')}</h1>"
        '<p class="mut">A student can make up everything here, and two '
        "students may get the same page by chance: it is a reason to look, and no proof of misconduct.</p>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{table}</tbody></table></div>\n<main>{cards}</main></body></html>\n"
    )


def _head(policy: str, title: str, style: str) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta http-equiv="x-dns-prefetch-control" content="off">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_COLOURS}{_source(style)}</style></head>\n"
    )


def _name(student: str) -> str:
    return printable_line(student)[:200] or "no name"


def _cells(row: Row, number: int) -> str:
    rest = cells(row)[1:]
    numbers = "".join(f'<td class="num">{html.escape(text)}</td>' for text in rest[:NUMBERS])
    texts = "".join(f'<td class="long"><bdi>{html.escape(text)}</bdi></td>' for text in rest[NUMBERS:])
    return f'<td><a href="#s{number}"><bdi>{html.escape(_name(row.student))}</bdi></a></td>{numbers}{texts}'


def _card(row: Row, number: int, file: str, places: dict[str, int]) -> str:
    name = html.escape(_name(row.student))
    head = f'<article id="s{number}"><h2><bdi>{name}</bdi></h2>'
    if row.error:
        return f'{head}<p class="err">{html.escape(row.error)}</p></article>'
    facts = [f"checks {row.checks_passed} of {row.checks_total}", plural(row.runs, "run"), dollars(row.cost)]
    facts += [plural(row.hints, "hint")] if row.hints else []
    facts += [f"{row.held_back} held back"] if row.held_back else []
    facts += [f"{plural(row.hand_edits, 'edit')} by hand"] if row.hand_edits else []
    facts += [f"{plural(row.chain_breaks, 'break')} in the log"] if row.chain_breaks else []
    links = [
        f'<a href="#s{places[other]}"><bdi>{html.escape(_name(other))}</bdi></a>'
        for other in row.same_page_as[:_MOST_LINKS]
    ]
    same = f'<p class="err">Same page as {", ".join(links)}</p>' if links else ""
    if not file:
        return f'{head}<p class="mut">{", ".join(facts)}. No page.</p>{same}</article>'
    address, label = html.escape(file), f"Pages of {name}"
    frame = f'<iframe loading="lazy" title="{label}" sandbox="{SANDBOX}" src="{address}"></iframe>'
    more = f'<a href="{address}" target="_blank" rel="noopener" aria-label="Open: {label}">Open</a>'
    return f'{head}<p class="mut">{", ".join(facts)}. {more}</p>{same}{frame}</article>'


@cache
def _source(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
