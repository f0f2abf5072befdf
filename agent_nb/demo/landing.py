"""Landing pages: a headline, an image, three points, and the sections that were asked for."""

from agent_nb.demo.brief import Brief
from agent_nb.demo.compose import Html, art, fill, head, joined, note, spoken
from agent_nb.demo.look import FONTS, Look
from agent_nb.demo.sections import TITLES, cards, section
from agent_nb.demo.texts import template

_LAYOUTS = (
    ".hero{display:grid;gap:clamp(28px,5vw,64px);align-items:center}\n"
    "@media(min-width:760px){.hero{grid-template-columns:1.05fr 1fr}}",
    ".hero{text-align:center}.hero .lede{margin-inline:auto}.hero figure{max-width:840px;margin:32px auto 0}\n"
    "@media(min-width:760px){.hero svg{height:460px}}",
    ".hero{display:grid;gap:28px}.hero figure{order:-1}\n"
    "@media(min-width:760px){.hero{gap:64px;align-items:center;grid-template-columns:1fr 1fr}}\n"
    ".band{background:none}.cards>*{border-width:3px 0 0;border-color:var(--accent);border-radius:0;"
    "background:none;padding:18px 0}",
)


def landing_sections(brief: Brief) -> list[str]:
    """The sections asked for, or opening hours if none were; contact is always last."""
    return [*([name for name in brief.wants if name != "contact"] or ["hours"]), "contact"]


def landing(brief: Brief, look: Look, found: str) -> Html:
    trade = brief.trade
    wanted = landing_sections(brief)
    links = [("offer", "Offer"), *((name, TITLES[name].split()[-1].capitalize()) for name in wanted[-2:])]
    drawing = art(trade.art)
    if look.layout == 1:
        drawing = Html(drawing.replace("<svg ", '<svg preserveAspectRatio="xMidYMid slice" ', 1))
    return fill(
        template("landing.html"),
        head=head(brief.name, look),
        layout=Html(_LAYOUTS[look.layout]),
        head_font=Html(FONTS[look.font]),
        name=brief.name,
        links=joined((fill('<a href="#{{id}}">{{title}}</a>', id=i, title=t) for i, t in links), ""),
        eyebrow=spoken(trade.eyebrow, brief),
        headline=spoken(trade.headline, brief),
        lede=spoken(trade.lede, brief),
        found=note(found),
        action=trade.action,
        target="contact" if trade.key in ("general", "software", "portfolio", "travel") else wanted[0],
        art=drawing,
        caption=trade.caption,
        offer=trade.offer,
        points=cards(trade.points, brief),
        sections=joined(section(name, brief) for name in wanted),
    )
