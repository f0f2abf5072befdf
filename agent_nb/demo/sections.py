"""The sections of a page as HTML: opening hours, prices, contact and so on."""

from collections.abc import Callable, Sequence

from agent_nb.demo.brief import Brief
from agent_nb.demo.compose import Html, art, fill, joined, spoken

TITLES = {
    "hours": "Opening hours",
    "menu": "Price list",
    "pricing": "Prices",
    "gallery": "Gallery",
    "faq": "Questions",
    "testimonials": "Kind words",
    "newsletter": "Newsletter",
    "contact": "Contact",
    "team": "People",
    "about": "About",
}


def section(name: str, brief: Brief) -> Html:
    """A section with its heading. The id of the element is the name of the section."""
    return fill(
        '<section class="row" id="{{id}}">\n<h2>{{title}}</h2>\n<div>\n{{body}}\n</div>\n</section>',
        id=name,
        title=TITLES[name],
        body=_BODIES[name](brief),
    )


def cards(points: Sequence[Sequence[str]], brief: Brief) -> Html:
    card = "<li><h3>{{title}}</h3><p>{{text}}</p></li>"
    return joined(fill(card, title=spoken(title, brief), text=spoken(text, brief)) for title, text in points)


def _rows(rows: Sequence[Sequence[str]]) -> Html:
    row = "<tr><td>{{a}}</td><td>{{b}}</td></tr>"
    return fill("<table>\n{{rows}}\n</table>", rows=joined(fill(row, a=a, b=b) for a, b in rows))


def _hours(brief: Brief) -> Html:
    return _rows(brief.trade.hours)


def _menu(brief: Brief) -> Html:
    return _rows(brief.trade.menu)


def _gallery(brief: Brief) -> Html:
    crops = ("0 0 320 240", "320 0 320 240", "0 240 320 240", "320 240 320 240")
    figures = (f"<figure>{art(brief.trade.art).replace('0 0 640 480', crop, 1)}</figure>" for crop in crops)
    caption = "One drawing in four panels: put your photographs here."
    return Html(f'<div class="gallery">\n{joined(figures)}\n</div>\n<p class="small">{caption}</p>')


def _faq(brief: Brief) -> Html:
    pairs = (
        ("Do I need to book?", "No. Come by, and if it is busy we will find you a place."),
        (
            f"Is {brief.name} open on holidays?",
            "On most of them, with shorter hours. Write first to be sure.",
        ),
        ("Can I bring children?", "Please do. They ask the best questions."),
    )
    item = "<details><summary>{{question}}</summary><p>{{answer}}</p></details>"
    return joined(fill(item, question=question, answer=answer) for question, answer in pairs)


def _testimonials(brief: Brief) -> Html:
    quotes = (
        ("I came for five minutes and stayed for an hour.", "A first visit"),
        (f"{brief.name} remembers what you asked last time.", "A regular"),
    )
    card = "<figure><p>“{{quote}}”</p><figcaption>{{who}}</figcaption></figure>"
    body = joined(fill(card, quote=quote, who=who) for quote, who in quotes)
    return Html(
        f'<div class="cards">\n{body}\n</div>\n<p class="small">Sample quotes: put real ones in their place.</p>'
    )


def _newsletter(brief: Brief) -> Html:
    return fill(
        "<p>One letter a month from {{name}}, short enough to read while the kettle boils.</p>\n"
        '<form class="inline" onsubmit="event.preventDefault();this.replaceChildren(\'Thank you. (Nothing was sent:'
        " this is a sample.)')\">"
        '<input type="email" required aria-label="E-mail address" placeholder="you@example.com">'
        '<button class="button">Subscribe</button></form>',
        name=brief.name,
    )


def _contact(brief: Brief) -> Html:
    place = (
        fill("<p>{{name}} is {{where}}.</p>\n", name=brief.name, where=brief.where)
        if brief.where
        else Html("")
    )
    return Html(
        f'{place}<p>Write to <a href="mailto:hello@example.com">hello@example.com</a> or call 000 000 00.</p>\n'
        '<p class="small">A sample address and number: put yours in their place.</p>'
    )


def _team(brief: Brief) -> Html:
    people = (
        ("Ada", "Opens in the morning, knows where everything is."),
        ("Jun", "Makes things, mends the rest."),
    )
    return Html(f'<ul class="cards">\n{cards(people, brief)}\n</ul>')


def _about(brief: Brief) -> Html:
    return fill(
        "<p>{{name}} began with a simple wish: to do one thing, and to do it with care. Still small, still curious, "
        "still here when you come back.</p>\n"
        '<p class="small">A sample story: put your own in its place.</p>',
        name=brief.name,
    )


_BODIES: dict[str, Callable[[Brief], Html]] = {
    "hours": _hours,
    "menu": _menu,
    "pricing": _menu,
    "gallery": _gallery,
    "faq": _faq,
    "testimonials": _testimonials,
    "newsletter": _newsletter,
    "contact": _contact,
    "team": _team,
    "about": _about,
}
