"""The sections a page may have: opening hours, prices, contact and so on, as HTML."""

from collections.abc import Callable

from agent_nb.providers.demo.brief import Brief
from agent_nb.providers.demo.compose import Html, fill, joined, spoken

TITLES = {
    "hours": "Opening hours",
    "menu": "On the counter",
    "pricing": "Prices",
    "gallery": "Gallery",
    "faq": "Questions, answered",
    "testimonials": "Kind words",
    "newsletter": "Stay in the loop",
    "contact": "Contact",
    "team": "The people",
    "about": "About",
}


def section(name: str, brief: Brief) -> Html:
    """One section, complete with its heading; its id is its name."""
    return fill(
        '<section id="{{id}}">\n<h2>{{title}}</h2>\n{{body}}\n</section>',
        id=name,
        title=TITLES[name],
        body=_BODIES[name](brief),
    )


def _rows(rows: list[list[str]]) -> Html:
    row = "<tr><td>{{a}}</td><td>{{b}}</td></tr>"
    return fill("<table>\n{{rows}}\n</table>", rows=joined(fill(row, a=a, b=b) for a, b in rows))


def _hours(brief: Brief) -> Html:
    return _rows(brief.trade.hours)


def _menu(brief: Brief) -> Html:
    return _rows(brief.trade.menu)


def _contact(brief: Brief) -> Html:
    where = f"in the middle of {brief.place}" if brief.place else "round the corner"
    return fill(
        '<p>You find {{name}} {{where}}. Write to <a href="mailto:hello@example.com">hello@example.com</a>'
        " or just come by.</p>",
        name=brief.name,
        where=where,
    )


_BODIES: dict[str, Callable[[Brief], Html]] = {"hours": _hours, "menu": _menu, "contact": _contact}


def cards(points: list[list[str]], brief: Brief) -> Html:
    card = "<li><h3>{{title}}</h3><p>{{text}}</p></li>"
    return joined(fill(card, title=spoken(title, brief), text=spoken(text, brief)) for title, text in points)
