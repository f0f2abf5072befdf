"""What each kind of page puts into its template, beside what all kinds share."""

import json
import re
from collections.abc import Sequence

from agent_nb.demo.brief import Brief, app_of, game_of
from agent_nb.demo.compose import Html, Layout, art, emphasised, fill, joined, spoken
from agent_nb.demo.sections import TITLES, section
from agent_nb.demo.texts import entry_for, table, template

Slots = dict[str, str]

_MANUAL = re.compile(r"\b(?:documentation|docs|manual|tutorial|how-to|readme|reference|api)\b", re.I)
_HONEST = (
    "About this text: the offline demo model knows nothing about {{subject}}. It wrote around your words so that you "
    "can see how a page is made; a real model would have something to say."
)
_CONTROLS = {
    "area": '<textarea {{shared}} rows="3"></textarea>',
    "email": '<input {{shared}} type="email" required autocomplete="email">',
    "message": '<textarea {{shared}} rows="5" required></textarea>',
    "number": '<input {{shared}} type="number" min="1" max="8" value="2" required>',
    "select": '<select {{shared}} required><option value="">Choose one</option>{{options}}</select>',
    "text": '<input {{shared}} type="text" required autocomplete="name">',
}


def landing(brief: Brief, layout: Layout, sections: Sequence[str]) -> Slots:
    """A headline, a drawing, three points, and the sections that were asked for."""
    card = "<li><h3>{{title}}</h3><p>{{text}}</p></li>"
    points = ([spoken(text, brief) for text in point] for point in brief.trade.points)
    offer = fill(
        template("offer.html").strip(),
        title=brief.trade.offer,
        list="cards" if layout.name == "evening" else "plain",
        points=joined(fill(card, title=title, text=text) for title, text in points),
    )
    names = ((name, TITLES[name].split()[-1].capitalize()) for name in sections[-2:])
    links = (("offer", brief.trade.link), *names)
    return {
        "eyebrow": spoken(brief.trade.eyebrow, brief),
        "headline": emphasised(spoken(brief.choice(brief.trade.headline), brief)),
        "lede": spoken(brief.choice(brief.trade.lede), brief),
        "sections": joined(section(name, brief) for name in sections),
        "links": joined((fill('<a href="#{{id}}">{{title}}</a>', id=i, title=t) for i, t in links), ""),
        "action": brief.trade.action,
        "target": "offer" if sections[0] == "contact" else sections[0],
        "art": art(brief.trade.art, "xMidYMid slice" if layout.name == "arch" else "xMidYMax meet"),
        "offer": offer,
    }


def article(brief: Brief, layout: Layout, sections: Sequence[str]) -> Slots:
    """An essay about the subject, or a short manual if the prompt asks for documentation."""
    copy = {name: brief.choice(lines) for name, lines in table("copy")["article"].items()}
    asks = re.match(r"(?:why|how|what|when)\b", brief.subject)
    subject = f"the question of {brief.subject}" if asks else brief.phrase
    if manual := bool(_MANUAL.search(brief.prompt[:300])):
        copy["lede"], banner = table("copy")["manual"]["lede"][0], ""
    else:
        banner = f'<figure class="banner">{art(brief.trade.art, "xMidYMax meet")}</figure>'
    opening = fill(copy["opening"], subject=subject)
    source = template("manual.html" if manual else "essay.html").strip()
    text = fill(source, subject=subject, opening=opening, quote=copy["quote"])
    return {
        "eyebrow": "Manual" if manual else "Essay",
        "lede": copy["lede"],
        "minutes": str(max(2, len(text.split()) // 200)),
        "art": Html(banner),
        "text": text,
        "honest": fill(_HONEST, subject=subject),
    }


def form(brief: Brief, layout: Layout, sections: Sequence[str]) -> Slots:
    """A few fields, validated in the page and sent nowhere."""
    purpose = entry_for("forms", brief.prompt)
    return {
        "eyebrow": spoken("{{Subject}}", brief),
        "lede": brief.choice(purpose["lede"]),
        "art": art(brief.trade.art, "xMidYMax meet"),
        "fields": joined(_field(field, f"f{i}") for i, field in enumerate(purpose["fields"], start=1)),
        "action": purpose["action"],
    }


def _field(field: list[str], key: str) -> Html:
    label, kind, extra = field
    slots: Slots = {"key": key, "label": label, "hint": Html("")}
    slots["error"] = Html(f'<p class="error" id="{key}-error" role="alert"></p>')
    if kind == "radio":
        option = '<label><input type="radio" name="{{name}}" value="{{o}}" required>{{o}}</label>'
        slots["options"] = joined(fill(option, name=label, o=o) for o in extra.split("|"))
        frame = (
            '<fieldset class="field"><legend>{{label}}</legend>'
            '<div class="options">\n{{options}}\n</div>{{error}}</fieldset>'
        )
        return fill(frame, **slots)
    if kind == "tick":
        box = '<input type="checkbox" name="Small print" value="Read" required>'
        return fill(
            f'<div class="field"><label class="tick">{box}{{{{label}}}}</label>{{{{error}}}}</div>', **slots
        )
    if kind == "select":
        slots["options"] = joined((fill("<option>{{o}}</option>", o=o) for o in extra.split("|")), "")
    elif extra:
        slots["hint"] = fill(' <span class="hint">{{hint}}</span>', hint=extra)
    slots["shared"] = fill('id="{{key}}" name="{{label}}" aria-describedby="{{key}}-error"', **slots)
    usual = f'<input {{{{shared}}}} type="{kind}" required>'
    frame = '<div class="field"><label for="{{key}}">{{label}}{{hint}}</label>{{control}}{{error}}</div>'
    return fill(frame, control=fill(_CONTROLS.get(kind, usual), **slots), **slots)


def play(brief: Brief, layout: Layout, sections: Sequence[str]) -> Slots:
    """Something to do in the middle: snake, memory, noughts and crosses; a to-do list, a timer, a calculator."""
    name = game_of(brief.prompt) if brief.kind == "game" else app_of(brief.prompt)
    css, board, script = template(f"{brief.kind}s/{name}.html").split("-----\n")
    faces = json.dumps(entry_for("faces", brief.prompt)["faces"], ensure_ascii=False)
    return {
        "css": Html(css.strip()),
        "lede": brief.choice(table("copy")[name]["lede"]),
        "board": Html(board.strip()),
        "footer": table("copy")[brief.kind]["footer"][0],
        "script": fill(script.strip(), faces=Html(faces)),
    }
