"""Landing pages."""

from agent_nb.providers.demo.brief import Brief
from agent_nb.providers.demo.compose import Html, art, base_css, fill, joined, spoken
from agent_nb.providers.demo.trades import template
from agent_nb.providers.demo.look import FONTS, Look
from agent_nb.providers.demo.sections import TITLES, cards, section

_LAYOUTS = (
    ".hero{display:grid;gap:clamp(28px,5vw,64px);align-items:center}\n"
    "@media(min-width:760px){.hero{grid-template-columns:1.05fr 1fr}}",
    ".hero{text-align:center}.hero .lede{margin-inline:auto}.hero figure{margin-top:28px}"
    ".hero svg{aspect-ratio:21/9;object-fit:cover}\n",
    "@media(min-width:760px){.hero{display:grid;gap:56px;align-items:end;grid-template-columns:1fr 1.2fr}"
    ".hero figure{order:-1}}",
)


def landing(brief: Brief, look: Look) -> Html:
    trade = brief.trade
    wanted = [name for name in brief.wants if name in TITLES] or ["hours"]
    if "contact" not in wanted:
        wanted.append("contact")
    links = [
        ("offer", "Offer"),
        *((name, TITLES[name].split(",")[0].split()[-1].capitalize()) for name in wanted[:3]),
    ]
    return fill(
        template("landing.html"),
        base=base_css(look),
        layout=Html(_LAYOUTS[look.layout]),
        head_font=Html(FONTS[look.font]),
        name=brief.name,
        in_place=f" in {brief.place}" if brief.place and brief.place not in brief.name else "",
        links=joined((fill('<a href="#{{id}}">{{title}}</a>', id=i, title=t) for i, t in links), ""),
        eyebrow=spoken(trade.eyebrow, brief),
        headline=spoken(trade.headline, brief),
        lede=spoken(trade.lede, brief),
        action=trade.action,
        target=wanted[0],
        art=art(trade.art),
        caption=trade.caption,
        offer=trade.offer,
        points=cards(trade.points, brief),
        sections=joined(section(name, brief) for name in wanted),
    )
