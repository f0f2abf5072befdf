"""What each kind of page puts into its template, beside what all kinds share."""

import json
import random
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
_INGREDIENT = (
    '<li><label><input type="checkbox"><span>{{name}}</span><b data-amount="{{amount}}">{{amount}}</b> {{unit}}'
    "</label></li>"
)
_WORKS = ("First light", "The long wall", "Tide, falling", "Noon", "Two rooms", "After rain")
_SHAPES = (
    '<circle cx="{x}" cy="{y}" r="{r}" fill="{a}"/><path d="M0 {low}c90-{r} 170 {r} 300-20v300H0z" fill="{b}"/>',
    '<path d="M{x} {low}V{y}a{r} {r} 0 0 1 {d} 0v{low}z" fill="{a}"/><path d="M0 {low}h300v300H0z" fill="{b}"/>',
    '<path d="M0 {low}L{x} {y}l{d} {r}L300 {y}v400H0z" fill="{a}"/><circle cx="228" cy="66" r="30" fill="{b}"/>',
    '<g fill="{a}"><path d="M{x} 0h{r}v400h-{r}z"/></g><circle cx="{x}" cy="{low}" r="{r}" fill="{b}"/>',
    '<g fill="none" stroke="{a}" stroke-width="16"><circle cx="150" cy="{low}" r="{r}"/><circle cx="150" cy="{low}" '
    'r="{d}"/></g><circle cx="150" cy="{low}" r="26" fill="{b}"/>',
    '<path d="M40 {low}a{r} {r} 0 0 1 {d} 0z" fill="{a}"/><path d="M{x} {low}a{r} {r} 0 0 0 {d} 0z" fill="{b}"/>',
)  # fmt: skip
_INKS = ("var(--accent)", "var(--glow)", "var(--deep)", "var(--tint)", "var(--sky)")
_FIGURE = (
    '<figure><svg viewBox="0 0 300 {{height}}" preserveAspectRatio="xMidYMid slice" role="img" '
    'aria-label="{{title}}, an abstract composition"><path fill="{{ground}}" d="M0 0h300v420H0z"/>{{shape}}</svg>'
    "<figcaption><i>{{title}}</i> · sample {{number}}</figcaption></figure>"
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
    return _scene(brief, layout, sections, offer)


def event(brief: Brief, layout: Layout, sections: Sequence[str]) -> Slots:
    """A landing page with the programme along a line, and tickets to tear off."""
    trade = brief.trade
    stop = "<li><time>{{time}}</time><div><h3>{{title}}</h3><p>{{text}}</p></div></li>"
    ticket = "<li><span>{{title}}</span><b>{{price}}</b></li>"
    stops = zip(trade.hours, trade.points, strict=True)
    offer = fill(
        template("event.html").strip(),
        title=trade.offer,
        prices=trade.tickets,
        stops=joined(fill(stop, time=at, title=title, text=text) for (_, at), (title, text) in stops),
        tickets=joined(fill(ticket, title=title, price=price) for title, price in trade.menu),
    )
    return _scene(brief, layout, sections, offer)


def _scene(brief: Brief, layout: Layout, sections: Sequence[str], offer: Html) -> Slots:
    names = ((name, TITLES[name].split()[-1].capitalize()) for name in sections[-2:])
    links = (("offer", brief.trade.link), *names)
    return {
        **_opening(brief, sections),
        "links": joined((fill('<a href="#{{id}}">{{title}}</a>', id=i, title=t) for i, t in links), ""),
        "action": brief.trade.action,
        "target": "offer" if sections[0] == "contact" else sections[0],
        "art": art(brief.trade.art, "xMidYMid slice" if layout.name == "arch" else "xMidYMax meet"),
        "offer": offer,
    }


def portfolio(brief: Brief, layout: Layout, sections: Sequence[str]) -> Slots:
    """A short introduction and a wall of works, each a composition drawn for this prompt."""
    return {**_opening(brief, sections), "works": joined(_works(brief))}


def _opening(brief: Brief, sections: Sequence[str]) -> Slots:
    return {
        "eyebrow": spoken(brief.trade.eyebrow, brief),
        "headline": emphasised(spoken(brief.choice(brief.trade.headline), brief)),
        "lede": spoken(brief.choice(brief.trade.lede), brief),
        "sections": joined(section(name, brief) for name in sections),
    }


def _works(brief: Brief) -> list[Html]:
    """Six compositions, in an order and with proportions of their own for every prompt and variant."""
    chance = random.Random(brief.seed + brief.variant)
    shapes = chance.sample(_SHAPES, len(_SHAPES))
    works = []
    for number, (title, shape) in enumerate(zip(_WORKS, shapes, strict=True), start=1):
        ground, one, two = chance.sample(_INKS, 3)
        r = chance.randrange(50, 84)
        places = {"x": chance.randrange(70, 170), "y": chance.randrange(70, 130), "r": r, "d": r * 2}
        drawn = Html(shape.format(a=one, b=two, low=chance.randrange(200, 250), **places))
        height = str(chance.choice((240, 300, 360, 400)))
        works.append(
            fill(_FIGURE, height=height, title=title, ground=ground, shape=drawn, number=str(number))
        )
    return works


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


def recipe(brief: Brief, layout: Layout, sections: Sequence[str]) -> Slots:
    """Ingredients that scale with the servings and can be ticked off, and numbered steps."""
    dish = entry_for("recipes", brief.prompt)
    return {
        "lede": brief.choice(dish["lede"]),
        "art": art(dish["art"]),
        "minutes": str(dish["minutes"]),
        "serves": str(dish["serves"]),
        "effort": dish["effort"],
        "ingredients": joined(fill(_INGREDIENT, name=n, amount=a, unit=u) for n, a, u in dish["ingredients"]),
        "steps": joined(fill("<li><p>{{step}}</p></li>", step=step) for step in dish["steps"]),
        "tip": dish["tip"],
    }


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
