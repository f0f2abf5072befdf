"""Builds the page for a brief, by kind, and the improvement that follows it."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_nb._base.text import listed
from agent_nb.demo.brief import Brief, PageKind, app_of, game_of
from agent_nb.demo.compose import (
    TITLES,
    Html,
    Layout,
    PageStyle,
    art,
    emphasised,
    fill,
    head,
    head_font,
    join_html,
    layouts,
    note,
    section,
    shared_styles,
    spoken,
)
from agent_nb.demo.dashboard import dashboard, insight
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
    card = "<li><h3>{{title}}</h3><p>{{text}}</p></li>"
    points = ([spoken(text, brief) for text in point] for point in brief.trade.points)
    offer = fill(
        template("offer.html").strip(),
        title=brief.trade.offer,
        list="cards" if layout.name == "evening" else "plain",
        points=join_html(fill(card, title=title, text=text) for title, text in points),
    )
    names = ((name, TITLES[name].split()[-1].capitalize()) for name in sections[-2:])
    links = (("offer", brief.trade.link), *names)
    return {
        "eyebrow": spoken(brief.trade.eyebrow, brief),
        "headline": emphasised(spoken(brief.choice(brief.trade.headline), brief)),
        "lede": spoken(brief.choice(brief.trade.lede), brief),
        "sections": join_html(section(name, brief) for name in sections),
        "links": join_html((fill('<a href="#{{id}}">{{title}}</a>', id=i, title=t) for i, t in links), ""),
        "action": brief.trade.action,
        "target": "offer" if sections[0] == "contact" else sections[0],
        "art": art(brief.trade.art, "xMidYMid slice" if layout.name == "arch" else "xMidYMax meet"),
        "offer": offer,
    }


def article(brief: Brief, layout: Layout, sections: Sequence[str]) -> Slots:
    """An essay about the subject, or a short manual if the prompt asks for documentation."""
    copy = {name: brief.choice(lines) for name, lines in table("copy")["article"].items()}
    is_question = re.match(r"(?:why|how|what|when)\b", brief.subject)
    subject = f"the question of {brief.subject}" if is_question else brief.phrase
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
    purpose = entry_for("forms", brief.prompt)
    return {
        "eyebrow": spoken("{{Subject}}", brief),
        "lede": brief.choice(purpose["lede"]),
        "art": art(brief.trade.art, "xMidYMax meet"),
        "fields": join_html(_field(field, f"f{i}") for i, field in enumerate(purpose["fields"], start=1)),
        "action": purpose["action"],
    }


def _field(field: list[str], key: str) -> Html:
    label, kind, extra = field
    slots: Slots = {"key": key, "label": label, "hint": Html("")}
    slots["error"] = Html(f'<p class="error" id="{key}-error" role="alert"></p>')
    if kind == "radio":
        option = '<label><input type="radio" name="{{name}}" value="{{o}}" required>{{o}}</label>'
        slots["options"] = join_html(fill(option, name=label, o=o) for o in extra.split("|"))
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
        slots["options"] = join_html((fill("<option>{{o}}</option>", o=o) for o in extra.split("|")), "")
    elif extra:
        slots["hint"] = fill(' <span class="hint">{{hint}}</span>', hint=extra)
    slots["shared"] = fill('id="{{key}}" name="{{label}}" aria-describedby="{{key}}-error"', **slots)
    default_control = f'<input {{{{shared}}}} type="{kind}" required>'
    frame = '<div class="field"><label for="{{key}}">{{label}}{{hint}}</label>{{control}}{{error}}</div>'
    return fill(frame, control=fill(_CONTROLS.get(kind, default_control), **slots), **slots)


def play(brief: Brief, layout: Layout, sections: Sequence[str]) -> Slots:
    """A game (snake, memory, noughts and crosses) or an app (to-do list, timer, calculator)."""
    name = game_of(brief.prompt) if brief.kind == "game" else app_of(brief.prompt)
    faces = json.dumps(entry_for("faces", brief.prompt)["faces"], ensure_ascii=False)
    return _scripted(f"{brief.kind}s/{name}.html", brief, name, faces=Html(faces))


def bound(brief: Brief, layout: Layout, sections: Sequence[str]) -> Slots:
    """A page for bound names: rows to label, a form per function, a field per name to fill."""
    spec = json.dumps(brief.bound.spec(brief.prompt), ensure_ascii=False).replace("<", "\\u003c")
    return _scripted("bound.html", brief, "bound", spec=Html(spec))


def _scripted(file: str, brief: Brief, name: str, **values: Html) -> Slots:
    css, board, script = template(file).split("-----\n")
    return {
        "css": Html(css.strip()),
        "lede": brief.choice(table("copy")[name]["lede"]),
        "board": Html(board.strip()),
        "footer": table("copy")[brief.kind]["footer"][0],
        "script": fill(script.strip(), **values),
    }


@dataclass(frozen=True, slots=True)
class _Builder:
    file: str
    """Name of its template and of its layouts."""
    slots: Callable[[Brief, Layout, Sequence[str]], Slots]
    title: str
    notice: str = ""
    """Line that the improvement adds; empty to use the trade's own."""


_BUILDERS: dict[PageKind, _Builder] = {
    "landing": _Builder("landing", landing, "a landing page"),
    "dashboard": _Builder("dashboard", dashboard, "a dashboard with charts"),
    "form": _Builder(
        "form", form, "a form that checks itself", "One minute, no account, nothing to remember."
    ),
    "article": _Builder("article", article, "an article", "In a hurry? Read the first line of each part."),
    "game": _Builder("play", play, "a game to play", "Keys or fingers, both work."),
    "app": _Builder("play", play, "a small app that works", "Try it: everything on this page works."),
    "bound": _Builder(
        "play", bound, "a page connected to the notebook", "What you do here is in Python at once."
    ),
}


def build_page(brief: Brief, look: PageStyle, tool_result: str = "") -> str:
    """A complete page. `tool_result` is a line to show from a tool."""
    builder = _BUILDERS[brief.kind]
    layout = layouts(builder.file)[look.layout]
    shared = {
        "head": head(brief.name, look),
        "head_font": head_font(look),
        "early": layout.early,
        "later": layout.later,
        "rest": shared_styles(look),
        "name": brief.name,
        "found": note(tool_result),
    }
    return fill(template(f"{builder.file}.html"), **shared, **builder.slots(brief, layout, _sections(brief)))


def improvement(brief: Brief) -> tuple[str, str]:
    """The text to replace and its replacement, which adds a prominent line at the top."""
    notice = insight(brief) if brief.kind == "dashboard" else _BUILDERS[brief.kind].notice
    return "<main>", fill('<main>\n<p class="notice">{{notice}}</p>', notice=notice or brief.trade.notice)


def describe(brief: Brief) -> str:
    title, parts = _BUILDERS[brief.kind].title, [TITLES[name].lower() for name in _sections(brief)]
    if len(parts) < 2:
        return ", ".join([title, *parts])
    return f"{title}{',' if ' with ' in title else ' with'} {listed(parts)}"


def _sections(brief: Brief) -> list[str]:
    if brief.kind != "landing":
        return []
    names = [name for name in brief.wants if name != "contact"]
    return [*(names or brief.trade.usual), "contact"]
