"""Articles: an essay about the subject, or a short manual if the prompt asks for documentation."""

import re

from agent_nb.demo.brief import Brief
from agent_nb.demo.compose import Html, art, fill, head, layouts, note, rest
from agent_nb.demo.look import Look
from agent_nb.demo.texts import template

_MANUAL = re.compile(r"\b(?:documentation|docs|manual|tutorial|how-to|readme|reference|api)\b", re.I)
_LEDES = (
    "A short introduction, for a free afternoon.",
    "Notes for the first week, and a reason for a second one.",
    "Where to begin, what to leave for later, and when to stop.",
)
_OPENINGS = (
    "Most texts about {{subject}} begin with the history. This one begins with a free afternoon: what to look at "
    "first, what to leave for later, and how to tell whether you are getting anywhere.",
    "You do not need a plan for {{subject}}. You need an hour, a table and the nerve to begin with the wrong end. "
    "What follows is a way to make the second hour better than the first.",
    "There are two ways into {{subject}}: to read everything, or to try something. This text is about the second way, "
    "which is slower on the first day and faster on all the others.",
)
_QUOTES = (
    "A finished small thing teaches more than a perfect plan.",
    "Precise questions get generous answers.",
    "Stop while it is still interesting.",
)
_HONEST = (
    "About this text: the offline demo model knows nothing about {{subject}}. It wrote around your words so that you "
    "can see how a page is made; a real model would have something to say."
)


def article(brief: Brief, look: Look, found: str) -> Html:
    manual = bool(_MANUAL.search(brief.prompt[:300]))
    text = _text(brief, manual=manual)
    layout = layouts("article")[look.layout]
    return fill(
        template("article.html"),
        head=head(brief.name, look),
        layout=layout.early,
        eyebrow="Manual" if manual else "Essay",
        name=brief.name,
        lede="A short manual, from the first step to the first question." if manual else brief.choice(_LEDES),
        minutes=str(max(2, len(text.split()) // 200)),
        found=note(found),
        art=Html("") if manual else _banner(brief),
        rest=rest(look),
        later=layout.later,
        text=text,
        honest=fill(_HONEST, subject=_subject(brief)),
    )


def _subject(brief: Brief) -> str:
    asks = re.match(r"(?:why|how|what|when)\b", brief.subject)
    return f"the question of {brief.subject}" if asks else brief.phrase


def _text(brief: Brief, *, manual: bool) -> Html:
    subject = _subject(brief)
    if manual:
        return fill(template("manual.html").strip(), subject=subject)
    opening = fill(brief.choice(_OPENINGS), subject=subject)
    return fill(template("essay.html").strip(), subject=subject, opening=opening, quote=brief.choice(_QUOTES))


def _banner(brief: Brief) -> Html:
    return Html(f'<figure class="banner">{art(brief.trade.art, "xMidYMax meet")}</figure>')
