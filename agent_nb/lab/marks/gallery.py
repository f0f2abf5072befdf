"""The overview of a class: the table, and the pages of all students side by side.

It has no script. The page of a student is a file of its own, as closed as the preview, in a sandboxed frame.
"""

import html
from collections.abc import Sequence
from pathlib import Path

from agent_nb._base.text import printable_line
from agent_nb.lab.marks.row import Row
from agent_nb.lab.marks.table import COLUMNS, NUMBERS, cells
from agent_nb.render.policy import SANDBOX
from agent_nb.render.summary import dollars, plural

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-src file: http: https:"
_MOST_LINKS = 20


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
    style = Path(__file__).with_name("overview.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Marks</title><style>{style}</style></head>\n"
        f"<body><h1>{plural(len(rows), 'submission')}</h1>"
        '<p class="mut">A student can make up everything here, and two '
        "students may get the same page by chance: it is a reason to look, and no proof of misconduct.</p>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{table}</tbody></table></div>\n<main>{cards}</main></body></html>\n"
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
