"""Landing pages: a headline, a drawing, three points, and the sections that were asked for."""

from dataclasses import dataclass

from agent_nb.demo.brief import Brief
from agent_nb.demo.compose import (
    Html,
    Layout,
    art,
    emphasised,
    fill,
    head,
    head_font,
    joined,
    layouts,
    note,
    rest,
    spoken,
)
from agent_nb.demo.look import Look
from agent_nb.demo.sections import TITLES, cards, section
from agent_nb.demo.texts import template


@dataclass(frozen=True, slots=True)
class Parts:
    """What differs between pages that open with a headline and a drawing."""

    layout: Layout
    offer: Html
    """The part below the drawing, with the id `offer`."""
    sections: list[str]


def landing_sections(brief: Brief) -> list[str]:
    """The sections asked for, or opening hours if none were; contact is always last."""
    return [*([name for name in brief.wants if name != "contact"] or ["hours"]), "contact"]


def landing(brief: Brief, look: Look, found: str) -> Html:
    layout = layouts("landing")[look.layout]
    offer = fill(
        template("offer.html").strip(),
        title=brief.trade.offer,
        list="cards" if layout.name == "evening" else "plain",
        points=cards(brief.trade.points, brief),
    )
    return scene(brief, look, found, Parts(layout, offer, landing_sections(brief)))


def scene(brief: Brief, look: Look, found: str, parts: Parts) -> Html:
    trade, sections = brief.trade, parts.sections
    links = [
        ("offer", brief.trade.link),
        *((name, TITLES[name].split()[-1].capitalize()) for name in sections[-2:]),
    ]
    return fill(
        template("landing.html"),
        head=head(brief.name, look),
        head_font=head_font(look),
        layout=parts.layout.early,
        name=brief.name,
        links=joined((fill('<a href="#{{id}}">{{title}}</a>', id=i, title=t) for i, t in links), ""),
        eyebrow=spoken(trade.eyebrow, brief),
        headline=emphasised(spoken(brief.choice(trade.headline), brief)),
        lede=spoken(brief.choice(trade.lede), brief),
        found=note(found),
        action=trade.action,
        target="offer" if sections[0] == "contact" else sections[0],
        art=art(trade.art, "xMidYMid slice" if parts.layout.name == "arch" else "xMidYMax meet"),
        rest=rest(look),
        later=parts.layout.later,
        offer=parts.offer,
        sections=joined(section(name, brief) for name in sections),
    )
