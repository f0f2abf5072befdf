"""Events: the programme along a line, tickets to tear off, and the sections that were asked for."""

from agent_nb.demo.brief import Brief
from agent_nb.demo.compose import Html, fill, joined, layouts
from agent_nb.demo.landing import Parts, scene
from agent_nb.demo.look import Look
from agent_nb.demo.texts import template

_STOP = "<li><time>{{time}}</time><div><h3>{{title}}</h3><p>{{text}}</p></div></li>"
_TICKET = "<li><span>{{title}}</span><b>{{price}}</b></li>"


def event_sections(brief: Brief) -> list[str]:
    """The sections asked for that the programme and the tickets do not cover; contact is always last."""
    covered = ("contact", "hours", "pricing", "menu")
    return [*(name for name in brief.wants if name not in covered), "contact"]


def event(brief: Brief, look: Look, found: str) -> Html:
    trade = brief.trade
    stops = zip(trade.hours, trade.points, strict=True)
    offer = fill(
        template("event.html").strip(),
        title=trade.offer,
        prices=trade.tickets,
        stops=joined(fill(_STOP, time=at, title=title, text=text) for (_, at), (title, text) in stops),
        tickets=joined(fill(_TICKET, title=title, price=price) for title, price in trade.menu),
    )
    return scene(brief, look, found, Parts(layouts("landing")[2 - look.layout], offer, event_sections(brief)))
