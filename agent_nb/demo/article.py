"""Articles: an essay about the subject, or a short manual if the prompt asks for documentation."""

import re

from agent_nb.demo.brief import Brief
from agent_nb.demo.compose import Html, art, fill, head, note
from agent_nb.demo.look import FONTS, Look
from agent_nb.demo.texts import template

_MANUAL = re.compile(r"\b(?:documentation|docs|manual|tutorial|how-to|readme|reference|api)\b", re.I)
_LAYOUTS = (
    "",
    "article>:is(.eyebrow,h1,.lede,.byline){text-align:center;margin-inline:auto}",
    "article>figure{margin-inline:calc(50% - min(50vw,480px))}article h2{color:var(--accent)}",
)
_HONEST = (
    "About this text: the offline demo model knows nothing about {{subject}}. It wrote around your words so that you "
    "can see how a page is made; a real model would have something to say."
)


def article(brief: Brief, look: Look, found: str) -> Html:
    manual = bool(_MANUAL.search(brief.prompt[:300]))
    subject = (
        f"the question of {brief.subject}"
        if re.match(r"(?:why|how|what|when)\b", brief.subject)
        else brief.phrase
    )
    text = fill(template("manual.html" if manual else "essay.html").strip(), subject=subject)
    lede = (
        "A short manual, from the first step to the first question."
        if manual
        else "A short introduction, for a free afternoon."
    )
    return fill(
        template("article.html"),
        head=head(brief.name, look),
        head_font=Html(FONTS[look.font]),
        layout=Html(_LAYOUTS[look.layout]),
        eyebrow="Manual" if manual else "Essay",
        name=brief.name,
        lede=lede,
        minutes=str(max(2, len(text.split()) // 200)),
        found=note(found),
        art=Html("") if manual else _banner(brief),
        text=text,
        honest=fill(_HONEST, subject=subject),
    )


def _banner(brief: Brief) -> Html:
    drawing = art(brief.trade.art).replace("<svg ", '<svg preserveAspectRatio="xMidYMid slice" ', 1)
    return Html(f"<figure>{drawing}</figure>")
