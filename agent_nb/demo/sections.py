"""The sections of a page as HTML: opening hours, prices, contact and so on."""

from collections.abc import Sequence

from agent_nb.demo.brief import Brief
from agent_nb.demo.compose import Html, art, fill, joined
from agent_nb.demo.texts import table

TITLES: dict[str, str] = {name: entry["title"] for name, entry in table("sections").items()}
_PANELS = ("0 0 320 240", "320 0 320 240", "0 240 320 240", "320 240 320 240")


def section(name: str, brief: Brief) -> Html:
    """A section with its heading. The id of the element is the name of the section."""
    drawing = art(brief.trade.art)
    address = "<p>{{name}} is {{where}}.</p>\n" if brief.where else ""
    body = fill(
        table("sections")[name]["body"].strip(),
        name=brief.name,
        hours=_rows(brief.trade.hours),
        menu=_rows(brief.trade.menu),
        panels=joined(f"<figure>{drawing.replace('0 0 640 480', panel, 1)}</figure>" for panel in _PANELS),
        address=fill(address, name=brief.name, where=brief.where),
    )
    return fill(
        '<section class="row" id="{{id}}">\n<h2>{{title}}</h2>\n<div>\n{{body}}\n</div>\n</section>',
        id=name,
        title=TITLES[name],
        body=body,
    )


def _rows(rows: Sequence[Sequence[str]]) -> Html:
    row = "<tr><td>{{a}}</td><td>{{b}}</td></tr>"
    return fill("<table>\n{{rows}}\n</table>", rows=joined(fill(row, a=a, b=b) for a, b in rows))
